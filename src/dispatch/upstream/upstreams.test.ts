import { beforeEach, describe, expect, test } from 'vitest';
import type { ProviderConfig } from '#/config/snapshot.ts';
import { createProviders } from '#/providers/registry.ts';
import { apiKey, configOf } from '#/providers/testing/config.ts';
import { createTransport } from '#/providers/http/transport.ts';
import { Upstreams, type Upstream, type UpstreamEvent, type AttemptPermit } from './upstreams.ts';

const providers = createProviders(createTransport());

let now: number;
let random: number;
let events: UpstreamEvent[];
let upstreams: Upstreams;

beforeEach(() => {
  now = 5_000_000;
  random = 0;
  events = [];
  upstreams = new Upstreams((event) => events.push(event), { now: () => now, random: () => random });
});

type Over = Partial<Omit<ProviderConfig, 'models'>>;

function upstream(over: Over = {}, model = 'm'): Upstream {
  const provider = providers(configOf('openai', over));
  if (!provider) throw new Error('openai is not registered');
  return { provider, model };
}

function enter(target: Upstream): AttemptPermit {
  const permit = upstreams.enter(target);
  if (!permit) throw new Error('it is to be left alone');
  return permit;
}

const used = (target: Upstream): string | undefined => enter(target).credential?.name;

describe('breakers', () => {
  const fail = (target: Upstream): void => {
    for (let index = 0; index < 5; index++) enter(target).end('gone');
  };

  test('are one for each provider and model, and survive a change of the configuration', () => {
    fail(upstream());
    expect(upstreams.enter(upstream())).toBeUndefined();
    expect(upstreams.health(upstream())).toEqual({ waitMs: 30_000, cause: 'circuit_open' });
    expect(upstreams.open).toBe(1);
    for (const other of [upstream({}, 'n'), upstream({ id: 'other/openai' })]) {
      expect(upstreams.health(other).waitMs).toBe(0);
      enter(other);
    }
  });

  test('tell when they change', () => {
    fail(upstream());
    now += 30_000;
    enter(upstream()).answering();
    const states = events.flatMap((event) => (event.kind === 'circuit.changed' ? event.state : []));
    expect(states).toEqual(['open', 'half-open', 'closed']);
    expect(events[0]).toMatchObject({ provider: 'default/openai', model: 'm' });
    expect(upstreams.open).toBe(0);
  });
});

describe('credentials', () => {
  const two = { credentials: [apiKey('a', 3), apiKey('b', 1), apiKey('spare', 0)] };

  test('are drawn by weight; without weight, only where no other is left', () => {
    const drawn = Array.from({ length: 4 }, (_, index) => {
      random = index / 4;
      return used(upstream(two));
    });
    expect(drawn).toEqual(['a', 'a', 'a', 'b']);
    random = 0;
    enter(upstream(two)).refused();
    expect(used(upstream(two))).toBe('b');
    enter(upstream(two)).refused();
    expect(used(upstream(two))).toBe('spare');
  });

  test('that are to wait are left out for as long, at most a minute', () => {
    enter(upstream(two)).limited(2000);
    expect([used(upstream(two)), upstreams.health(upstream(two)).waitMs]).toEqual(['b', 0]);
    expect(used(upstream(two, 'another'))).toBe('a');
    now += 2000;
    expect(used(upstream(two))).toBe('a');
    enter(upstream(two)).limited(3_600_000);
    expect(events.at(-1)).toMatchObject({
      kind: 'credential.set_aside',
      credential: 'a',
      why: 'limited',
      waitMs: 60_000,
    });
    now += 60_000;
    expect(used(upstream(two))).toBe('a');
  });

  test('where all are to wait, the upstream is until the first may be used again', () => {
    const target = upstream({ credentials: [apiKey('a'), apiKey('b')] });
    enter(target).limited(9000);
    enter(target).limited(400);
    expect(upstreams.enter(target)).toBeUndefined();
    expect(upstreams.health(target)).toEqual({ waitMs: 400, cause: 'overloaded' });
    now += 400;
    expect(used(target)).toBe('b');
  });

  test('without another credential, the upstream itself waits', () => {
    const target = upstream({ credentials: [] });
    const permit = enter(target);
    expect(permit.credential).toBeUndefined();
    permit.limited(700);
    expect(upstreams.health(target)).toEqual({ waitMs: 700, cause: 'overloaded' });
  });

  test('that are refused are skipped while there is another, and used again when there is not', () => {
    const target = upstream({ credentials: [apiKey('a'), apiKey('b')] });
    expect(enter(target).refused()).toBe(true);
    expect(used(target)).toBe('b');
    expect(enter(target).refused()).toBe(false);
    expect(used(target)).toBe('a');
    now += 60_000;
    expect(upstreams.health(target).waitMs).toBe(0);
  });

  test('one that was refused does not stand in for one that is to wait', () => {
    const target = upstream({ credentials: [apiKey('a'), apiKey('b')] });
    enter(target).refused();
    enter(target).limited(5000);
    expect(upstreams.health(target)).toEqual({ waitMs: 5000, cause: 'overloaded' });
  });

  test('a key that was replaced is not the one that was refused', () => {
    const named = (secret: string) => upstream({ credentials: [{ ...apiKey(secret), name: 'main' }, apiKey('b')] });
    enter(named('old')).refused();
    expect(used(named('old'))).toBe('b');
    expect(used(named('new'))).toBe('main');
  });

  test('no event holds a secret', () => {
    const target = upstream({ credentials: [{ ...apiKey('sk-secret'), name: 'main' }] });
    enter(target).refused();
    enter(target).limited(10);
    expect(events).toHaveLength(2);
    expect(JSON.stringify(events)).not.toContain('sk-secret');
  });
});
