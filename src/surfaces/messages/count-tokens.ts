import type { VirtualKeyConfig } from '#/config/snapshot.ts';
import { requestFault } from '#/pipeline/admit.ts';
import type { CallContext } from '#/call/call.ts';
import { slicesFor, type Slices } from '#/runtime/loop-slices.ts';
import { permittedToolServerSteps } from '#/route/provider-side-tools.ts';
import type { Leaf, Media } from '#/wire/hub/codec.ts';
import { readDocument, render, setMember, type WireDocument } from '#/wire/document/document.ts';
import { readLarge } from '#/wire/document/large-json.ts';
import { messagesCodec } from '#/wire/messages/codec.ts';
import { member, type JsonNode } from '#/wire/document/scan.ts';
import { finish, type Steps } from '#/wire/document/steps.ts';
import { textTokens } from './text-tokens.ts';

/** Tokens that a model gets besides the texts: begin of the conversation, roles, ends of turns. */
const TOKENS_A_REQUEST = 3;
const TOKENS_A_MESSAGE = 4;
/** The most the vendor scales an image to. */
const TOKENS_AN_IMAGE = 1600;
/** A document counts by its size, at least as one page. */
const TOKENS_A_PAGE = 2000;
const UNITS_A_PAGE = 65_536;
const LEAVES_A_STEP = 256;

export interface TokenCount {
  readonly input_tokens: number;
}

/**
 * The answer to `POST /v1/messages/count_tokens`: an estimate made here. Nothing is dispatched, kept, metered or sealed.
 * The model's own tokenizer may count otherwise. Throws what a messages request of this text would be refused with,
 * save that it needs no `max_tokens`. // spec 4.1, 4.5.5
 */
export async function countTokens(text: string, caller: Pick<CallContext, 'key' | 'signal'>): Promise<TokenCount> {
  const slices = slicesFor(text, caller);
  const { document, leaves, media } = await read(text, caller.key, slices);
  const { messages } = document.body;
  const said = Array.isArray(messages) ? messages.length : 0;
  const fixed = TOKENS_A_REQUEST + said * TOKENS_A_MESSAGE + media.reduce((sum, one) => sum + mediaTokens(one), 0);
  const texts = promptTexts(document, leaves);
  const prompt = slices ? await slices.run(texts) : finish(texts);
  return { input_tokens: fixed + (await textTokens(prompt, slices)) };
}

/** What a request says, if it is one. A large one is read in slices. */
async function read(
  text: string,
  key: VirtualKeyConfig,
  slices: Slices | undefined,
): Promise<{ document: WireDocument; leaves: readonly Leaf[]; media: readonly Media[] }> {
  const reading = async (written: string): Promise<WireDocument> =>
    slices ? slices.run(readLarge('messages', written)) : readDocument('messages', written);
  try {
    const document = await reading(text);
    // One reading decides what a request is: it is asked about the same request with a ceiling.
    const whole = await reading(render(text, [setMember(document.root, 'max_tokens', '1')]));
    if (slices) await slices.next();
    messagesCodec.ask(whole);
    const servers = permittedToolServerSteps(document, key);
    if (slices) await slices.run(servers);
    else finish(servers);
    if (slices) await slices.next();
    return { document, ...messagesCodec.contents(document) };
  } catch (thrown) {
    throw requestFault(thrown);
  }
}

/** The text that a model reads: tools and the response format as written, and the texts of everything else. */
function* promptTexts({ root, text }: WireDocument, leaves: readonly Leaf[]): Steps<readonly string[]> {
  const texts: string[] = [];
  for (const name of ['tools', 'output_config']) {
    const node = member(root, name);
    if (node) texts.push(text.slice(node.start, node.end));
  }
  const prompt = [member(root, 'system'), member(root, 'messages')].filter((node) => node !== undefined);
  for (const [at, leaf] of leaves.entries()) {
    if (at % LEAVES_A_STEP === LEAVES_A_STEP - 1) yield;
    if (prompt.some((node) => holds(node, leaf.node)) && !isName(text, leaf.node)) texts.push(leaf.text);
  }
  return texts;
}

function holds(outer: JsonNode, inner: JsonNode): boolean {
  return outer.start <= inner.start && inner.end <= outer.end;
}

/** Whether this string is a member's name: structure, which a model reads in a form of its own. */
function isName(text: string, { end }: JsonNode): boolean {
  let at = end;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++;
  return text[at] === ':';
}

function mediaTokens({ kind, source, length }: Media): number {
  if (kind === 'image') return TOKENS_AN_IMAGE;
  return TOKENS_A_PAGE * (source === 'inline' ? Math.max(1, Math.ceil(length / UNITS_A_PAGE)) : 1);
}
