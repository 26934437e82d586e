import { expect } from 'vitest';
import { familyOf, isNative, type Cell } from './cell.ts';
import { COMPLAINT, saysOverloaded } from './stand-in/failures.ts';
import { COUNTS, usageIn } from './stand-in/usage.ts';
import type { Told } from './vocabulary.ts';

const CUT = 'The provider closed the connection before its answer was complete.';
const GARBLED = 'The provider sent an invalid answer.';

/** What a client must have been told by a provider that answered to the end. */
export function expectTold(cell: Cell, told: Told): void {
  const { kind, one, surface } = cell;
  const { text = '', reasoning = '', calls = [] } = one.answer;
  const inWords = kind.refusal === 'words';
  expect(told.error).toBeUndefined();
  if (one.ending !== 'refusal') expect(told).toMatchObject({ text, refusal: '' });
  else if (kind.refusal === 'blocked') expect(told).toMatchObject({ text: '', refusal: '' });
  else if (inWords && surface.family !== 'messages') expect(told).toMatchObject({ text: '', refusal: text });
  else expect(told.text).toBe(text);
  expect(told.reasoning).toBe(reasoning);
  if (kind.callsHaveNoIds) {
    expect(told.calls.map(({ name, input }) => ({ name, input }))).toEqual(
      calls.map(({ name, input }) => ({ name, input })),
    );
    for (const { id } of told.calls) expect(id).toMatch(/^[A-Za-z0-9_-]{1,40}$/);
    expect(new Set(told.calls.map(({ id }) => id)).size).toBe(calls.length);
  } else expect(told.calls).toEqual(calls);
  if (!isNative(cell)) {
    expect(told.model).toBe(kind.model);
    expect(told.id).toMatch(surface.id);
  }
  expect(told.finish).toBe(finishOf(cell));
  expectUsage(cell, told);
}

function finishOf(cell: Cell): string {
  const { kind, one, surface } = cell;
  if (one.ending === 'stop-sequence' && surface.family === 'messages') {
    if (familyOf(cell) === 'messages') return `stop_sequence:${one.stop}`;
    if (familyOf(cell) === 'converse') return 'stop_sequence';
  }
  return surface.finishes(one.ending, kind.refusal === 'words');
}

function expectUsage(cell: Cell, { usage }: Told): void {
  const { kind, surface, stream } = cell;
  const family = familyOf(cell);
  const isSilent = stream && family === 'chat' && kind.usage === 'silent';
  if (isSilent) expect(surface.counts(usage ?? {}).output).toBeGreaterThan(0);
  else if (isNative(cell)) expect(usage).toEqual(usageIn(family, kind.usage));
  else expect(surface.counts(usage ?? {})).toEqual(COUNTS);
}

/** Whether the provider says in its stream that it has too much to do. */
export function isOverloaded(cell: Cell): boolean {
  return cell.stream && cell.one.ending === 'error' && saysOverloaded(familyOf(cell), cell.kind);
}

/** What a client must have been told of an answer that went wrong behind its first words, or before them. */
export function expectFailure(cell: Cell, status: number, body: unknown, told: Told | undefined): void {
  const { surface, one } = cell;
  if (told) {
    expect(status).toBe(200);
    const message = one.ending === 'error' ? COMPLAINT : CUT;
    const type = isOverloaded(cell) ? surface.overloaded : surface.failed;
    expect(told).toMatchObject({ finish: undefined, error: { type, message } });
    expect(told.text).not.toBe('');
    expect(one.answer.text?.startsWith(told.text)).toBe(true);
    return;
  }
  expect(status).toBe(502);
  const { type, message } = surface.error(body);
  expect(type).toBe(surface.errorType[502]);
  if (one.ending === 'error') expect(message).toBe(COMPLAINT);
  else expect([CUT, GARBLED]).toContain(message);
}
