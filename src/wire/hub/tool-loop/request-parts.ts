import { BadRequestShape } from '../codec.ts';
import { render, setMember, type Edit, type WireDocument } from '../../document/document.ts';
import { says } from '../defined-members.ts';
import { isObject, type Json, type JsonObject } from '../../document/json.ts';
import { member } from '../../document/scan.ts';
import { isServer } from './named-servers.ts';
import type { LoopTool } from './loop-codec.ts';

/** Refuses members that a loop of rounds cannot keep. Throws `BadRequestShape`. */
export function refuseWithTools(body: JsonObject, names: readonly string[]): void {
  for (const name of names) {
    if (says(body[name])) throw new BadRequestShape(`${name} is not supported with tools of MCP servers`, name);
  }
}

/** Refuses a choice that holds for one round only, or that the gateway does not know. Throws `BadRequestShape`. */
export function refuseOtherChoices(choice: Json | undefined): void {
  if (choice === undefined || choice === null || typeof choice === 'string') return;
  if (isObject(choice) && choice['type'] === 'function') return;
  const message = 'tool_choice must be auto, none, required or a function, with tools of MCP servers';
  throw new BadRequestShape(message, 'tool_choice');
}

/** What a model may choose once a forced call was made: forced again, it would never answer. */
export function laterChoice({ root }: WireDocument): readonly Edit[] {
  const choice = member(root, 'tool_choice');
  const isForced = choice?.kind === 'object' || (choice?.kind === 'string' && choice.value === 'required');
  return isForced ? [setMember(root, 'tool_choice', '"auto"')] : [];
}

/** Replaces the servers of `tools` by functions. Throws `BadRequestShape` where the client has a function of that name. */
export function functionsFor(
  { text, root, body }: WireDocument,
  tools: readonly LoopTool[],
  namesOf: (tool: Json) => readonly (Json | undefined)[],
  write: (tool: LoopTool) => JsonObject,
): readonly Edit[] {
  const written = member(root, 'tools');
  if (written?.kind !== 'array') return [];
  const values = body['tools'] as readonly Json[];
  const aliases = new Set(tools.map(({ alias }) => alias));
  const own: string[] = [];
  for (const [at, node] of written.items.entries()) {
    const value = values[at]!;
    if (isServer(value)) continue;
    if (namesOf(value).some((name) => typeof name === 'string' && aliases.has(name))) {
      const message = `tools[${at}] has the name of a tool of an MCP server: give it another name`;
      throw new BadRequestShape(message, `tools[${at}]`);
    }
    own.push(text.slice(node.start, node.end));
  }
  const sources = [...own, ...tools.map((tool) => JSON.stringify(write(tool)))];
  return [{ start: written.start, end: written.end, text: `[${sources.join(',')}]` }];
}

/** A text with edits, and with a place in it where more follows: written once, however often it is needed. */
export class SplitText {
  readonly #head: string;
  readonly #tail: string;

  /** `at`: the place, which no edit goes over. */
  constructor(text: string, edits: readonly Edit[], at: number) {
    const isBefore = ({ start }: Edit): boolean => start < at;
    this.#head = render(text.slice(0, at), edits.filter(isBefore));
    const after = edits.filter((edit) => !isBefore(edit));
    this.#tail = render(
      text.slice(at),
      after.map(({ start, end, text: written }) => ({ start: start - at, end: end - at, text: written })),
    );
  }

  with(more: string): string {
    return this.#head + more + this.#tail;
  }
}

/** Usages as one: numbers are added, at every depth. */
export function addedUsage(one: Json | undefined, other: Json | undefined): Json | undefined {
  if (typeof one === 'number' && typeof other === 'number') return one + other;
  if (!isObject(one) || !isObject(other)) return other ?? one;
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries([...names].map((name) => [name, addedUsage(one[name], other[name]) ?? null]));
}
