/** One document of configuration and where it came from. */
export interface SourceDocument {
  /** Path relative to the folder, or another name of the source. */
  readonly file: string;
  /** Position of the document in its file, from 0. */
  readonly index: number;
  /** The document as parsed, not yet checked. */
  readonly value: unknown;
}

/** Which kind of fault it is, for those that are no fault of the object alone. */
type FaultReason = 'TargetNotFound' | 'SecretNotFound' | 'Conflicted' | 'RefNotPermitted' | 'NamespaceNotPermitted';

/** Something wrong with the configuration. Never holds the value found: it may be a secret in the wrong place. */
export interface Fault {
  readonly file: string;
  /** `Kind namespace/name`, or `document 2` of a document that does not say what it is; empty for a whole file. */
  readonly object: string;
  /** `spec.limits.requestsPerMinute`, or `line 3` in text that is not YAML; empty for a whole object. */
  readonly field: string;
  /** Reads on from the field: `must be at most 600`. */
  readonly message: string;
  readonly reason?: FaultReason;
}

/** What a fault can be about: a resource, or any other document. */
export interface FaultyObject {
  readonly file: string;
  readonly object: string;
  /** Position among all sources; faults are listed in it. */
  readonly order: number;
}

/** Collects the faults of one compilation, so that all of them are reported and not only the first. */
export interface FaultLog {
  add(where: FaultyObject, field: string, message: string, reason?: FaultReason): void;
  /** All faults, in the order of their objects. */
  list(): readonly Fault[];
}

/** An empty log. */
export function createFaultLog(): FaultLog {
  const entries: { readonly order: number; readonly fault: Fault }[] = [];
  return {
    add({ file, object, order }, field, message, reason) {
      entries.push({ order, fault: Object.freeze({ file, object, field, message, ...(reason && { reason }) }) });
    },
    list: () => entries.toSorted((a, b) => a.order - b.order).map((entry) => entry.fault),
  };
}
