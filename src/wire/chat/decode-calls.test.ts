import { describe, expect, test } from 'vitest';
import { CallReader } from './decode-calls.ts';
import { ObjectSource } from './object-source.ts';

describe('the source of an object', () => {
  test.each([
    ['{}', true],
    [' {"a":"}"} \n', true],
    ['{"a":"\\"}","b":[{}]}', true],
    ['', false],
    ['{"a":"}', false],
    ['{"a":{}', false],
    ['{}{}', false],
    ['x{}', false],
    ['[]', false],
  ])('%j is complete: %s, however it is cut', (text, complete) => {
    for (let at = 0; at <= text.length; at++) {
      const source = new ObjectSource();
      source.add(text.slice(0, at));
      source.add(text.slice(at));
      expect(source.complete).toBe(complete);
    }
  });
});

describe('a stream of nothing but calls', () => {
  /** How many calls are open at most, and how many were opened and closed. */
  function read(calls: number, argumentsJson: string): { most: number; opened: number; closed: number } {
    let part = 0;
    let closed = 0;
    let most = 0;
    const reader = new CallReader(() => part++);
    for (let index = 0; index < calls; index++) {
      const events = reader.read({ index, id: `c${index}`, name: 'f', argumentsJson }, 'x');
      closed += events.filter(({ type }) => type === 'part-end').length;
      most = Math.max(most, part - closed);
    }
    closed += reader.end().filter(({ type }) => type === 'part-end').length;
    return { most, opened: part, closed };
  }

  test.each([
    ['{"a":1}', 1],
    ['{"a":', 256],
  ])('of %s keeps %i of them open at most', (argumentsJson, most) => {
    expect(read(2000, argumentsJson)).toEqual({ most, opened: 2000, closed: 2000 });
  });
});
