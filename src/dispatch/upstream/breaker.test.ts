import { beforeEach, describe, expect, test } from 'vitest';
import { Attempt, Breaker, type BreakerSettings, type BreakerState, type Outcome } from './breaker.ts';

const SETTINGS: BreakerSettings = { failureRatioPercent: 50, minRequests: 10, openSeconds: 30 };

let now: number;
let random: number;
let changes: BreakerState[];
let breaker: Breaker;

beforeEach(() => {
  now = 1_000_000;
  random = 0;
  changes = [];
  breaker = new Breaker({ now: () => now, random: () => random }, (state) => changes.push(state));
});

function enter(settings = SETTINGS): Attempt {
  const attempt = new Attempt(breaker, settings);
  if (!breaker.lets(attempt)) throw new Error('the breaker is open');
  return attempt;
}

/** Lets attempts through, one after the other, each with its end. */
function see(...outcomes: Outcome[]): void {
  for (const outcome of outcomes) enter().end(outcome);
}

const times = (count: number, outcome: Outcome): Outcome[] => Array.from({ length: count }, () => outcome);

/** Opens by five faults in a row. */
function open(): void {
  see(...times(5, 'gone'));
  expect(breaker.state).toBe('open');
}

describe('stays closed', () => {
  test.each<readonly [string, Outcome[]]>([
    ['while too few attempts were made', times(9, 'failed')],
    ['while less than the share fails', [...times(12, 'served'), ...times(7, 'failed'), ...times(4, 'gone')]],
    ['where an answer comes between faults', [...times(4, 'gone'), ...times(9, 'served'), ...times(4, 'gone')]],
    ['whatever says nothing', times(100, 'unknown')],
  ])('%s', (_name, outcomes) => {
    see(...outcomes);
    expect([breaker.state, breaker.waitMs, changes]).toEqual(['closed', 0, []]);
  });

  test('when failures are older than the window', () => {
    for (let index = 0; index < 20; index++) {
      see('failed');
      now += 5000;
    }
    expect(breaker.state).toBe('closed');
  });
});

describe('opens', () => {
  test('on the share of failures, with the attempt that makes it full', () => {
    see(...times(5, 'served'), ...times(4, 'failed'));
    expect(breaker.state).toBe('closed');
    see('failed');
    expect(breaker.state).toBe('open');
    expect(breaker.lets(new Attempt(breaker, SETTINGS))).toBe(false);
    expect(breaker.waitMs).toBe(30_000);
  });

  test('at once on the fifth fault in a row without an answer, whatever failed otherwise between', () => {
    see('gone', 'gone', 'unknown', 'failed', 'gone', 'gone');
    expect(breaker.state).toBe('closed');
    see('gone');
    expect(breaker.state).toBe('open');
  });

  test('on the first failure where one attempt is enough', () => {
    enter({ ...SETTINGS, minRequests: 1 }).end('failed');
    expect(breaker.state).toBe('open');
  });

  test('for longer by chance, by a fifth at most', () => {
    random = 0.999;
    see(...times(5, 'gone'));
    expect(breaker.waitMs).toBeGreaterThan(35_900);
    expect(breaker.waitMs).toBeLessThan(36_000);
  });

  test('on what attempts of long ago come to now', () => {
    const early = Array.from({ length: 5 }, () => enter());
    now += 600_000;
    for (const permit of early) permit.end('gone');
    expect(breaker.state).toBe('open');
  });
});

describe('half-open', () => {
  beforeEach(() => {
    open();
    now += 30_000;
  });

  test('lets one attempt through, and closes when it is answered', () => {
    const probe = enter();
    expect(breaker.state).toBe('half-open');
    expect(breaker.lets(new Attempt(breaker, SETTINGS))).toBe(false);
    expect(breaker.waitMs).toBe(30_000);
    probe.end('served');
    expect(breaker.state).toBe('closed');
    see('failed', 'gone', ...times(8, 'served'));
    expect([breaker.state, changes]).toEqual(['closed', ['open', 'half-open', 'closed']]);
  });

  test('closes as soon as the answer begins, and opens at once when it breaks off after all', () => {
    const probe = enter();
    probe.answering();
    expect(breaker.state).toBe('closed');
    probe.end('gone');
    expect(breaker.state).toBe('open');
  });

  test.each(['failed', 'gone'] as const)('stays open for as long again when it is %s', (outcome) => {
    enter().end(outcome);
    expect([breaker.state, breaker.waitMs]).toEqual(['open', 30_000]);
  });

  test('an attempt that says nothing gives its turn to the next', () => {
    enter().end('unknown');
    expect([breaker.state, breaker.waitMs]).toEqual(['open', 0]);
    enter().end('served');
    expect(breaker.state).toBe('closed');
  });

  test('one that does not end keeps no call out for longer than the breaker is open', () => {
    const first = enter();
    now += 30_000;
    const second = enter();
    first.end('gone');
    expect(breaker.state).toBe('half-open');
    second.end('served');
    expect(breaker.state).toBe('closed');
  });

  test('one that was overtaken closes it too', () => {
    const first = enter();
    now += 30_000;
    enter();
    first.end('served');
    expect(breaker.state).toBe('closed');
  });
});

describe('attempts of another time say nothing', () => {
  test('of calls from before it opened, while it is open', () => {
    const early = enter();
    open();
    early.answering();
    early.end('served');
    expect(breaker.state).toBe('open');
  });

  test('of calls from before it closed again', () => {
    const early = Array.from({ length: 20 }, () => enter());
    open();
    now += 30_000;
    enter().end('served');
    for (const permit of early) permit.end('gone');
    expect(breaker.state).toBe('closed');
  });

  test('of an earlier probe that is still answering when it has opened again', () => {
    open();
    now += 30_000;
    const probe = enter();
    probe.answering();
    see('gone');
    expect(breaker.state).toBe('open');
    probe.end('served');
    expect(breaker.state).toBe('open');
  });

  test('twice', () => {
    const permit = enter({ ...SETTINGS, minRequests: 2 });
    permit.end('served');
    permit.end('failed');
    permit.end('failed');
    expect(breaker.state).toBe('closed');
  });
});
