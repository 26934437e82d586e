import type { ResolvedPolicy } from '#config/snapshot.ts';
import { GatewayError } from '#errors/gateway-error.ts';
import { ModelFault, type LocalModels } from '#ports/local-models.ts';
import { withoutKept } from '#wire/systemone/questions.ts';

/** What the guard made of a call, for its audit row: `inside: 0.93`, `outside: 0.08`, `no verdict: busy`. */
export type ScopeVerdict = string;

/** How a call is guarded. */
export interface ScopeDeps {
  /** Absent: there are no local models. */
  readonly models: Pick<LocalModels, 'decide'> | undefined;
  readonly signal: AbortSignal;
  readonly onVerdict: (verdict: ScopeVerdict) => void;
}

/** Less likely than this to be within the purpose is outside of it. */
const INSIDE = 0.5;
/** A call that would not be refused does not wait as long. */
const PATIENCE_MS = { block: 11_000, monitor: 3000 } as const;
/** The model reads the first 384 words of a state: these are the beginning and the end of what is said. // spec 4.4.4 */
const MOST_WORDS = { head: 260, tail: 100 } as const;

/**
 * Asks the local typed model whether what a call says belongs to the stated purpose of its workload. Mode `block` throws
 * `scope_violation` where it does not, and `scope_guard_unavailable` where nobody can tell: without words, or without an
 * answer. Mode `monitor` only writes it down. // spec 2.8, 7.1
 */
export async function guardScope(
  { scopeGuard }: Pick<ResolvedPolicy, 'scopeGuard'>,
  said: () => string,
  deps: ScopeDeps,
): Promise<void> {
  const { mode, scope = '' } = scopeGuard;
  if (mode === 'off') return;
  const inside = await judge(said(), scope, mode, deps);
  if (typeof inside === 'string') {
    deps.onVerdict(`no verdict: ${inside}`);
    if (mode === 'block') throw noVerdict();
    return;
  }
  const isInside = inside >= INSIDE;
  deps.onVerdict(`${isInside ? 'inside' : 'outside'}: ${inside.toFixed(2)}`);
  if (isInside || mode === 'monitor') return;
  throw new GatewayError('scope_violation', `Refused by the scope guard: this workload is for ${purpose(scope)}.`);
}

/** Refuses, in mode `block`, what has no words to be judged by: a document that is still to be read. */
export function refuseUnguarded({ scopeGuard }: Pick<ResolvedPolicy, 'scopeGuard'>): void {
  if (scopeGuard.mode === 'block') throw noVerdict();
}

/** How likely it is that a text belongs to a purpose, 0 to 1; in words, why nobody can tell. */
async function judge(
  text: string,
  scope: string,
  mode: keyof typeof PATIENCE_MS,
  { models, signal }: ScopeDeps,
): Promise<number | string> {
  const words = text.split(/\s+/).filter(Boolean);
  if (words.length === 0) return 'nothing is said';
  if (!models) return 'unavailable';
  const { head, tail } = MOST_WORDS;
  const shown = words.length <= head + tail ? words : [...words.slice(0, head), '…', ...words.slice(-tail)];
  const question = {
    type: 'noul' as const,
    instructions: `The request is about this: ${withoutKept(scope)}`,
    options: [{ name: 'true' }, { name: 'false' }],
  };
  const late = AbortSignal.timeout(PATIENCE_MS[mode]);
  try {
    const decision = await models.decide({ request: shown.join(' ') }, [question], AbortSignal.any([signal, late]));
    return decision.answers[0]?.probabilities[0] ?? 'unavailable';
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    if (late.aborted) return 'late';
    if (thrown instanceof ModelFault) return thrown.kind;
    throw thrown;
  }
}

function noVerdict(): GatewayError {
  return new GatewayError('scope_guard_unavailable', 'The scope guard reached no verdict; nothing was sent.');
}

function purpose(scope: string): string {
  const plain = scope.trim().replace(/\.$/, '');
  return plain.length <= 300 ? plain : `${plain.slice(0, 299)}…`;
}
