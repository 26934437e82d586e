import type { ToolFacts } from '#/call/facts.ts';
import type { McpRequest, ToolArguments } from '#/call/tool-call.ts';
import { slicesFor } from '#/runtime/loop-slices.ts';
import type { ContentCipher } from '#/seal/content/content-cipher.ts';
import { canonicalJson } from '#/wire/document/canonical-json.ts';
import { canonicalSteps } from '#/wire/document/canonical-steps.ts';

/**
 * What the row says of a call before it is made; `asked`: all that its client says of what it wants. A promise where that is
 * large.
 */
export function toolFacts(
  request: McpRequest,
  asked: ToolArguments | undefined,
  { method, pin }: { readonly method: string; readonly pin: string | undefined },
  cipher: Pick<ContentCipher, 'names'>,
): ToolFacts | Promise<ToolFacts> {
  const facts = (name: string | null): ToolFacts => ({
    arguments: name,
    definition: pin ?? null,
    eras: [request.era.version],
    is_error: false,
    method,
    result_bytes: 0,
    result_findings: {},
    result_mode: request.key.workload.policy.toolDlp.results,
  });
  if (!asked) return facts(null);
  // HMAC under a key of the organization: short arguments could be guessed from a bare hash.
  const named = (text: string): ToolFacts =>
    facts(cipher.names(request.key.workload.organization.id, `tool arguments\n${text}`)[0] ?? null);
  const text = canonical(asked, request);
  return text instanceof Promise ? text.then(named) : named(text);
}

/** Arguments with a number that no canonical form has are taken as they are written. */
function canonical({ source, value }: ToolArguments, request: McpRequest): string | Promise<string> {
  const slices = slicesFor(source, request);
  if (slices) {
    return slices.run(canonicalSteps(value)).catch((thrown: unknown) => {
      if (thrown instanceof RangeError) return source;
      throw thrown;
    });
  }
  try {
    return canonicalJson(value);
  } catch {
    return source;
  }
}
