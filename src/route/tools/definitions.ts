import { hash } from 'node:crypto';
import type { ListedTool } from '#/ports/mcp-servers.ts';
import { countHidden } from '#/values/hidden-characters.ts';
import { canonicalJson } from '#/wire/document/canonical-json.ts';
import type { JsonObject } from '#/wire/document/json.ts';

type Listed = Pick<ListedTool, 'name' | 'definition'>;

/** A definition that was read, and what tells it from others. */
export interface ReadDefinition {
  readonly name: string;
  /** Without `_meta`, which no pin covers. */
  readonly definition: JsonObject;
  /** Canonical JSON of it. */
  readonly text: string;
  /** SHA-256 of `text` in hexadecimal. */
  readonly sha256: string;
  /** Invisible and bidirectional characters in it. */
  readonly hidden: number;
}

/** Why a tool is never offered, whatever its pin: a person cannot accept it either. */
export type UnfitReason = 'bad_name' | 'listed_twice' | 'too_many' | 'no_canonical_form';

/** A tool that cannot be pinned. */
export interface UnfitTool {
  readonly name: string;
  readonly why: UnfitReason;
}

/** Tools of a server that are looked at. */
const MOST_TOOLS = 1000;
/** Longest part of a bad name that is reported. */
const MOST_LETTERS = 128;
/** More than the protocol recommends, and nothing that a person would not see. */
const NAME = /^[!-~]{1,128}$/;

/** Hashes a list of tools. A name with two definitions is unfit, since a call cannot say which one it means. */
export function readDefinitions(tools: readonly Listed[]): {
  readonly read: readonly ReadDefinition[];
  readonly unfit: readonly UnfitTool[];
} {
  const read = new Map<string, ReadDefinition>();
  const unfit = new Map<string, UnfitReason>();
  for (const tool of tools) {
    const { name } = tool;
    if (unfit.has(name)) continue;
    const known = read.get(name);
    const one = known || read.size < MOST_TOOLS ? readOne(tool) : 'too_many';
    if (typeof one === 'string') unfit.set(name, one);
    else if (known && known.sha256 !== one.sha256) unfit.set(name, 'listed_twice');
    else read.set(name, one);
    if (unfit.has(name)) read.delete(name);
  }
  const told = [...unfit].map(([name, why]) => ({ name: name.slice(0, MOST_LETTERS), why }));
  return { read: [...read.values()], unfit: told };
}

function readOne({ name, definition: { _meta, ...definition } }: Listed): ReadDefinition | UnfitReason {
  if (!NAME.test(name)) return 'bad_name';
  try {
    const text = canonicalJson(definition);
    return { name, definition, text, sha256: hash('sha256', text, 'hex'), hidden: hiddenIn(definition) };
  } catch {
    return 'no_canonical_form';
  }
}

function hiddenIn(value: unknown): number {
  if (typeof value === 'string') return countHidden(value);
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  for (const [key, member] of Object.entries(value)) count += countHidden(key) + hiddenIn(member);
  return count;
}
