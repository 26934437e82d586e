import { newCallId } from '#/call/call-id.ts';
import { Stopped, type ApprovalFacts, type CallFacts, type ToolFacts } from '#/call/facts.ts';
import type { ToolCallRequest } from '#/call/tool-call.ts';
import type { McpServerConfig } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { detectionFor, type Detection } from '#/inspect/detection.ts';
import { inspect } from '#/inspect/inspect.ts';
import type { ListedTool } from '#/ports/mcp-servers.ts';
import type { FoundApproval, MostWaiting, ToolApprovals } from '#/ports/tool-approvals.ts';
import { approversOf, REQUEST_WAITS_MS } from '#/route/tool-approvals.ts';
import { slicesFor } from '#/runtime/loop-slices.ts';
import type { ContentCipher } from '#/seal/content/content-cipher.ts';
import { render } from '#/wire/document/document.ts';
import { sayingDocument } from '#/wire/mcp/input.ts';
import { ARGUMENTS, argumentsDocument, argumentsIn } from '#/wire/mcp/leaves.ts';
import { unlikeCanonical } from '#/wire/mcp/unlike-canonical.ts';

/** A caller that never sends its calls again must leave room for the others of its workload. */
const MOST_WAITING: MostWaiting = { ofWorkload: 100, ofCaller: 20 };
/** More characters of arguments than this no person reviews. */
const MOST_SHOWN = 65_536;
/** What a person sees of a call without arguments. */
const NO_ARGUMENTS = '{}';

/** A call of a tool came to its approval, for log and metrics. */
export interface ApprovalEvent {
  readonly kind: 'tool.approval';
  readonly organization: string;
  readonly workload: string;
  readonly server: string;
  readonly tool: string;
  readonly id: string;
  readonly state: ApprovalFacts['state'];
}

interface Asking {
  readonly request: ToolCallRequest;
  readonly server: McpServerConfig;
  readonly listed: ListedTool;
  readonly tool: ToolFacts;
  /** JSON source of the arguments as they are sent. */
  readonly sent: string | undefined;
  /** What answers the tool's questions, as the client wrote it, and as it is sent. JSON source. */
  readonly answers: { readonly written: readonly string[]; readonly sent: readonly string[] };
}

interface Parts {
  readonly toolApprovals: Pick<ToolApprovals, 'ask' | 'use'>;
  readonly cipher: Pick<ContentCipher, 'names'>;
  readonly detection: Detection;
  readonly onEvent: (event: ApprovalEvent) => void;
}

/** The approval of a call. */
export interface Approved {
  /** Id of the request; undefined: the call needs no approval. */
  readonly approval: string | undefined;
}

/**
 * Asks whether a person has approved this call: the same tool with the same definition and arguments, for the same key and
 * user. Throws `approval_required` where no person has decided, and `approval_denied`.
 */
export async function askApproval(
  asking: Asking,
  parts: Parts,
): Promise<Approved & { readonly tool: ToolFacts; readonly facts?: CallFacts }> {
  const { request, server, listed, tool } = asking;
  const { workload } = request.key;
  if (approversOf(server, listed.name, workload.policy).length === 0) return { approval: undefined, tool };
  const found = await find(asking, parts);
  if (!found) throw tooManyWait();
  const approval = factsOf(found);
  const { id, state } = approval;
  const place = { organization: workload.organization.id, workload: workload.id, server: server.id };
  parts.onEvent({ kind: 'tool.approval', ...place, tool: listed.name, id, state });
  const stated = { ...tool, approval };
  if (state !== 'approved') throw new Stopped(refusalOf(found), { tool: stated });
  return { approval: id, tool: stated, facts: { tool: stated } };
}

/** Uses the approval: of calls that found the same one, one goes on. */
export function useApproval(
  { approval }: Approved,
  { toolApprovals }: Pick<Parts, 'toolApprovals'>,
): object | Promise<object> {
  if (approval === undefined) return {};
  return toolApprovals.use(approval, Date.now()).then(
    (isUsed) => {
      if (isUsed) return {};
      const message =
        'The approval of this call has just been used by another call, or has ended. Send the call again to ask for another one.';
      throw new GatewayError('approval_required', message);
    },
    (cause: unknown) => {
      throw unavailable(cause);
    },
  );
}

async function find(asking: Asking, { toolApprovals, ...parts }: Parts): Promise<FoundApproval | undefined> {
  const { request, server, listed, tool } = asking;
  const { id: key, workload } = request.key;
  const organization = workload.organization.id;
  const shown = await shownArguments(asking, parts.detection);
  if (shown.length > MOST_SHOWN) throw tooLong(shown.length);
  const definition = tool.definition ?? '';
  const { source } = request.arguments ?? { source: '' };
  // An access token whose user is unknown stands for itself.
  const user = request.person ?? request.subject ?? '';
  const bound = [
    [workload.id, key, user, server.id, server.url, listed.name, definition, tool.arguments ?? ''],
    unlikeCanonical(source),
    asking.answers.written,
  ];
  const now = Date.now();
  const asked = {
    id: newCallId(now),
    binding: parts.cipher.names(organization, `approval of a tool call\n${JSON.stringify(bound)}`)[0]!,
    ...{ organization, workload: workload.id, key, person: request.person },
    ...{ server: server.id, tool: listed.name, definition, shown },
    askedAt: now,
    endsAt: now + REQUEST_WAITS_MS,
  };
  return toolApprovals.ask(asked, MOST_WAITING).catch((cause: unknown) => {
    throw unavailable(cause);
  });
}

/**
 * The arguments with tags in the place of personal data, also where policy lets the server have originals; in another round
 * of a call, together with the answers.
 */
async function shownArguments({ request, sent, answers }: Asking, detection: Detection): Promise<string> {
  const { arguments: args, key, remove = [] } = request;
  const isFirst = answers.written.length === 0;
  if (!args && isFirst) return NO_ARGUMENTS;
  const { dlp } = key.workload.policy;
  if (dlp.mode === 'tokenize' || dlp.mode === 'mask')
    return isFirst ? (sent ?? NO_ARGUMENTS) : sayingDocument(sent, answers.sent).text;
  const document =
    args && isFirst ? argumentsDocument(args.source, args.value) : sayingDocument(args?.source, answers.written);
  const slices = slicesFor(document.text, request);
  const tagged = { ...dlp, mode: 'tokenize' as const };
  const looking = inspect(document, ARGUMENTS, tagged, remove, detectionFor(request, detection), undefined, [], slices);
  const { edits } = await looking;
  const shown = render(document.text, edits);
  return isFirst ? argumentsIn(shown) : shown;
}

function factsOf({ id, state, by, decidedAt, isNew, followsExpired }: FoundApproval): ApprovalFacts {
  const stands = state === 'used' ? 'waiting' : state;
  return {
    at: decidedAt === undefined ? null : new Date(decidedAt).toISOString(),
    by: by ?? null,
    id,
    state: isNew ? (followsExpired ? 'expired' : 'asked') : stands,
  };
}

function refusalOf({ id, state, by, reason, endsAt, followsExpired }: FoundApproval): GatewayError {
  const until = new Date(endsAt).toISOString();
  if (state === 'denied') {
    const why = reason === undefined ? '' : `: ${reason}`;
    const message = `${by ?? 'A person'} denied this call${why}. The same call is denied until ${until} (request ${id}).`;
    return new GatewayError('approval_denied', message);
  }
  const before = followsExpired ? 'An earlier request for approval of this call has expired. ' : '';
  const message =
    `${before}A person must approve this call first: gwctl mcp approve ${id} (until ${until}). ` +
    'Then send the same call again, with the same arguments.';
  return new GatewayError('approval_required', message, { approval: { id, endsAt } });
}

function tooManyWait(): GatewayError {
  const message =
    'A person must approve this call, and too many calls wait for approval already: ' +
    `${MOST_WAITING.ofCaller} with this key of this user, or ${MOST_WAITING.ofWorkload} of this workload. ` +
    'Send the call again when some of them are decided.';
  return new GatewayError('approval_required', message);
}

function tooLong(length: number): GatewayError {
  const message =
    `A person must approve this call, and would have to review ${length} characters of arguments: ` +
    `send at most ${MOST_SHOWN}.`;
  return new GatewayError('tool_arguments_denied', message, { param: 'params.arguments' });
}

function unavailable(cause: unknown): GatewayError {
  const message = 'The record of approvals cannot be reached. Nothing was sent to the server.';
  return new GatewayError('approvals_unavailable', message, {}, { cause });
}
