import { sortedJson } from '#/values/sorted-json.ts';
import type { Cluster } from '#/ports/cluster.ts';
import type { Position } from '#/config/published/config-store.ts';
import type { Accepted } from '../resources/accept.ts';
import { conditionsOf, type Condition, type Verdict } from './conditions.ts';
import type { Progress } from './progress.ts';
import type { Spending } from './spending.ts';
import { workloadStatus } from './workload-status.ts';
import type { OwnObject, World } from '../resources/world.ts';
import type { Writer } from '../cluster/writer.ts';

export interface JudgeDeps {
  readonly cluster: Cluster;
  readonly writer: Writer;
  readonly world: World;
  readonly progress: Progress;
  readonly spending: Spending | undefined;
}

/** What verdicts rest on. */
interface Grounds {
  readonly accepted: Accepted;
  readonly publishFailed: boolean;
  /** The publication of earlier controllers could not be read, so the last good versions are unknown. */
  readonly earlierUnread?: boolean;
  /** The current publication; absent before the first one. */
  readonly at?: Position;
  /** The generations it was made of; absent where only gateways have told something new. */
  readonly generations?: ReadonlyMap<string, number>;
}

/** Writes the state of resources to their status. */
export interface Judge {
  /** Sees to status, events and finalizers of these objects. */
  judge(names: Iterable<string>, grounds: Grounds): void;
}

/** Keeps a resource until no gateway serves by it. */
const FINALIZER = 'gatewarden.dev/snapshot';
const SAME_EVENT_MS = 300_000;
const MOST_EVENTS = 10_000;

export function createJudge(deps: JudgeDeps): Judge {
  return new StatusJudge(deps);
}

class StatusJudge implements Judge {
  readonly #deps: JudgeDeps;
  /** When each event was last recorded, milliseconds since the epoch. */
  readonly #events = new Map<string, number>();

  constructor(deps: JudgeDeps) {
    this.#deps = deps;
  }

  judge(names: Iterable<string>, grounds: Grounds): void {
    const { world, progress } = this.#deps;
    for (const name of names) {
      const object = world.objects.get(name);
      if (!object) continue;
      const { generation, deleting } = object;
      // One that has changed since is judged with what that change brings.
      const isCurrent = grounds.generations
        ? grounds.generations.get(name) === generation
        : progress.holds(name, deleting ? -1 : generation);
      if (isCurrent) this.#settle(object, grounds);
    }
  }

  #settle(object: OwnObject, grounds: Grounds): void {
    const { cluster, writer, progress } = this.#deps;
    const { name, ref, resourceVersion, finalizers, deleting } = object;
    const kept = finalizers.includes(FINALIZER);
    if (deleting) {
      if (grounds.at) progress.note(name, -1, grounds.at);
      if (!kept || !progress.isNowhere(name)) return;
      const rest = finalizers.filter((one) => one !== FINALIZER);
      return writer.put(`finalizers ${name}`, () => cluster.setFinalizers(ref, resourceVersion, rest));
    }
    if (!kept) {
      const all = [...finalizers, FINALIZER];
      writer.put(`finalizers ${name}`, () => cluster.setFinalizers(ref, resourceVersion, all));
    }
    this.#report(object, grounds);
  }

  #report(object: OwnObject, grounds: Grounds): void {
    const { cluster, writer, spending } = this.#deps;
    const { name, ref, generation } = object;
    const old = JSON.parse(object.status) as { readonly conditions?: readonly Condition[] };
    const before = old.conditions ?? [];
    const verdict = this.#verdictOf(object, grounds, before);
    // A controller that reported faults of this generation before had read the earlier publication.
    if (grounds.earlierUnread && verdict.faults.length > 0 && isJudged(before, generation)) return;
    const conditions = conditionsOf(verdict, before, new Date());
    const spec = ref.kind === 'Workload' ? grounds.accepted.documents.get(name)?.spec : undefined;
    const more = spec ? workloadStatus(spec, spending?.of(`${ref.namespace}/${ref.name}`)) : {};
    const status = { observedGeneration: generation, conditions, ...more };
    if (sortedJson(status) === sortedJson(old)) return;
    writer.put(`status ${name}`, () => cluster.applyStatus(ref, status));
    for (const condition of conditions) if (condition.type !== 'Programmed') this.#warn(object, condition);
  }

  #verdictOf(object: OwnObject, { accepted, publishFailed, at }: Grounds, before: readonly Condition[]): Verdict {
    const { world, progress } = this.#deps;
    const { name, generation } = object;
    const isKey = object.ref.kind === 'VirtualKey';
    const faults = isKey ? world.keyFaults(object) : (accepted.faults.get(name) ?? []);
    const earlierInForce = accepted.earlier.has(name);
    const inForce = isKey ? faults.length === 0 : accepted.documents.has(name) && !earlierInForce;
    const was = wasProgrammed(before, generation);
    if (inForce && at) progress.note(name, generation, at, was);
    // Gateways go on without the store.
    const programmed = inForce && (progress.isEverywhere(name, generation) || (publishFailed && was));
    return { generation, faults, programmed, publishFailed, earlierInForce };
  }

  /** The same thing about the same object is said once in five minutes. */
  #warn({ name, ref, uid }: OwnObject, { status, reason, message }: Condition): void {
    const { cluster, writer } = this.#deps;
    const events = this.#events;
    const said = `${name} ${reason} ${message}`;
    const now = Date.now();
    if (status === 'True' || now - (events.get(said) ?? -Infinity) < SAME_EVENT_MS) return;
    if (events.size >= MOST_EVENTS) events.clear();
    events.set(said, now);
    const about = { about: ref, ...(uid !== undefined && { uid }) };
    writer.put(`event ${said}`, () => cluster.record({ ...about, type: 'Warning', reason, message }));
  }
}

/** A controller that takes over does not turn every condition over to find again what its predecessor had found. */
function wasProgrammed(conditions: readonly Condition[], generation: number): boolean {
  return conditions.some(
    ({ type, status, observedGeneration }) =>
      type === 'Programmed' && status === 'True' && observedGeneration === generation,
  );
}

function isJudged(conditions: readonly Condition[], generation: number): boolean {
  return conditions.some(({ observedGeneration }) => observedGeneration === generation);
}
