import { Stopped } from '#/call/facts.ts';
import type { CallContext } from '#/call/call.ts';
import type { ToolCallRequest } from '#/call/tool-call.ts';
import type { McpServerConfig, ResolvedPolicy } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { detectionFor, type Detection } from '#/inspect/detection.ts';
import { inspect, type Inspection } from '#/inspect/inspect.ts';
import { Conversation } from '#/inspect/restore/conversation.ts';
import { Restoration } from '#/inspect/restore/restoration.ts';
import { restoreAnswer, restoreLargeAnswer } from '#/inspect/restore/restore-answer.ts';
import type { ToolAnswer } from '#/ports/mcp-servers.ts';
import type { ContentCipher } from '#/seal/content/content-cipher.ts';
import { slicesFor } from '#/runtime/loop-slices.ts';
import { AnswerOutOfBounds } from '#/wire/answer/answer-bounds.ts';
import { locate, removeMembers, render, setMember, type Edit, type WireDocument } from '#/wire/document/document.ts';
import { sayingDocument } from '#/wire/mcp/input.ts';
import { RESULT, textsIn } from '#/wire/mcp/leaves.ts';
import { readAsked, withState } from './clients/input-required.ts';
import type { Sent } from './clients/inspect-answers.ts';

/** A result as the client gets it. */
export interface LookedThrough {
  /** JSON source. */
  readonly text: string;
  /** The same before anything was restored in it; empty where it is not passed on. */
  readonly unrestored: string;
  /** The tool says that it failed, or what it says is not passed on. */
  readonly isError: boolean;
  /** Methods by which it asks its client for more; absent: it does not. */
  readonly asks?: readonly string[];
  /** Category -> number of findings. */
  readonly findings: Readonly<Record<string, number>>;
  /** Kinds of content that were not inspected. */
  readonly unscanned: readonly string[];
  /** Why the result is not passed on. */
  readonly refusal?: GatewayError;
}

interface Came {
  readonly request: ToolCallRequest;
  readonly server: McpServerConfig;
  readonly answer: ToolAnswer;
  readonly inspection: Inspection | undefined;
  /** Answers to the tool's questions as the client wrote them, and all that was sent. JSON source. */
  readonly said: { readonly written: readonly string[]; readonly sent: Sent };
}

interface LookParts {
  readonly detection: Detection;
  readonly cipher: ContentCipher;
}

/**
 * Counts, masks or refuses personal data in what a tool returned, then puts back what its own arguments had tags for. What
 * it returned gets no tags: no later call would know what they stand for.
 */
export async function lookThrough(came: Came, parts: LookParts): Promise<LookedThrough> {
  const { request, server, answer, said } = came;
  const { kind } = answer;
  let { document } = answer;
  const asked = isAsking(answer) ? readAsked(document, request, server) : undefined;
  if (typeof asked === 'string') document = inputNeeded(request, asked);
  else if (asked) ({ document } = asked);
  const looked = await lookAt(document, request, parts);
  const isError = kind === 'error' || document.body['isError'] === true;
  const { findings, unscanned, refusal } = looked;
  if (refusal) return { text: '', unrestored: '', isError: true, findings, unscanned, refusal };
  const edits = [...looked.edits, ...(kind === 'result' ? eraEdits(document, request) : [])];
  const unrestored = render(document.text, edits);
  const { inspection } = came;
  const whole = { arguments: request.arguments?.source, answers: said.written };
  const restored = await restoredInTurns(unrestored, { request, inspection, said: whole });
  if (restored instanceof GatewayError)
    return { text: '', unrestored: '', isError: true, findings, unscanned, refusal: restored };
  if (asked === undefined || typeof asked === 'string')
    return { text: restored, unrestored, isError, findings, unscanned };
  const { written, sent } = said;
  try {
    const text = withState(restored, asked, { request, server, written }, sent, parts.cipher);
    return { text, unrestored, isError, asks: asked.methods, findings, unscanned };
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    return { text: '', unrestored: '', isError: true, findings, unscanned, refusal: thrown };
  }
}

function isAsking({ kind, document }: ToolAnswer): boolean {
  return kind === 'result' && document.body['resultType'] === 'input_required';
}

/** Applies the policy for results to a text of a server. */
export async function lookAt(
  document: WireDocument,
  request: CallContext,
  { detection }: { readonly detection: Detection },
): Promise<{
  readonly edits: readonly Edit[];
  readonly findings: Readonly<Record<string, number>>;
  readonly unscanned: readonly string[];
  readonly refusal?: GatewayError;
}> {
  const { policy } = request.key.workload;
  const dlp: ResolvedPolicy['dlp'] = { ...policy.dlp, mode: policy.toolDlp.results };
  const slices = slicesFor(document.text, request);
  try {
    const looking = inspect(document, RESULT, dlp, [], detectionFor(request, detection), undefined, [], slices);
    const { edits, facts, unscanned } = await looking;
    return { edits, findings: facts.findings ?? {}, unscanned };
  } catch (thrown) {
    const cause = thrown instanceof Stopped ? thrown.cause : thrown;
    const findings = thrown instanceof Stopped ? (thrown.facts.findings ?? {}) : {};
    if (!(cause instanceof GatewayError)) throw cause;
    if (cause.code === 'data_protection') return { edits: [], findings, unscanned: [], refusal: refused(findings) };
    // What it found fault with is the server's, not the client's.
    if (cause.code === 'invalid_request' || cause.code === 'request_too_large')
      return { edits: [], findings, unscanned: [], refusal: unusable(cause) };
    throw cause;
  }
}

function refused(findings: Readonly<Record<string, number>>): GatewayError {
  const kinds = Object.keys(findings).sort();
  const what =
    kinds.length > 0 ? `the result contains ${kinds.join(', ')}` : 'the result has content that cannot be inspected';
  return new GatewayError('data_protection', `Refused by data protection: ${what}. The tool was run.`);
}

/** The failure of a server whose result cannot be read. */
export function unusable(cause: unknown): GatewayError {
  const message = 'The MCP server answered with a result that cannot be inspected.';
  return new GatewayError('upstream_error', message, { report: { cause: 'protocol', attempts: [] } }, { cause });
}

/** What tags are restored by. */
interface Restored {
  readonly request: Pick<CallContext, 'key'>;
  readonly inspection: Inspection | undefined;
  /** The inspected texts, as the client wrote them: JSON source. */
  readonly said: { readonly arguments: string | undefined; readonly answers: readonly string[] };
}

const OF_RESULT = { family: 'mcp', answerLeaves: textsIn } as const;

/** The text with originals in the place of their tags, where they may stand. */
function restoredIn(text: string, came: Restored): string | GatewayError {
  const restoration = restorationOf(came);
  if (!restoration) return text;
  try {
    return restoreAnswer(text, OF_RESULT, restoration, false);
  } catch (thrown) {
    if (thrown instanceof AnswerOutOfBounds) return unusable(thrown);
    throw thrown;
  }
}

/** The same; of a large text in turns with other work. */
export async function restoredInTurns(
  text: string,
  came: Restored & { readonly request: Pick<CallContext, 'key' | 'signal'> },
): Promise<string | GatewayError> {
  const slices = slicesFor(text, came.request);
  const restoration = slices && restorationOf(came);
  if (!slices || !restoration) return restoredIn(text, came);
  try {
    return await slices.run(restoreLargeAnswer(text, OF_RESULT, restoration));
  } catch (thrown) {
    if (thrown instanceof AnswerOutOfBounds) return unusable(thrown);
    throw thrown;
  }
}

/** Undefined: nothing is to be restored. */
function restorationOf({ request: { key }, inspection, said }: Restored): Restoration | undefined {
  if (!inspection || inspection.tags.size === 0) return undefined;
  return new Restoration(
    inspection.tags,
    new Conversation(
      () => sayingDocument(said.arguments, said.answers),
      () => [],
    ),
    key.workload.policy.dlp.restore,
  );
}

/** Puts originals back in a notice; undefined where that would make too much of it. */
export function restoredNotice(text: string, came: Restored): string | undefined {
  const restored = restoredIn(text, came);
  return restored instanceof GatewayError ? undefined : restored;
}

/** Modern results say what kind they are, legacy ones do not. */
export function eraEdits({ root, body }: WireDocument, { era }: Pick<ToolCallRequest, 'era'>): readonly Edit[] {
  const isSaid = body['resultType'] !== undefined;
  if (era.era === 'modern') return isSaid ? [] : [setMember(root, 'resultType', '"complete"')];
  return isSaid ? removeMembers(root, ({ value }) => value === 'resultType') : [];
}

/** A tool that asks for more than its arguments, of a client that cannot be asked. `why`: the rest of the sentence. */
function inputNeeded({ era }: ToolCallRequest, why: string): WireDocument {
  const text = `The tool needs input from its user, which it cannot get: ${why}. Call it with all its arguments.`;
  const result = {
    ...(era.era === 'modern' && { resultType: 'complete' }),
    content: [{ type: 'text', text }],
    isError: true,
  };
  return locate('mcp', JSON.stringify(result), result);
}
