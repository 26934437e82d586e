/** State of a definition. `removed`: it was accepted, and the server lists the tool no longer. */
export type PinState = 'accepted' | 'quarantined' | 'removed';

/** How the definitions of a server are treated. */
export type PinMode = 'record' | 'pin' | 'declared';

/** A server of tools, as one organization knows it. Both are ids (`<namespace>/<name>`). */
export interface PinnedServer {
  readonly organization: string;
  readonly server: string;
}

/** What a server lists besides its tools that is pinned, too. */
export type OtherList = 'prompts' | 'instructions';

/**
 * What pins of another list of a server are kept under, so that each has a first list and versions of its own. No id of a
 * server has a blank.
 */
export function pinnedListOf(server: string, list: OtherList): string {
  return `${server} ${list}`;
}

/** The server and the list that pins are kept under. */
export function readPinnedList(kept: string): { readonly server: string; readonly list: 'tools' | OtherList } {
  const [server = '', list = 'tools'] = kept.split(' ', 2);
  return { server, list: list as OtherList };
}

/** One definition of a tool that a server has listed. */
export interface ToolPin {
  readonly tool: string;
  /** Hexadecimal; of the canonical JSON of the definition without `_meta`. */
  readonly sha256: string;
  readonly state: PinState;
  /** Milliseconds since the epoch: when it was accepted or quarantined. */
  readonly since: number;
  /** Who accepted or quarantined it: a person's name, or `gateway:` and a reason. */
  readonly by: string;
}

/** The definitions that a server has listed. */
export interface ServerPins {
  readonly mode: PinMode;
  /** Grows with every change, from 1. */
  readonly version: number;
  readonly pins: readonly ToolPin[];
}

/** A pin, with the text of the definition where it is new. */
export interface PutPin extends ToolPin {
  /** Canonical JSON; absent: as it is kept, or too long to keep. */
  readonly definition?: string;
}

/** Changes to the pins of one server. No hash of a tool is in both lists. */
export interface PinChange extends PinnedServer {
  readonly mode: PinMode;
  /** The version that the change was decided on; 0: nothing was known of the server. */
  readonly version: number;
  readonly put: readonly PutPin[];
  readonly drop: readonly Pick<ToolPin, 'tool' | 'sha256'>[];
}

/** A server in figures. */
export interface PinnedServerCount extends PinnedServer, Readonly<Record<PinState, number>> {
  readonly mode: PinMode;
}

/** A pin and its definition as canonical JSON; absent: it was too long to keep. */
export interface KeptDefinition extends ToolPin {
  readonly definition?: string;
}

/** Which definitions of tools are accepted, known to every gateway as soon as it is written. */
export interface ToolPins {
  /** The pins of a server; undefined: it is unknown; `unchanged`: its version is still the one that is `known`. */
  read(of: PinnedServer, known?: number): Promise<ServerPins | 'unchanged' | undefined>;
  /** Writes all of it, or nothing: false where the version is another one, since another writer was first. */
  change(change: PinChange): Promise<boolean>;
  /** All servers, by organization and name. */
  servers(): Promise<readonly PinnedServerCount[]>;
  /** The definitions of one tool. */
  definitions(of: PinnedServer, tool: string): Promise<readonly KeptDefinition[]>;
}
