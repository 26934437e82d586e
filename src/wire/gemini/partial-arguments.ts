import { isObject, type Json, type JsonObject } from '../document/json.ts';

type Step = string | number;
/** Objects here have no prototype: a step called `__proto__` is a member like any other. */
type Growing = { [name: string]: Growing | Json } | (Growing | Json)[];

const STEP = /\.([^.[\]]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;
const MAX_DEPTH = 64;

/** The arguments of one call, which come piece by piece, each with the JSON path of where it belongs. */
export class PartialArguments {
  readonly #root: Growing = empty('name');

  /** Puts one piece in its place. False: it has none, or says nothing. */
  add(piece: Json): boolean {
    if (!isObject(piece) || typeof piece['jsonPath'] !== 'string') return false;
    const steps = stepsOf(piece['jsonPath']);
    const value = valueOf(piece);
    const last = steps?.pop();
    if (!steps || last === undefined || value === undefined) return false;
    let at: Growing | undefined = this.#root;
    for (const [position, step] of steps.entries()) at = at && enter(at, step, steps[position + 1] ?? last);
    return at !== undefined && put(at, last, value);
  }

  /** As JSON source text. */
  get json(): string {
    return JSON.stringify(this.#root);
  }
}

function stepsOf(path: string): Step[] | undefined {
  if (!path.startsWith('$')) return undefined;
  const steps: Step[] = [];
  STEP.lastIndex = 1;
  while (STEP.lastIndex < path.length) {
    const found = STEP.exec(path);
    if (!found || steps.length === MAX_DEPTH) return undefined;
    const [, plain, index, single, double] = found;
    if (index !== undefined) steps.push(Number(index));
    else steps.push(plain ?? (single ?? double ?? '').replace(/\\(.)/g, '$1'));
  }
  return steps;
}

function valueOf(piece: JsonObject): Json | undefined {
  if ('nullValue' in piece) return null;
  return piece['stringValue'] ?? piece['numberValue'] ?? piece['boolValue'];
}

function empty(inside: Step): Growing {
  return typeof inside === 'number' ? [] : (Object.create(null) as Growing);
}

/** Arrays only grow at their end: an index out of thin air would make a huge one. */
function fits(at: Growing, step: Step): boolean {
  return Array.isArray(at) ? typeof step === 'number' && step <= at.length : typeof step === 'string';
}

function read(at: Growing, step: Step): Growing | Json | undefined {
  return (at as Record<Step, Growing | Json | undefined>)[step];
}

function enter(at: Growing, step: Step, next: Step): Growing | undefined {
  if (!fits(at, step)) return undefined;
  const inside = read(at, step) ?? empty(next);
  if (typeof inside !== 'object') return undefined;
  (at as Record<Step, unknown>)[step] = inside;
  return inside as Growing;
}

/** A text that is there already goes on. */
function put(at: Growing, step: Step, value: Json): boolean {
  if (!fits(at, step)) return false;
  const before = read(at, step);
  const whole = typeof before === 'string' && typeof value === 'string' ? before + value : value;
  (at as Record<Step, unknown>)[step] = whole;
  return true;
}
