import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { errorFacts } from './log.ts';

const LOG = new URL('./log.ts', import.meta.url).href;

/** What a program that does this writes, on either of its outputs. */
function written(program: string): string {
  const source = `import { createLog, logUncaught } from ${JSON.stringify(LOG)};\n${program}`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', source], { encoding: 'utf8' });
  return stdout + stderr;
}

const FOREIGN = `
  const foreign = () => {
    try { JSON.parse('"Ada Lovelace is ill" no'); } catch (error) { return error; }
  };
  const pg = Object.assign(new Error('Lovelace'), { code: '23505', detail: 'Key (name)=(Lovelace)', where: 'Lovelace' });
  pg.cause = foreign();
`;

test.each(['trace', 'debug', 'info', 'warn', 'error', 'fatal'])(
  'an error logged at %s does not say what it quotes',
  (level) => {
    const log = written(`${FOREIGN}
    const log = createLog('trace');
    log.${level}({ event: 'a', err: foreign() });
    log.${level}({ event: 'b', error: pg });
    log.${level}({ event: 'c', reason: foreign() }, 'said');
    log.${level}(foreign());
    log.${level}(pg, 'also said');
  `);
    expect(log).not.toContain('Lovelace');
    const lines = log
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toHaveLength(5);
    // A fatal line is written at once, and may so come before others.
    const [said, alsoSaid] = ['said', 'also said'].map((text) => lines.find(({ msg }) => msg === text));
    const [a, b] = ['a', 'b'].map((name) => lines.find(({ event }) => event === name));
    expect(a).toMatchObject({ level, err: { type: 'SyntaxError' } });
    expect(b).toMatchObject({ error: { type: 'Error', code: '23505', cause: { type: 'SyntaxError' } } });
    expect(said).toMatchObject({ reason: { type: 'SyntaxError' } });
    expect(alsoSaid).toMatchObject({ err: { code: '23505' } });
    expect(lines.filter((line) => 'msg' in line)).toHaveLength(2);
  },
);

test.each(['setTimeout(() => { throw foreign(); })', 'Promise.reject(pg)'])(
  'nor does one that was not caught: %s',
  (program) => {
    const log = written(`${FOREIGN} logUncaught(createLog('info')); ${program};`);
    expect(log).not.toContain('Lovelace');
    expect(JSON.parse(log)).toMatchObject({ level: 'fatal', event: 'process.failed' });
  },
);

test('an error says where it was thrown, and a text that looks like a stack says nothing', () => {
  const [place] = errorFacts(new Error('x'))['at'] as string[];
  expect(place).toMatch(/telemetry\/log\.test\.ts:\d+$/);
  const told = JSON.stringify(
    errorFacts(new Error('ill\n    at /home/Ada.Lovelace:1:1\n    at Lovelace (/Lovelace:1:1)')),
  );
  expect(told).not.toContain('Lovelace');
  expect(errorFacts(Object.assign(new Error('Lovelace'), { status: 429 }))).toMatchObject({ status: 429 });
  expect(errorFacts(Object.assign(new Error('x'), { status: 'Ada Lovelace' }))).not.toHaveProperty('status');
  expect(errorFacts(Object.assign(new Error('x'), { name: 'Ada Lovelace is', code: 'Ada Lovelace' }))).toMatchObject({
    type: 'Error',
  });
});
