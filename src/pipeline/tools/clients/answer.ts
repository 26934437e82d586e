import type { CallContext } from '#/call/call.ts';
import type { McpServerConfig } from '#/config/snapshot.ts';
import type { Inspection } from '#/inspect/inspect.ts';
import type { Json } from '#/wire/document/json.ts';
import type { WireDocument } from '#/wire/document/document.ts';
import type { Sent } from './inspect-answers.ts';

/** All that a client said to a server so far: JSON source. */
export interface SaidSoFar {
  /** As the client wrote it; undefined: there are no arguments. */
  readonly arguments: string | undefined;
  readonly answers: readonly string[];
  readonly sent: Sent;
}

/** An answer of a client to what a legacy server asks. */
export interface AnswerStart {
  readonly request: CallContext;
  readonly server: McpServerConfig;
  /** The tool that asks; undefined: the server asks by itself. */
  readonly tool: string | undefined;
  readonly method: string;
  /** Schema of the form that was asked for. */
  readonly form: Json | undefined;
  readonly said: SaidSoFar;
  readonly eras: readonly string[];
  readonly document: WireDocument;
  /** Sends it. `member`: as of `ServerAsk.answer`. */
  readonly send: (member: string) => Promise<void>;
}

/** An answer that was sent. */
export interface AnswerEnd {
  /** Of all that was said to the server. */
  readonly inspection: Inspection;
  /** The answer as the client wrote it: JSON source. */
  readonly written: string;
  readonly sent: Sent;
}

/** Takes an answer through its steps. Rejects with the client's error. */
export type AnswerServer = (start: AnswerStart) => Promise<AnswerEnd>;
