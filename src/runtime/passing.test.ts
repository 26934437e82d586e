import { describe, expect, it } from 'vitest';
import { PassingMap, PassingSet } from './passing.ts';

describe('what comes and goes', () => {
  it('has what was added and not what was deleted', () => {
    const set = new PassingSet<string>();
    const [a, b] = [set.add('a'), set.add('b')];
    set.delete(a);
    expect([...set.values()]).toEqual(['b']);
    expect(set.size).toBe(1);
    const c = set.add('c');
    expect(set.values().toSorted()).toEqual(['b', 'c']);
    set.delete(b);
    set.delete(c);
    expect(set.size).toBe(0);
    expect(set.values()).toEqual([]);
  });

  it('takes no more places than there ever were at once', () => {
    const set = new PassingSet<number>();
    const places = Array.from({ length: 1000 }, (_, value) => {
      const place = set.add(value);
      set.delete(place);
      return place;
    });
    expect(Math.max(...places)).toBe(0);
  });

  it('is a map', () => {
    const map = new PassingMap<number>();
    map.set('a', 1).set('b', 2).set('a', 3);
    expect([map.get('a'), map.get('b'), map.get('c'), map.has('a'), map.size]).toEqual([3, 2, undefined, true, 2]);
    expect([map.delete('a'), map.delete('a'), map.has('a'), map.get('a')]).toEqual([true, false, false, undefined]);
    map.set('c', 4);
    expect(map.values().toSorted((a, b) => a - b)).toEqual([2, 4]);
  });
});
