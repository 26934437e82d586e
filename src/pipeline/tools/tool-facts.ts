import type { ToolFacts } from '#/call/facts.ts';
import type { ToolCallRequest } from '#/call/tool-call.ts';
import { slicesFor } from '#/runtime/loop-slices.ts';
import type { ContentCipher } from '#/seal/content/content-cipher.ts';
import { canonicalJson } from '#/wire/document/canonical-json.ts';
import { canonicalSteps } from '#/wire/document/canonical-steps.ts';

type Arguments = NonNullable<ToolCallRequest['arguments']>;

/** What the row says of a call before it is made. A promise where the arguments are large. */
export function toolFacts(
  request: ToolCallRequest,
  pin: string | undefined,
  cipher: Pick<ContentCipher, 'names'>,
): ToolFacts | Promise<ToolFacts> {
  const { arguments: args, key } = request;
  if (!args) return factsOf(request, pin, null);
  const named = (text: string): ToolFacts => {
    const [name = null] = cipher.names(key.workload.organization.id, `tool arguments\n${text}`);
    return factsOf(request, pin, name);
  };
  const text = canonical(args, request);
  return text instanceof Promise ? text.then(named) : named(text);
}

function factsOf({ era, key, input }: ToolCallRequest, pin: string | undefined, name: string | null): ToolFacts {
  const answers = Object.keys(input?.responses?.value ?? {}).length;
  return {
    ...(answers > 0 && { answers }),
    arguments: name,
    definition: pin ?? null,
    eras: [era.version],
    is_error: false,
    method: 'tools/call',
    result_bytes: 0,
    result_findings: {},
    result_mode: key.workload.policy.toolDlp.results,
  };
}

/** Arguments with a number that no canonical form has are taken as they are written. */
function canonical({ source, value }: Arguments, request: ToolCallRequest): string | Promise<string> {
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
