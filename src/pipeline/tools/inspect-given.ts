import { Stopped, type CallFacts } from '#/call/facts.ts';
import type { ToolArguments, ToolCallRequest } from '#/call/tool-call.ts';
import type { CustomTerm, McpServerConfig } from '#/config/snapshot.ts';
import { detectionFor, type Detection } from '#/inspect/detection.ts';
import type { DetectorMarks } from '#/inspect/detector-marks.ts';
import { inspect, type Inspection } from '#/inspect/inspect.ts';
import { slicesFor } from '#/runtime/loop-slices.ts';
import { render, type WireDocument } from '#/wire/document/document.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import { ARGUMENTS, argumentsDocument, argumentsIn } from '#/wire/mcp/leaves.ts';

/** Arguments as they may be sent to a server. */
export interface InspectedArguments {
  readonly inspection: Inspection;
  /** JSON source of an object, and the same parsed. */
  readonly sent: string;
  readonly sentValue: JsonObject;
  readonly facts: CallFacts;
}

/** What arguments are looked through with. */
export interface InspectParts {
  readonly detection: Detection;
  /** Names the detectors that inspected a call. */
  readonly detectors: DetectorMarks;
}

/** A document for a server, as it was inspected. */
interface InspectedDocument {
  readonly inspection: Inspection;
  readonly facts: CallFacts;
}

/**
 * Finds what must not leave in every string, number and name of a document that goes to a server. Throws the refusal in a
 * `Stopped`. `remove`: terms that the client keeps from it.
 */
export async function inspectLeaving(
  document: WireDocument,
  request: Pick<ToolCallRequest, 'key' | 'signal'>,
  remove: readonly CustomTerm[],
  parts: InspectParts,
): Promise<InspectedDocument> {
  const { dlp } = request.key.workload.policy;
  const stated = ({ findings = {}, unscanned = [] }: CallFacts): CallFacts => {
    const removed = remove.map(({ label }) => label);
    return { findings, unscanned, detectors: parts.detectors.of(dlp, unscanned), removed };
  };
  try {
    const slices = slicesFor(document.text, request);
    const detection = detectionFor(request, parts.detection);
    const inspection = await inspect(document, ARGUMENTS, dlp, remove, detection, undefined, [], slices);
    return { inspection, facts: stated(inspection.facts) };
  } catch (thrown) {
    throw thrown instanceof Stopped ? new Stopped(thrown.cause, stated(thrown.facts)) : thrown;
  }
}

/** Inspects arguments as `inspectLeaving` does. */
export async function inspectGiven(
  { source, value }: ToolArguments,
  request: Pick<ToolCallRequest, 'key' | 'remove' | 'signal'>,
  server: McpServerConfig,
  parts: InspectParts,
): Promise<InspectedArguments> {
  const document = argumentsDocument(source, value);
  const { inspection, facts } = await inspectLeaving(document, request, keptFrom(server, request), parts);
  if (inspection.edits.length === 0) return { inspection, sent: source, sentValue: value, facts };
  const sent = argumentsIn(render(document.text, inspection.edits));
  return { inspection, sent, sentValue: JSON.parse(sent) as JsonObject, facts };
}

/** The terms that a client keeps from models and from a server: none from one that policy lets receive originals. */
export function keptFrom(
  { trust }: McpServerConfig,
  { key, remove = [] }: Pick<ToolCallRequest, 'key' | 'remove'>,
): readonly CustomTerm[] {
  return trust === 'internal' && key.workload.policy.dlp.mode === 'allow_log' ? [] : remove;
}
