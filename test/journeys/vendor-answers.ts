import type { SeenRequest, SetAnswer } from '../harness/provider-stand-in.ts';

/** What vendors answer where no model talks. Undefined: a model does. */
export function vendorAnswer(_request: SeenRequest): SetAnswer | undefined {
  return undefined;
}
