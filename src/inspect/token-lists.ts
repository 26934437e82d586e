import type { ResolvedPolicy } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import type { Contents, Leaf } from '#/wire/hub/codec.ts';
import { setString, type Edit } from '#/wire/document/document.ts';

/** Vocabularies whose tokens can be read here. */
type Encoding = 'cl100k_base' | 'o200k_base' | 'o200k_harmony' | 'p50k_base' | 'p50k_edit' | 'r50k_base';

interface Vocabulary {
  readonly decode: (tokens: readonly number[]) => string;
}

/** Loaded when first needed: each takes a fifth of a second and tens of megabytes. */
const VOCABULARIES: Readonly<Record<Encoding, () => Promise<Vocabulary>>> = {
  cl100k_base: () => import('gpt-tokenizer/encoding/cl100k_base'),
  o200k_base: () => import('gpt-tokenizer/encoding/o200k_base'),
  o200k_harmony: () => import('gpt-tokenizer/encoding/o200k_harmony'),
  p50k_base: () => import('gpt-tokenizer/encoding/p50k_base'),
  p50k_edit: () => import('gpt-tokenizer/encoding/p50k_edit'),
  r50k_base: () => import('gpt-tokenizer/encoding/r50k_base'),
};

/** Read between two turns of the event loop: some milliseconds. */
const TURN_TOKENS = 4096;
/** A character has at most four bytes, which may be a token each. */
const MOST_PARTS = 4;
/** The date that a model's name may end with. */
const DATE = /-(?:\d{4}-\d{2}-\d{2}|\d{4})$/;
/** What nobody can read, as `x-gw-unscanned` and rows name it. */
const TOKENS = 'tokens';

/** The leaves of a request with the texts that its token lists spell, and what nobody could read. */
export interface TokensRead {
  readonly contents: Contents;
  /** Of its leaves, those that are token lists. */
  readonly texts: readonly Leaf[];
  readonly missed: readonly string[];
}

/**
 * Reads lists of tokens as the texts they spell in the vocabulary of the model that is asked. Throws `invalid_request` for
 * numbers that are no tokens of it, and `data_protection` where the vocabulary is not known and something is protected.
 */
export async function readTokens(
  contents: Contents,
  models: readonly string[],
  policy: Pick<ResolvedPolicy['dlp'], 'mode'>,
  removes: boolean,
): Promise<TokensRead> {
  const encoding = await encodingOf(models);
  if (encoding === undefined) {
    if (policy.mode !== 'allow_log' || removes) throw unreadable();
    return { contents, texts: [], missed: [TOKENS] };
  }
  const { decode } = await VOCABULARIES[encoding]();
  const leaves: Leaf[] = [];
  const texts: Leaf[] = [];
  let at = 0;
  for (const { node, tokens, leaves: before } of contents.tokens ?? []) {
    const text: Leaf = { node, text: await spelled(tokens, decode), kind: 'text' };
    for (; at < before; at += 1) leaves.push(contents.leaves[at]!);
    leaves.push(text);
    texts.push(text);
  }
  for (; at < contents.leaves.length; at += 1) leaves.push(contents.leaves[at]!);
  return { contents: { ...contents, leaves }, texts, missed: [] };
}

/** Providers take texts or token lists, but not both: where one list is rewritten, the others travel as texts, too. */
export function asTexts(lists: readonly Leaf[], written: readonly Edit[]): readonly Edit[] {
  const starts = new Set(written.map(({ start }) => start));
  if (!lists.some(({ node }) => starts.has(node.start))) return [];
  return lists.filter(({ node }) => !starts.has(node.start)).map(({ node, text }) => setString(node, text));
}

/** The vocabulary that all these models share, as their names tell. */
async function encodingOf(models: readonly string[]): Promise<Encoding | undefined> {
  const { modelToEncodingMap } = await import('gpt-tokenizer/mapping');
  const known: Readonly<Record<string, string>> = modelToEncodingMap;
  const found = new Set(
    models.map((model) => {
      const name = model.slice(model.lastIndexOf('/') + 1);
      return [name, name.replace(DATE, '')].find((one) => Object.hasOwn(known, one)) ?? '';
    }),
  );
  const encodings = new Set([...found].map((name) => (Object.hasOwn(known, name) ? known[name] : undefined)));
  const [only] = encodings;
  return encodings.size === 1 && only !== undefined && Object.hasOwn(VOCABULARIES, only)
    ? (only as Encoding)
    : undefined;
}

async function spelled(tokens: readonly number[], decode: Vocabulary['decode']): Promise<string> {
  let text = '';
  for (let at = 0; at < tokens.length;) {
    const end = at + TURN_TOKENS;
    let piece = decoded(tokens.slice(at, end), decode);
    let parts = 0;
    // The last character goes on in the tokens that follow.
    while (piece.endsWith('\ufffd') && parts < MOST_PARTS && end + parts < tokens.length) {
      parts += 1;
      piece = decoded(tokens.slice(at, end + parts), decode);
    }
    text += piece;
    at = end + parts;
    if (at < tokens.length) await new Promise((resolve) => setImmediate(resolve));
  }
  return text;
}

function decoded(tokens: readonly number[], decode: Vocabulary['decode']): string {
  try {
    return decode(tokens);
  } catch (cause) {
    const message = 'A list of tokens has a number that is not a token of this model. Send the text instead.';
    throw new GatewayError('invalid_request', message, {}, { cause });
  }
}

function unreadable(): GatewayError {
  return new GatewayError(
    'data_protection',
    'Refused by data protection: the gateway cannot decode the tokens of this model. Send text instead of tokens ' +
      '(LangChain: check_embedding_ctx_length=False). Nothing was sent.',
  );
}
