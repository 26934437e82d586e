import { comparePositions } from '#/config/published/position.ts';
import type { GatewayReport, Position } from '#/config/published/config-store.ts';

/** Since when a state is published. */
interface Held {
  readonly generation: number;
  readonly since: Position;
  /** Every gateway that lived at a time had it. That a new one starts with less does not take it back. */
  readonly everywhere: boolean;
}

/** Which generation of which object gateways serve by, as far as they have told. */
export class Progress {
  readonly #held = new Map<string, Held>();
  readonly #pending = new Set<string>();
  readonly #reportMs: number;
  #gateways: readonly Position[] = [];
  /** From when on no gateway lives that is not heard of: not before a term has begun. */
  #sureAt = Infinity;

  constructor(reportMs: number) {
    this.#reportMs = reportMs;
  }

  /** Objects that not every gateway has yet. */
  get pending(): ReadonlySet<string> {
    return this.#pending;
  }

  get gateways(): number {
    return this.#gateways.length;
  }

  /** A term begins: findings and reports of earlier terms do not count. */
  begin(): void {
    this.#held.clear();
    this.#pending.clear();
    this.#gateways = [];
    this.doubt();
  }

  /** Reports may be lost: live gateways get as long to report again as it takes to count as gone. */
  doubt(): void {
    this.#sureAt = performance.now() + this.#reportMs;
  }

  /**
   * This generation is published at a position, or was before. A generation of -1: the object is not published.
   * `everywhere`: an earlier controller has found so.
   */
  note(name: string, generation: number, at: Position, everywhere = false): void {
    if (this.#held.get(name)?.generation === generation) return;
    this.#held.set(name, { generation, since: at, everywhere });
    if (everywhere) this.#pending.delete(name);
    else this.#pending.add(name);
  }

  forget(name: string): void {
    this.#held.delete(name);
    this.#pending.delete(name);
  }

  /** What gateways report. Gives the objects that all of them have now. */
  hear(gateways: Iterable<GatewayReport>): readonly string[] {
    const heard = [...gateways];
    if (heard.length === 0 && this.#gateways.length > 0) this.doubt();
    this.#gateways = heard;
    const reached: string[] = [];
    for (const name of this.#pending) if (this.#reach(name)) reached.push(name);
    return reached;
  }

  /** Whether this generation was noted last. */
  holds(name: string, generation: number): boolean {
    return this.#held.get(name)?.generation === generation;
  }

  /** Whether every gateway serves by this generation; none does where none is. */
  isEverywhere(name: string, generation: number): boolean {
    const held = this.#held.get(name);
    return held?.generation === generation && held.everywhere;
  }

  /** Whether no gateway uses the object, as far as gateways that may be alive have reported; true without any. */
  isNowhere(name: string): boolean {
    return this.isEverywhere(name, -1);
  }

  #reach(name: string): boolean {
    const held = this.#held.get(name);
    if (!held) return this.#pending.delete(name);
    const canTell = held.generation === -1 ? performance.now() >= this.#sureAt : this.#gateways.length > 0;
    if (!canTell) return false;
    if (!this.#gateways.every((at) => comparePositions(at, held.since) >= 0)) return false;
    this.#held.set(name, { ...held, everywhere: true });
    return this.#pending.delete(name);
  }
}
