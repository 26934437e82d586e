import type { ResolvedPolicy } from '#/config/snapshot.ts';
import { Stopped, type CallFacts } from '#/call/facts.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { ModelFault, type LocalModels, type TypedState } from '#/ports/local-models.ts';
import { withoutKept } from '#/wire/systemone/questions.ts';
import { judgedText, type UserText } from '../user-text.ts';

/** How a call is guarded. */
export interface ScopeDeps {
  /** Absent: there are no local models. */
  readonly models: Pick<LocalModels, 'judge'> | undefined;
  readonly signal: AbortSignal;
}

/** What the guard made of a call: `inside: 0.93`, `outside: 0.08`, `no verdict: busy`. */
interface Guarded {
  readonly facts: Pick<CallFacts, 'scope'>;
}

/** Less likely than this to be within the purpose is outside of it. */
const INSIDE = 0.5;
/** Why there can be no verdict, however often it is asked for. */
const NOTHING_SAID = 'the request has no text';
const NOBODY = 'absent';
/** A call that would not be refused does not wait as long. */
const PATIENCE_MS = { block: 11_000, monitor: 3000 } as const;
/** The model reads the first 384 words of a state: these are the beginning and the end of what is said. // spec 4.4.4 */
const MOST_WORDS = { head: 260, tail: 100 } as const;
/** Of text with long words or none, so many characters of each, taken apart (NFD): the model reads a piece of each at most. */
const MOST_CHARACTERS = { head: 2600, tail: 1000 } as const;

/** A purpose has at most 1,000 characters, of at most three pieces each: an eighth of it is always read whole. */
const MOST_PARTS = 8;

/**
 * Asks the local typed model whether what a call says belongs to the stated purpose of its workload. Mode `block` throws
 * `scope_violation` where it does not, and `scope_guard_unavailable` where nobody can tell: without words, or without an
 * answer, each in a `Stopped` with the verdict. Mode `monitor` only states it. // spec 2.8, 7.1
 */
export async function guardScope(
  { scopeGuard }: Pick<ResolvedPolicy, 'scopeGuard'>,
  userText: UserText,
  deps: ScopeDeps,
): Promise<Guarded> {
  const { mode, scope: stated = '' } = scopeGuard;
  if (mode === 'off') return { facts: {} };
  const inside = await judge(judgedText(userText), stated, mode, deps);
  if (typeof inside === 'string') {
    const facts = { scope: `no verdict: ${inside}` };
    if (mode === 'block') throw new Stopped(noVerdict(inside !== NOTHING_SAID && inside !== NOBODY), facts);
    return { facts };
  }
  const isInside = inside >= INSIDE;
  const facts = { scope: `${isInside ? 'inside' : 'outside'}: ${inside.toFixed(2)}` };
  if (isInside || mode === 'monitor') return { facts };
  const message = `Refused by the scope guard: this workload is for ${purpose(stated)}.`;
  throw new Stopped(new GatewayError('scope_violation', message), facts);
}

/** Refuses, in mode `block`, what has no words to be judged by: a document that is still to be read. */
export function refuseUnguarded({ scopeGuard }: Pick<ResolvedPolicy, 'scopeGuard'>): void {
  if (scopeGuard.mode === 'block') throw noVerdict(false);
}

/** How likely it is that a text belongs to a purpose, 0 to 1; in words, why nobody can tell. */
async function judge(
  text: string,
  scope: string,
  mode: keyof typeof PATIENCE_MS,
  { models, signal }: ScopeDeps,
): Promise<number | string> {
  const shown = shownOf(text);
  if (shown === '') return NOTHING_SAID;
  if (!models) return NOBODY;
  const late = AbortSignal.timeout(PATIENCE_MS[mode]);
  try {
    return await insideOf({ request: shown }, scope, models, AbortSignal.any([signal, late]));
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    if (late.aborted) return 'late';
    if (thrown instanceof ModelFault) return thrown.kind;
    throw thrown;
  }
}

/** The beginning and the end of a text. */
function shownOf(text: string): string {
  const joined = fewWords(text).join(' ');
  const { head, tail } = MOST_CHARACTERS;
  // Taken apart, no text gets shorter: what is between is not shown.
  const shown = joined.length > 4 * (head + tail) ? joined.slice(0, 2 * head) + joined.slice(-2 * tail) : joined;
  const apart = shown.normalize('NFD');
  if (apart.length <= head + tail) return shown;
  return `${apart.slice(0, head)} … ${apart.slice(-tail)}`.normalize('NFC').toWellFormed();
}

/** The words of a text; of one with many, its first and its last ones, without looking for all that are between. */
function fewWords(text: string): readonly string[] {
  const { head, tail } = MOST_WORDS;
  const words: string[] = [];
  for (const [word] of text.matchAll(/\S+/g)) {
    if (words.push(word) <= head + tail) continue;
    return [...words.slice(0, head), '…', ...lastWords(text, tail)];
  }
  return words;
}

function lastWords(text: string, count: number): readonly string[] {
  const words: string[] = [];
  let end = text.length;
  for (let at = text.length - 1; words.length < count && at >= -1; at--) {
    if (at >= 0 && !/\s/.test(text.charAt(at))) continue;
    if (end > at + 1) words.unshift(text.slice(at + 1, end));
    end = at;
  }
  return words;
}

/** A purpose that is longer than the model reads as one is judged in parts, of which any may be meant. Rejects with `ModelFault`. */
async function insideOf(
  state: TypedState,
  scope: string,
  models: Pick<LocalModels, 'judge'>,
  signal: AbortSignal,
): Promise<number> {
  for (let parts = 1; ; parts *= 2) {
    const questions = partsOf(withoutKept(scope), parts).map((part) => ({
      type: 'noul' as const,
      instructions: `The request is about this: ${part}`,
      options: [{ name: 'true' }, { name: 'false' }],
    }));
    try {
      const { answers } = await models.judge(state, questions, signal);
      return Math.max(...answers.map(({ probabilities }) => probabilities[0]!));
    } catch (thrown) {
      if (!(thrown instanceof ModelFault) || thrown.kind !== 'too_long' || parts >= MOST_PARTS) throw thrown;
    }
  }
}

/** A text in so many parts of about the same length, cut between words where there are any. */
function partsOf(text: string, count: number): readonly string[] {
  const parts: string[] = [];
  let rest = text;
  for (let left = count; left > 1; left -= 1) {
    const size = Math.ceil(rest.length / left);
    const space = rest.lastIndexOf(' ', size);
    const at = space > 0 ? space : rest.isWellFormed() && !rest.slice(0, size).isWellFormed() ? size - 1 : size;
    parts.push(rest.slice(0, at));
    rest = rest.slice(at).trimStart();
  }
  return [...parts, rest].filter((part, at) => at === 0 || part !== '');
}

/** `shouldRetry`: whether there may be a verdict another time. */
function noVerdict(shouldRetry: boolean): GatewayError {
  const message = 'The scope guard could not judge the request. Nothing was sent.';
  return new GatewayError('scope_guard_unavailable', message, { shouldRetry });
}

function purpose(scope: string): string {
  const plain = scope.trim().replace(/\.$/, '');
  return plain.length <= 300 ? plain : `${plain.slice(0, 299)}…`;
}
