import { isObject, type Json, type JsonObject } from '../document/json.ts';

/** Sizes of a machine that runs code, each billed as so many of the smallest. */
const SIZES: Readonly<Record<string, number>> = { '1g': 1, '4g': 4, '16g': 16, '64g': 64 };

/** Sessions of 1 GB that a tool's machine is billed as; 0 where the tool has none. One that is named may be of any size. */
export function sessionsOf(tool: JsonObject): number {
  if (tool['type'] !== 'code_interpreter') return 0;
  const { container } = tool;
  const size = isObject(container) ? container['memory_limit'] : undefined;
  return (typeof size === 'string' && Object.hasOwn(SIZES, size) ? SIZES[size] : undefined) ?? 1;
}

/** The same of all machines that a response says code was run on; how large they are, its tools repeat. */
export function containersIn(output: readonly Json[], tools: Json | undefined): number {
  const used = new Set<unknown>();
  for (const item of output) {
    if (isObject(item) && item['type'] === 'code_interpreter_call') used.add(item['container_id']);
  }
  if (used.size === 0) return 0;
  const sizes = (Array.isArray(tools) ? (tools as readonly Json[]) : []).filter(isObject).map(sessionsOf);
  return used.size * sizes.reduce((largest, size) => Math.max(largest, size), 1);
}
