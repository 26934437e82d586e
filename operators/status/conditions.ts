import type { Fault } from '#/config/fault.ts';

/** A condition as Kubernetes has them. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
  readonly lastTransitionTime: string;
}

/** State of a resource. */
export interface Verdict {
  readonly generation: number;
  /** Of the resource as it is now. */
  readonly faults: readonly Pick<Fault, 'field' | 'message' | 'reason'>[];
  /** Every gateway that lives serves by this generation. */
  readonly programmed: boolean;
  /** The store cannot be written. */
  readonly publishFailed: boolean;
  /** The resource as it is now is not published, but as it once was. */
  readonly earlierInForce: boolean;
}

const MOST_MESSAGE = 2048;
const REFERENCES: ReadonlySet<string | undefined> = new Set(['TargetNotFound', 'SecretNotFound']);

/**
 * The three conditions, always all of them. `before`: those the resource has; a condition whose status stays keeps its
 * time.
 */
export function conditionsOf(verdict: Verdict, before: readonly Condition[], now: Date): readonly Condition[] {
  const dangling = verdict.faults.filter(({ reason }) => REFERENCES.has(reason));
  const wrong = verdict.faults.filter(({ reason }) => !REFERENCES.has(reason));
  const found = [
    summed('Accepted', wrong, wrong[0]?.reason ?? 'Invalid'),
    summed('ResolvedRefs', dangling, dangling[0]?.reason ?? 'ResolvedRefs'),
    programmed(verdict),
  ];
  return found.map((one) => {
    const old = before.find(({ type }) => type === one.type);
    const lastTransitionTime = old?.status === one.status ? old.lastTransitionTime : now.toISOString();
    return { ...one, observedGeneration: verdict.generation, lastTransitionTime };
  });
}

type Finding = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

function summed(type: string, faults: Verdict['faults'], reason: string): Finding {
  if (faults.length === 0) return { type, status: 'True', reason: type, message: '' };
  const text = faults.map(({ field, message }) => (field === '' ? message : `${field} ${message}`)).join('; ');
  return { type, status: 'False', reason, message: text.slice(0, MOST_MESSAGE) };
}

function programmed({ faults, programmed: done, publishFailed, earlierInForce }: Verdict): Finding {
  const type = 'Programmed';
  if (done) return { type, status: 'True', reason: type, message: '' };
  if (publishFailed)
    return {
      type,
      status: 'False',
      reason: 'PublishFailed',
      message: 'the store of published configuration cannot be written',
    };
  const message =
    faults.length === 0
      ? 'not every gateway uses it yet'
      : earlierInForce
        ? 'gateways use an earlier generation'
        : 'no gateway uses it';
  return { type, status: 'False', reason: 'Pending', message };
}
