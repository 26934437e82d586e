import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkRepository, violations } from '../tools/architecture.ts';
import { badLinks, badPaths, numbersTwice } from '../tools/doc-paths.ts';

const ALIASES = { '#/*': './src/*' };

const check = (path: string, text: string): string[] => violations([{ path, text }], ALIASES);

test('the repository keeps its own rules', () => {
  expect(checkRepository(join(import.meta.dirname, '..'))).toEqual([]);
});

describe('directions', () => {
  test.each([
    ['src/wire/chat/read-stream.ts', `import { serve } from '#/pipeline/model-call.ts';`],
    ['src/wire/chat/read-stream.ts', `import type { NanoEuro } from '#/values/money.ts';`],
    ['src/adapters/memory/spend.ts', `import { chain, type Chain } from '#/seal/chain.ts';`],
    ['src/wire/chat/read-stream.ts', `import { readFile } from 'node:fs/promises';`],
    ['src/wire/chat/read-stream.ts', `export { request } from 'undici';`],
    ['src/pipeline/model-call.ts', `import { chat } from '#/surfaces/chat/chat.ts';`],
    ['src/pipeline/model-call.ts', `import { openai } from '#/providers/registry.ts';`],
    ['src/surfaces/chat/chat.ts', `import type {\n  Provider,\n} from '#/providers/registry.ts';`],
    ['src/providers/azure/azure.ts', `import { meter } from '#/meter/meter.ts';`],
    ['src/vendors/openai.ts', `import { compatible } from '#/providers/base/compatible.ts';`],
    ['src/vendors/openai.ts', `import { readDocument } from '#/wire/document/document.ts';`],
    ['src/vendors/openai.ts', `import type { ProviderConfig } from '#/ports/provider.ts';`],
    ['src/surfaces/chat/chat.ts', `import { VENDORS } from '#/vendors/list.ts';`],
    ['src/ports/ledger.ts', `import { formatEuro } from '#/values/money.ts';`],
    ['src/adapters/redis/counters.ts', `export * from '#/wire/document/document.ts';`],
    ['src/errors/catalogue.ts', `import '#/wire/document/document.ts';`],
    ['src/config/compile/compile.ts', `const late = await import('#/call/units.ts');`],
    ['src/surfaces/chat/chat.ts', `import { redis } from '#/adapters/redis/redis.ts';`],
    ['src/gateway.ts', `import { redis } from './adapters/redis/redis.ts';`],
    ['src/observer.ts', `import { openai } from './providers/registry.ts';`],
    ['src/surfaces/chat/chat.ts', `import { buildGateway } from '#/gateway.ts';`],
    ['src/cli/gwctl.ts', `import { chat } from '#/surfaces/chat/chat.ts';`],
    ['src/telemetry/log.ts', `import { start } from '#/main.ts';`],
    ['src/call/call.ts', `import { gate } from '../../test/harness/gate.ts';`],
    ['src/call/call.ts', `import { ocr } from '../../inference/ocr.ts';`],
    ['inference/server.ts', `import { GatewayError } from '../src/errors/gateway-error.ts';`],
    ['operators/reconcile.ts', `import type { Call } from '../src/call/call.ts';`],
    ['src/new-room/thing.ts', `import { readDocument } from '#/wire/document/document.ts';`],
  ])('%s may not: %s', (path, text) => {
    expect(check(path, text)).toHaveLength(1);
  });

  test.each([
    ['src/adapters/memory/spend.ts', `import { formatEuro, type NanoEuro } from '#/values/money.ts';`],
    ['src/adapters/memory/spend.ts', `import { type Chain } from '#/seal/chain.ts';`],
    ['src/wire/chat/read-stream.ts', `// see the following\n// import { serve } from '#/pipeline/model-call.ts';`],
    ['src/wire/chat/read-stream.ts', `import { createHash } from 'node:crypto';`],
    ['src/pipeline/model-call.ts', `import { GatewayError } from '#/errors/gateway-error.ts';`],
    ['src/pipeline/model-call.ts', `import { price } from '#/meter/pricing/price.ts';`],
    ['src/pipeline/pipeline.test.ts', `import { memory } from '#/adapters/memory/counters.ts';`],
    ['src/surfaces/chat/chat.ts', `import { serve } from '#/pipeline/model-call.ts';`],
    ['src/surfaces/chat/chat.ts', `import { member } from '#/wire/document/scan.ts';`],
    ['src/ports/ledger.ts', `import type { NanoEuro } from '#/values/money.ts';`],
    ['src/config/resources/vendors.ts', `import { VENDORS } from '#/vendors/list.ts';`],
    ['src/vendors/openai.ts', `import type { Traits } from '#/wire/hub/traits.ts';`],
    ['src/main.ts', `import { redis } from '#/adapters/redis/redis.ts';\nconst a = 1;`],
    ['src/main.ts', `import { openai } from '#/providers/registry.ts';`],
    ['src/gateway.ts', `import { chat } from './surfaces/chat/chat.ts';\nimport { log } from './observer.ts';`],
    ['src/cli/gwctl.ts', `import { ledger } from '#/adapters/postgres/ledger.ts';`],
    ['inference/server.ts', `import { schema } from '../src/config/schema.ts';`],
  ])('%s may: %s', (path, text) => {
    expect(check(path, text)).toEqual([]);
  });
});

test('a violation names the file, the line, the import and the rule', () => {
  expect(check('src/wire/x.ts', `import { a } from './a.ts';\n\nimport { b } from '#/surfaces/b.ts';\n`)).toEqual([
    `src/wire/x.ts:3: '#/surfaces/b.ts': wire may not import surfaces; it may import config, errors, telemetry`,
  ]);
});

describe('rooms', () => {
  test('are reached by their alias from other rooms', () => {
    expect(check('src/pipeline/model-call.ts', `import { price } from '../meter/pricing/price.ts';`)).toHaveLength(1);
    expect(check('src/pipeline/model-call.ts', `import { price } from '#/meter/pricing/price.ts';`)).toEqual([]);
    expect(check('test/contract/x.test.ts', `import { price } from '../../src/meter/pricing/price.ts';`)).toEqual([]);
  });

  test('are relative inside', () => {
    expect(check('src/meter/hold.ts', `import { price } from './pricing/price.ts';`)).toEqual([]);
    expect(check('src/meter/settlement/x.ts', `import { periods } from '../periods.ts';`)).toEqual([]);
  });
});

describe('shape', () => {
  test('exports are named', () => {
    expect(check('src/wire/x.ts', `const a = 1;\nexport default a;\n`)).toEqual([
      'src/wire/x.ts:2: default export; exports are named',
    ]);
    expect(check('src/wire/x.ts', `export { a as default };`)).toHaveLength(1);
    expect(check('src/wire/x.ts', `export const defaults = 1;`)).toEqual([]);
  });

  test('a file has at most 400 lines, a test too', () => {
    expect(check('src/wire/x.ts', 'x;\n'.repeat(400))).toEqual([]);
    expect(check('src/wire/x.ts', 'x;\n'.repeat(401))).toEqual(['src/wire/x.ts: 401 lines; at most 400']);
    expect(check('src/wire/x.test.ts', 'x;\n'.repeat(401))).toEqual(['src/wire/x.test.ts: 401 lines; at most 400']);
    expect(check('test/attack/x.test.ts', 'x;\n'.repeat(401))).toHaveLength(1);
    expect(check('test/harness/x.ts', 'x;\n'.repeat(400))).toEqual([]);
  });

  test('the environment is read in one place', () => {
    expect(check('src/config/sources.ts', `const a = 1;\nconst home = process.env.HOME;`)).toHaveLength(1);
    expect(check('src/config/sources.ts', `import { env } from 'node:process';`)).toHaveLength(1);
    expect(check('src/config/sources.ts', `// process.env is read in main.ts\n/* process.env */`)).toEqual([]);
    expect(check('src/settings/reader.ts', `const home = process.env.HOME;`)).toEqual([]);
    expect(check('src/cli/keys.ts', `const home = process.env.HOME;`)).toHaveLength(1);
  });
});

describe('paths in the documents', () => {
  const world = {
    exists: (path: string): boolean => ['src/wire', 'src/wire/answer/sse.ts', 'k8s', 'package.json'].includes(path),
    named: (name: string): boolean => name === 'sse.ts',
  };
  const paths = (text: string, path = 'README.md'): string[] => badPaths({ path, text }, world);

  test('must exist, from the root or from the document', () => {
    expect(paths('See `src/wire/answer/sse.ts:12`, `src/wire/`, `sse.ts`, `k8s/` and `package.json`.')).toEqual([]);
    expect(paths('See `wire/answer/sse.ts`.', 'src/README.md')).toEqual([]);
    expect(paths('# A\n\nSee `src/wire/gone.ts`.')).toEqual(['README.md:3: `src/wire/gone.ts` does not exist']);
    expect(paths('`src/nowhere/` `gone.ts` `wire/answer/sse.ts` `tools/x`')).toHaveLength(4);
  });

  test('are checked up to a wildcard or placeholder', () => {
    expect(paths('`src/wire/*.ts`, `src/wire/{a,b}.ts` and `src/wire/<family>/leaves.ts`')).toEqual([]);
    expect(paths('`src/nowhere/**/*.ts`')).toHaveLength(1);
  });

  test('are not: URLs, model names, media types, aliases, commands, fenced blocks', () => {
    expect(
      paths('`/v1/messages` `openai/gpt-5.1` `application/json` `#wire/x.ts` `node src/x.ts` `https://a.b/c.ts`'),
    ).toEqual([]);
    expect(paths('```\n`src/gone.ts`\n```\n')).toEqual([]);
  });
});

test('links in the documents lead to files', () => {
  const links = (text: string): string[] => badLinks({ path: 'docs/a.md', text }, (path) => path === 'src/b.md');
  expect(links('[b](../src/b.md), [b](../src/b.md#part), [here](#part), `a[1](b)`, [far](https://a.b/c.md)')).toEqual(
    [],
  );
  expect(links('\n[b](src/b.md)')).toEqual(['docs/a.md:2: the link to src/b.md leads nowhere']);
});

test('a number belongs to one decision', () => {
  expect(numbersTwice(['d/0001-a.md', 'd/0002-b.md'])).toEqual([]);
  expect(numbersTwice(['d/0001-a.md', 'd/0001-b.md'])).toEqual(['d/0001-b.md: 0001-a.md has the number 0001 already']);
});

describe('functions', () => {
  test.each([
    `    rewrite.where = (at) => pathTo(root, at);`,
    `    const where = (rewrite.where = (at: number): string => pathTo(root, at));`,
    `    this.#take = async (data) => sink.onData(data);`,
    `    command.reject = function (error) {`,
  ])('are not written where a property is assigned: %s', (text) => {
    expect(check('src/call/call.ts', text)).toHaveLength(1);
    expect(check('src/main/start.ts', text)).toEqual([]);
  });

  test.each([
    `    const where = (at: number): string => pathTo(root, at);`,
    `  readonly #onAbort = (): void => this.#end();`,
    `    rewrite.where = where;`,
    `    this.known = items.some((item) => item.known);`,
  ])('may be written as: %s', (text) => {
    expect(check('src/call/call.ts', text)).toEqual([]);
  });
});

describe('inside a room', () => {
  test.each([
    ['src/wire/chat/x.ts', `import { a } from '../gemini/a.ts';`],
    ['src/wire/document/x.ts', `import { a } from '../hub/a.ts';`],
    ['src/inspect/detectors/x.ts', `import { a } from '../restore/a.ts';`],
    ['src/seal/verify/x.ts', `import { a } from '../content/a.ts';`],
    ['src/meter/pricing/x.ts', `import { a } from '../meter.ts';`],
    ['src/cli/stores/x.ts', `import { a } from '../price/a.ts';`],
    ['inference/ocr/x.ts', `import { a } from '../formats/a.ts';`],
    ['operators/cluster/x.ts', `import { a } from '../controller.ts';`],
  ])('%s may not: %s', (path, text) => {
    expect(check(path, text)).toHaveLength(1);
  });

  test.each([
    ['src/wire/chat/x.ts', `import { a } from '../hub/a.ts';`],
    ['src/wire/completions/x.ts', `import { a } from '../chat/a.ts';`],
    ['src/inspect/detectors/x.ts', `import { a } from '../match.ts';`],
    ['inference/formats/pdf/x.ts', `import { a } from '../../ocr/a.ts';`],
    ['operators/controller.ts', `import { a } from './cluster/a.ts';`],
  ])('%s may: %s', (path, text) => {
    expect(check(path, text)).toEqual([]);
  });
});

test('files import each other in one direction, types included', () => {
  const a = { path: 'src/call/a.ts', text: `import type { B } from './b.ts';` };
  const b = { path: 'src/call/b.ts', text: `import type { A } from './a.ts';` };
  expect(violations([a, b], ALIASES)).toHaveLength(1);
  expect(violations([a, { ...b, text: '' }], ALIASES)).toEqual([]);
});

test('rooms import each other in one direction, types included', () => {
  const port = { path: 'src/ports/a.ts', text: `import type { B } from '#/config/b.ts';` };
  const config = { path: 'src/config/b.ts', text: '' };
  const back = { path: 'src/config/c.ts', text: `import type { A } from '#/ports/a.ts';` };
  expect(violations([port, config], ALIASES)).toEqual([]);
  const found = violations([port, config, back], ALIASES);
  expect(found).toContainEqual(expect.stringContaining('this room imports itself in a circle'));
  expect(found.join('\n')).toMatch(/ports -> config -> ports|config -> ports -> config/);
});

test('a function has at most 60 lines', () => {
  const body = (lines: number): string => `export function f(): void {\n${'g();\n'.repeat(lines - 2)}}\n`;
  expect(check('src/wire/x.ts', body(60))).toEqual([]);
  expect(check('src/wire/x.ts', body(61))).toEqual(['src/wire/x.ts:1: f has 61 lines; at most 60']);
  expect(check('src/wire/x.test.ts', body(61))).toEqual([]);
});

test('folders of a room import each other in one direction, types included', () => {
  const checkpoint = { path: 'src/seal/checkpoints/a.ts', text: `import type { B } from '../export/b.ts';` };
  const proof = { path: 'src/seal/export/b.ts', text: `import { c } from '../checkpoints/c.ts';` };
  const both = violations([checkpoint, proof], ALIASES);
  expect(both).toContain('seal: checkpoints, export: these folders import each other; move what both need below them');
  expect(violations([{ ...checkpoint, text: '' }, proof], ALIASES)).toEqual([]);
});
