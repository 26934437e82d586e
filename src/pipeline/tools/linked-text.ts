import type { CallContext } from '#/call/call.ts';
import type { McpServerConfig } from '#/config/snapshot.ts';
import type { GatewayError } from '#/errors/gateway-error.ts';
import { slicesFor } from '#/runtime/loop-slices.ts';
import { AnswerOutOfBounds } from '#/wire/answer/answer-bounds.ts';
import { NotAJsonObject, render, type Edit, type WireDocument } from '#/wire/document/document.ts';
import { isLarge } from '#/wire/document/large-text.ts';
import { AmbiguousJson, TooManyValues } from '#/wire/document/scan.ts';
import { finish, type Steps } from '#/wire/document/steps.ts';
import { readLargeResult, readResult } from '#/wire/mcp/leaves.ts';
import { linkEdits } from '#/wire/mcp/resource-links.ts';
import { federatedUri, looksFederated } from '#/wire/mcp/resource-uris.ts';
import { unusable } from './results.ts';

/** A text for a client, of a call whose slices a large one is worked on in. */
export interface Told {
  /** JSON source of a result or an error. */
  readonly text: string;
  readonly request: Pick<CallContext, 'key' | 'signal'>;
  /** What the text says, where that is known: a document of another text is not looked at. */
  readonly known?: WireDocument | undefined;
}

/**
 * A result with the addresses of its resources as clients of `/v1/mcp` read them. Those of a server that offers no resources
 * stay, but for such as name another server. An error where it cannot be read.
 */
export async function linkedText(told: Told, server: McpServerConfig): Promise<string | GatewayError> {
  return mayLink(told.text) ? edited(told, (document) => links(document, server)) : told.text;
}

/** Most results hold no address: they are not parsed again. A name may be written with escapes. */
export function mayLink(text: string): boolean {
  return text.includes('"uri"') || text.includes('\\u');
}

/** The edits that `linkedText` makes. Throws `AnswerOutOfBounds`. */
export function links({ root }: WireDocument, { prefix, offer }: McpServerConfig): Steps<readonly Edit[]> {
  const isRead = offer.has('resources');
  const to = (uri: string): string => (isRead || looksFederated(uri) ? federatedUri(prefix, uri) : uri);
  return linkEdits(root, to);
}

/** The text with edits: it is read once, and a large one in turns with other work. An error where it cannot be read. */
export async function edited(
  { text, request, known }: Told,
  editsOf: (document: WireDocument) => Steps<readonly Edit[]>,
): Promise<string | GatewayError> {
  const steps = function* (): Steps<string> {
    const document = known?.text === text ? known : isLarge(text) ? yield* readLargeResult(text) : readResult(text);
    yield;
    const edits = yield* editsOf(document);
    yield;
    return render(text, edits);
  };
  const slices = slicesFor(text, request);
  try {
    return slices ? await slices.run(steps()) : finish(steps());
  } catch (thrown) {
    if (UNUSABLE.some((kind) => thrown instanceof kind)) return unusable(thrown);
    throw thrown;
  }
}

const UNUSABLE = [AnswerOutOfBounds, TooManyValues, AmbiguousJson, NotAJsonObject] as const;
