import type { ToolFacts } from '#/call/facts.ts';
import type { ToolArguments, ToolCallRequest } from '#/call/tool-call.ts';
import { slicesFor } from '#/runtime/loop-slices.ts';
import type { ContentCipher } from '#/seal/content/content-cipher.ts';
import { canonicalJson } from '#/wire/document/canonical-json.ts';
import { canonicalSteps } from '#/wire/document/canonical-steps.ts';

/** What the row says of a call before it is made. A promise where the arguments are large. */
export function toolFacts(
  request: ToolCallRequest,
  pin: string | undefined,
  cipher: Pick<ContentCipher, 'names'>,
): ToolFacts | Promise<ToolFacts> {
  const { arguments: args, key } = request;
  if (!args) return factsOf(request, pin, null);
  const { organization } = key.workload;
  const slices = slicesFor(args.source, request);
  if (!slices) return factsOf(request, pin, digestOf(args, organization, cipher));
  const canonical = slices.run(canonicalSteps(args.value)).catch((thrown: unknown) => {
    if (thrown instanceof RangeError) return args.source;
    throw thrown;
  });
  return canonical.then((text) => factsOf(request, pin, nameOf(text, organization, cipher)));
}

/** HMAC of arguments under a key of the organization: short ones could be guessed from a bare hash. */
export function digestOf(
  args: ToolArguments,
  organization: { readonly id: string },
  cipher: Pick<ContentCipher, 'names'>,
): string | null {
  return nameOf(canonical(args), organization, cipher);
}

function nameOf(text: string, { id }: { readonly id: string }, cipher: Pick<ContentCipher, 'names'>): string | null {
  return cipher.names(id, `tool arguments\n${text}`)[0] ?? null;
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
function canonical({ source, value }: ToolArguments): string {
  try {
    return canonicalJson(value);
  } catch {
    return source;
  }
}
