import type { CallContext } from '#/call/call.ts';
import type { ResolvedPolicy } from '#/config/snapshot.ts';
import { Stopped } from '#/call/facts.ts';
import { detectionFor, type Detection } from '#/inspect/detection.ts';
import { inspect } from '#/inspect/inspect.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { slicesFor } from '#/runtime/loop-slices.ts';
import { readDocument, render } from '#/wire/document/document.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import { RESULT } from '#/wire/mcp/leaves.ts';

/**
 * Entries of a list of resources, after the policy for results: lists have names of customers and files, too. Mask masks
 * what they say; an entry that is left out has personal data in its address, which masked would be another one. Block leaves
 * out every entry with a finding.
 */
export async function lookedThrough(
  entries: readonly JsonObject[],
  address: 'uri' | 'uriTemplate',
  request: Pick<CallContext, 'key' | 'signal'>,
  detection: Detection,
): Promise<readonly JsonObject[]> {
  const { policy } = request.key.workload;
  const { results } = policy.toolDlp;
  if (results === 'allow_log' || entries.length === 0) return entries;
  const dlp: ResolvedPolicy['dlp'] = { ...policy.dlp, mode: 'mask' };
  const document = readDocument('mcp', JSON.stringify({ resources: entries }));
  const slices = slicesFor(document.text, request);
  const looking = inspect(document, RESULT, dlp, [], detectionFor(request, detection), undefined, [], slices);
  const { edits } = await looking.catch((thrown: unknown) => {
    const cause = thrown instanceof Stopped ? thrown.cause : thrown;
    throw cause instanceof GatewayError && cause.code === 'invalid_request' ? unreadable(cause) : cause;
  });
  if (edits.length === 0) return entries;
  const { resources: masked } = JSON.parse(render(document.text, edits)) as { resources: readonly JsonObject[] };
  return masked.filter((one, at) => {
    const before = entries[at]!;
    if (results === 'mask') return one[address] === before[address];
    return JSON.stringify(one) === JSON.stringify(before);
  });
}

function unreadable(cause: unknown): GatewayError {
  const message = 'An MCP server has a list of resources that cannot be inspected.';
  return new GatewayError('upstream_error', message, { report: { cause: 'protocol', attempts: [] } }, { cause });
}
