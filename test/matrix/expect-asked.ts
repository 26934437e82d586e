import { expect } from 'vitest';
import { effortOf, familyOf, isNative, keepsThoughts, stopOf, type Cell } from './cell.ts';
import { READ_ASKED } from './exits/read-asked.ts';
import type { Arrival } from './stand-in/stand-in.ts';
import { at, type Asked, type Call, type Item, type Result } from './vocabulary.ts';

const NINE = /^[A-Za-z0-9]{9}$/;

/** What a provider must have been asked. `key`: the client's own, which is nobody's business. */
export function expectAsked(cell: Cell, arrival: Arrival, key: string): void {
  const { kind, stream } = cell;
  const family = familyOf(cell);
  const { headers, body } = arrival;
  expect(arrival).toMatchObject({ method: 'POST', path: kind.path(family, stream), family });
  const [header, proof] = kind.auth;
  expect(headers[header]).toMatch(proof);
  const others = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key'].filter((name) => name !== header);
  for (const name of others) expect(headers).not.toHaveProperty(name);
  expect(JSON.stringify([headers, body])).not.toContain(key);
  for (const name of kind.never) expect(Object.keys(body)).not.toContain(name);
  if (family === 'chat' || family === 'messages') expectStreamOptions(cell, arrival);
  if (family === 'messages') {
    expect(headers['anthropic-version']).toBe(kind.version === undefined ? '2023-06-01' : undefined);
    expect(body['anthropic_version']).toBe(kind.version);
  }

  const asked = READ_ASKED[family](body);
  expect(asked.model).toBe(kind.inBody.includes('model') ? kind.upstream : undefined);
  expect(asked.stream ?? false).toBe(kind.inBody.includes('stream') && stream);
  expectConversation(cell, asked);
  expectSettings(cell, asked);
}

/** Usage is asked for wherever that is not an error. */
function expectStreamOptions({ kind, stream }: Cell, { family, body }: Arrival): void {
  const isAsked = family === 'chat' && stream && kind.usage !== 'silent' && kind.usage !== 'mistral';
  expect(at(body, 'stream_options', 'include_usage')).toBe(isAsked ? true : undefined);
}

function expectConversation(cell: Cell, asked: Asked): void {
  const { kind, one, surface } = cell;
  const family = familyOf(cell);
  const hasFlag = family !== 'chat' && family !== 'responses';
  const spell = (item: Item): Item => {
    if (!('result' in item)) return item;
    const { result } = item;
    // Only one surface can say that a tool failed; where the provider has no flag for it, the text says so.
    const failed = surface.family === 'messages' && result.failed;
    const text = failed && !hasFlag ? `Error: ${result.text}` : result.text;
    return { result: { ...result, text, failed: failed && hasFlag } };
  };
  const isKept = (item: Item): boolean => !('thought' in item) || keepsThoughts(cell);
  const turns = one.turns.map(({ role, items }) => ({ role, items: items.filter(isKept).map(spell) }));
  expect(kind.nine ? withoutIds(asked.turns.flatMap(({ items }) => items)) : asked.turns).toEqual(
    kind.nine ? turns.flatMap(({ items }) => items) : turns,
  );
  expect(asked.tools).toEqual(one.tools ?? []);
  const { system } = one;
  if (one.schema && kind.json !== 'schema') {
    expect(asked.system).toContain(system);
    expect(asked.system).toContain(JSON.stringify(one.schema));
  } else expect(asked.system).toBe(system ?? '');
  if (family !== 'chat' || system === undefined) return;
  expect(asked.systemRole).toBe(kind.untouched && isNative(cell) ? 'system' : kind.systemRole);
}

/** Ids of nine letters, put back to what the case calls them, so that a result still must answer its own call. */
function withoutIds(items: readonly Item[]): readonly Item[] {
  const ids = new Map<string, string>();
  const known = <T extends Call | Result>(piece: T): T => {
    expect(piece.id).toMatch(NINE);
    if (!ids.has(piece.id)) ids.set(piece.id, `call_h${ids.size + 1}`);
    return { ...piece, id: ids.get(piece.id) };
  };
  return items.map((item) => {
    if ('call' in item) return { call: known(item.call) };
    return 'result' in item ? { result: known(item.result) } : item;
  });
}

function expectSettings(cell: Cell, asked: Asked): void {
  const { kind, one } = cell;
  const stop = stopOf(cell);
  expect(asked.stop).toEqual(stop === undefined ? [] : [stop]);
  expect(asked.reasoning).toEqual((one.effort && effortOf(cell)) ?? {});
  const format = { schema: one.schema, object: 'object', words: undefined }[kind.json];
  expect(asked.format).toEqual(one.schema && format);
  const isUncapped = one.effort && kind.uncapped === true;
  expect(asked.ceiling).toEqual(isUncapped ? undefined : [ceilingName(cell), one.ceiling]);
}

function ceilingName(cell: Cell): string {
  const { kind } = cell;
  switch (familyOf(cell)) {
    case 'chat':
      return kind.untouched && isNative(cell) ? 'max_completion_tokens' : kind.ceiling;
    case 'messages':
      return 'max_tokens';
    case 'responses':
      return 'max_output_tokens';
    case 'gemini':
      return 'maxOutputTokens';
    case 'converse':
      return 'maxTokens';
  }
}
