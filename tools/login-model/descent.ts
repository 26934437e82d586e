import { BUCKETS } from '#/inspect/detectors/login-features.ts';
import { KINDS, type LoginWeights, WIDTH } from '#/inspect/detectors/login-model.ts';
import type { Random } from './random.ts';

/** A word as numbers, and what it is: 0 neither, 1 a login, 2 a password. */
export interface Example {
  readonly buckets: Uint16Array;
  /** Where groups of them end. */
  readonly ends: readonly number[];
  readonly kind: number;
}

const EPOCHS = 4;
const RATE = 0.05;
/** The last layer learns slower. */
const RATE_LAST = 0.3;
/** The share of a word's features that one step of training leaves out, so that none is relied on alone. */
const DROPPED = 0.25;
/** How often a step leaves a group out: of the word itself, words before, words after, signs around, announcements. */
const GROUPS_DROPPED = [0.1, 0.3, 0.3, 0.2, 0.1];

/** The features that a step uses: a group is left out now and then, since new sentences hold unknown words. */
function keep({ buckets, ends }: Example, random: Random, kept: Uint16Array): number {
  let count = 0;
  let at = 0;
  ends.forEach((end, group) => {
    const rate = random.next() < (GROUPS_DROPPED[group] as number) ? 1 : DROPPED;
    if (rate === 1) at = end;
    for (; at < end; at += 1) {
      if (random.next() < rate) continue;
      kept[count] = buckets[at] as number;
      count += 1;
    }
  });
  return count;
}

/** Numbers that are learned, each with a rate of its own (Adagrad). */
class Learned {
  readonly values: Float32Array;
  readonly #paces: Float32Array;

  constructor(values: Float32Array) {
    this.values = values;
    this.#paces = new Float32Array(values.length).fill(0.05);
  }

  /** The same as `step` at several places at once. */
  stepRow(from: number, gradients: Float64Array, scale: number, rate: number): void {
    const { values } = this;
    const paces = this.#paces;
    for (let at = 0; at < gradients.length; at += 1) {
      const gradient = (gradients[at] as number) * scale;
      if (gradient === 0) continue;
      const pace = (paces[from + at] as number) + gradient * gradient;
      paces[from + at] = pace;
      values[from + at] = (values[from + at] as number) - (rate * gradient) / Math.sqrt(pace);
    }
  }

  step(at: number, gradient: number, rate: number): void {
    const pace = Math.fround((this.#paces[at] as number) + gradient * gradient);
    this.#paces[at] = pace;
    this.values[at] = (this.values[at] as number) - (rate * gradient) / Math.sqrt(pace);
  }
}

/** A model while it is trained. */
class Descent {
  readonly features: Learned;
  readonly last: Learned;
  readonly bias = new Learned(new Float32Array(WIDTH).fill(0.1));
  readonly #hidden = new Float64Array(WIDTH);
  readonly #back = new Float64Array(WIDTH);
  readonly #odds = new Float64Array(KINDS);

  constructor(random: Random) {
    this.features = new Learned(Float32Array.from({ length: BUCKETS * WIDTH }, () => (random.next() - 0.5) * 0.1));
    this.last = new Learned(Float32Array.from({ length: KINDS * WIDTH + KINDS }, () => (random.next() - 0.5) * 0.4));
  }

  /** One step after one example, of which the first `count` of `kept` are used; answers how wrong it was before. */
  step(kept: Uint16Array, count: number, scale: number, kind: number, rate: number): number {
    this.#forward(kept, count, scale);
    const share = this.#backward(kind, rate * RATE_LAST);
    for (let at = 0; at < WIDTH; at += 1) if (this.#back[at] !== 0) this.bias.step(at, this.#back[at] as number, rate);
    for (let index = 0; index < count; index += 1)
      this.features.stepRow((kept[index] as number) * WIDTH, this.#back, scale, rate);
    return -Math.log(share + 1e-9);
  }

  #forward(kept: Uint16Array, count: number, scale: number): void {
    const hidden = this.#hidden;
    const features = this.features.values;
    const last = this.last.values;
    hidden.set(this.bias.values);
    for (let index = 0; index < count; index += 1) {
      const row = (kept[index] as number) * WIDTH;
      for (let at = 0; at < WIDTH; at += 1)
        hidden[at] = (hidden[at] as number) + scale * (features[row + at] as number);
    }
    for (let one = 0; one < KINDS; one += 1) {
      let sum = last[KINDS * WIDTH + one] as number;
      for (let at = 0; at < WIDTH; at += 1)
        sum += Math.max(0, hidden[at] as number) * (last[one * WIDTH + at] as number);
      this.#odds[one] = sum;
    }
  }

  /** Changes the last layer; answers the share that the right kind had. */
  #backward(kind: number, rate: number): number {
    const most = Math.max(...this.#odds);
    const total = this.#odds.reduce((sum, value) => sum + Math.exp(value - most), 0);
    let right = 0;
    this.#back.fill(0);
    for (let one = 0; one < KINDS; one += 1) {
      const share = Math.exp((this.#odds[one] as number) - most) / total;
      if (one === kind) right = share;
      const gradient = share - (one === kind ? 1 : 0);
      for (let at = 0; at < WIDTH; at += 1) {
        const hidden = this.#hidden[at] as number;
        if (hidden <= 0) continue;
        this.#back[at] = (this.#back[at] as number) + gradient * (this.last.values[one * WIDTH + at] as number);
        this.last.step(one * WIDTH + at, gradient * hidden, rate);
      }
      this.last.step(KINDS * WIDTH + one, gradient, rate);
    }
    return right;
  }
}

/** Trains on the examples, in another random order each round. */
export function trained(examples: readonly Example[], words: Uint8Array, random: Random): LoginWeights {
  const model = new Descent(random);
  const kept = new Uint16Array(256);
  const order = Uint32Array.from(examples, (_, index) => index);
  for (let epoch = 0; epoch < EPOCHS; epoch += 1) {
    for (let at = order.length - 1; at > 0; at -= 1) {
      const other = random.below(at + 1);
      [order[at], order[other]] = [order[other] as number, order[at] as number];
    }
    const rate = RATE * (1 - epoch / (EPOCHS + 1));
    let loss = 0;
    for (const place of order) {
      const example = examples[place] as Example;
      const count = keep(example, random, kept);
      loss += model.step(kept, count, example.buckets.length / Math.max(1, count), example.kind, rate);
    }
    console.log(`epoch ${epoch + 1}: loss ${(loss / order.length).toFixed(4)}`);
  }
  return { words, features: model.features.values, bias: model.bias.values, last: model.last.values };
}
