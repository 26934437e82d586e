import { parsePattern, PatternFault, type Atom, type Term } from './parse-pattern.ts';
import type { Work } from './work.ts';

/** Most instructions of a pattern: each character of a text is compared with at most so many. */
const MOST_INSTRUCTIONS = 1000;

type Instruction =
  | { readonly kind: 'atom'; readonly atom: Atom }
  | { readonly kind: 'split'; first: number; second: number }
  | { readonly kind: 'start' }
  | { readonly kind: 'end' }
  | { readonly kind: 'match' };

/**
 * A regular expression (ECMAScript with the flag `u`) that follows all its alternatives at once, one character after the
 * other: no text makes it take longer than its length times the length of the pattern.
 */
export class LinearPattern {
  readonly source: string;
  readonly #program: readonly Instruction[];

  /** Throws `PatternFault` for a source that is no pattern, is too large, or cannot be followed in this way. */
  constructor(source: string) {
    this.source = source;
    this.#program = assemble(parsePattern(source));
  }

  /** Whether it matches somewhere in a text. Throws `TooMuchWork`. */
  test(text: string, work: Work): boolean {
    const states = new States(this.#program, text.length, work);
    for (let at = 0; ;) {
      states.enter(0, at);
      if (states.isMatched) return true;
      if (at >= text.length) return false;
      const point = text.codePointAt(at)!;
      at += point > 0xffff ? 2 : 1;
      states.step(point, at);
      if (states.isMatched) return true;
    }
  }
}

/** Where in a program a text may be: each place once. */
class States {
  isMatched = false;
  readonly #program: readonly Instruction[];
  readonly #end: number;
  readonly #work: Work;
  /** Position at which a place was entered last, plus 1. */
  readonly #entered: Uint32Array;
  #now: number[] = [];
  #next: number[] = [];

  constructor(program: readonly Instruction[], end: number, work: Work) {
    this.#program = program;
    this.#end = end;
    this.#work = work;
    this.#entered = new Uint32Array(program.length);
    work.spend(program.length / 16);
  }

  /** Adds a place and all those that need no character. */
  enter(place: number, at: number): void {
    const waiting = [place];
    for (let top = waiting.pop(); top !== undefined; top = waiting.pop()) {
      if (this.#entered[top] === at + 1) continue;
      this.#entered[top] = at + 1;
      this.#work.spend(1);
      const one = this.#program[top]!;
      if (one.kind === 'match') this.isMatched = true;
      else if (one.kind === 'atom') this.#now.push(top);
      else if (one.kind === 'split') waiting.push(one.second, one.first);
      else if (one.kind === 'start' ? at === 0 : at === this.#end) waiting.push(top + 1);
    }
  }

  /** Reads a character; `at`: the position after it. */
  step(point: number, at: number): void {
    const before = this.#now;
    this.#now = this.#next;
    this.#next = before;
    this.#now.length = 0;
    this.#work.spend(before.length);
    for (const place of before) {
      const one = this.#program[place]!;
      if (one.kind === 'atom' && one.atom.takes(point)) this.enter(place + 1, at);
    }
  }
}

function assemble(term: Term): readonly Instruction[] {
  const program: Instruction[] = [];
  emit(term, program);
  add(program, { kind: 'match' });
  return program;
}

function add<I extends Instruction>(program: Instruction[], one: I): I {
  if (program.length >= MOST_INSTRUCTIONS)
    throw new PatternFault(`is too large: repetitions and all must come to at most ${MOST_INSTRUCTIONS} characters`);
  program.push(one);
  return one;
}

function emit(term: Term, program: Instruction[]): void {
  if (term.kind === 'sequence') for (const one of term.terms) emit(one, program);
  else if (term.kind === 'choice') emitChoice(term.terms, program);
  else if (term.kind === 'repeat') emitRepeat(term, program);
  else if (term.kind === 'atom') add(program, { kind: 'atom', atom: term });
  else add(program, { kind: term.kind });
}

function emitChoice(terms: readonly Term[], program: Instruction[]): void {
  const jumps: { first: number; second: number }[] = [];
  for (const [index, term] of terms.entries()) {
    const isLast = index === terms.length - 1;
    const split = isLast ? undefined : add(program, { kind: 'split', first: program.length + 1, second: 0 });
    emit(term, program);
    if (!split) continue;
    jumps.push(add(program, { kind: 'split', first: 0, second: 0 }));
    split.second = program.length;
  }
  for (const jump of jumps) jump.first = jump.second = program.length;
}

function emitRepeat({ term, least, most }: Extract<Term, { kind: 'repeat' }>, program: Instruction[]): void {
  let begin = program.length;
  for (let count = 0; count < least; count++) {
    begin = program.length;
    emit(term, program);
    // What takes no instruction would be repeated for ever without being too large.
    if (program.length === begin) add(program, { kind: 'split', first: begin + 1, second: begin + 1 });
  }
  if (most === Infinity && least > 0) {
    add(program, { kind: 'split', first: begin, second: program.length + 1 });
    return;
  }
  if (most === Infinity) {
    const split = add(program, { kind: 'split', first: begin + 1, second: 0 });
    emit(term, program);
    add(program, { kind: 'split', first: begin, second: begin });
    split.second = program.length;
    return;
  }
  const splits: { second: number }[] = [];
  for (let count = least; count < most; count++) {
    splits.push(add(program, { kind: 'split', first: program.length + 1, second: 0 }));
    emit(term, program);
  }
  for (const split of splits) split.second = program.length;
}
