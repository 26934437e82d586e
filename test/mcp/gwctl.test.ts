import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { openEmbeddedPostgres } from '#/adapters/pglite/embedded-postgres.ts';
import { openPostgresPins, type PostgresPins } from '#/adapters/postgres/tool-pins.ts';
import type { PutPin } from '#/ports/tool-pins.ts';
import { embeddedDataDir } from '../contract/ledger-subjects.ts';
import { runGwctl } from '../harness/gwctl.ts';
import { createDatabase } from '../harness/postgres.ts';

/** What `gwctl mcp` says of pins, and what it refuses. */

const NOW = Date.UTC(2026, 10, 27);
const pin = (tool: string, digit: string, state: PutPin['state'], description = digit): PutPin => ({
  tool,
  sha256: digit.repeat(64),
  state,
  since: NOW,
  by: 'gateway:pin',
  definition: JSON.stringify({ description, name: tool }),
});

let url: string;
let pins: PostgresPins;

beforeAll(async () => {
  url = await createDatabase(inject('databaseUrl'));
  pins = await openPostgresPins({ connectionString: url });
});
afterAll(() => pins.close());

const gwctl = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runGwctl(['mcp', ...args], { env: { DATABASE_URL: url, ...env } });

const put = (organization: string, server: string, ...all: PutPin[]) =>
  pins.change({ organization, server, mode: 'pin', version: 0, put: all, drop: [] });

test('says that there are no servers yet', async () => {
  const empty = await createDatabase(inject('databaseUrl'));
  await (await openPostgresPins({ connectionString: empty })).close();
  expect(await gwctl(['servers', '--database-url', empty])).toEqual({
    status: 0,
    out: '',
    err: 'no gateway has listed the tools of a server yet\n',
  });
});

test('finds a server by its name where that is enough, and asks for more where it is not', async () => {
  await put('one/acme', 'one/crm', pin('find', 'a', 'accepted'));
  await put('two/acme', 'two/crm', pin('find', 'b', 'accepted'));
  await put('two/rival', 'two/crm', pin('find', 'c', 'accepted'));
  expect((await gwctl(['tools', 'one/crm'])).out).toContain('a'.repeat(64));
  const many = await gwctl(['tools', 'crm']);
  expect(many).toMatchObject({ status: 2, out: '' });
  expect(many.err).toContain('one/crm of one/acme, two/crm of two/acme, two/crm of two/rival: name its namespace');
  expect((await gwctl(['accept', 'two/crm', '--actor', 'ada'])).err).toContain('and --organization');
  expect((await gwctl(['tools', 'crm', '--organization', 'two/rival'])).out).toContain('c'.repeat(64));
  expect((await gwctl(['tools', 'nothing\u001b[2J'])).err).toContain(
    'no gateway has listed the tools of a server "nothing<U+001B>[2J"',
  );
  const servers = await gwctl(['servers', '--json', '--organization', 'two/acme']);
  expect(JSON.parse(servers.out)).toEqual({
    organization: 'two/acme',
    server: 'two/crm',
    list: 'tools',
    mode: 'Pin',
    accepted: 1,
    quarantined: 0,
    removed: 0,
  });
});

test('accepts what a person has seen, once, and says who it was', async () => {
  await put('team/acme', 'team/shop', pin('find', 'a', 'accepted'), pin('find', 'b', 'quarantined', 'evil\u202e'));
  const diff = await gwctl(['diff', 'shop', 'find']);
  expect(diff.status).toBe(1);
  expect(diff.out).toContain('description\n  - "a"\n  + "evil<U+202E>"\n');
  expect(diff.out).toContain('Characters in it that cannot be seen: 1');
  const other = await gwctl(['accept', 'shop', 'find', '--sha256', 'c'.repeat(64), '--actor', 'ada']);
  expect(other).toMatchObject({ status: 2, out: '' });
  expect(other.err).toContain(`the quarantined definition of find is another one, ${'b'.repeat(64)}: look at it again`);
  const accepted = await gwctl(['accept', 'shop', 'find', '--sha256', 'b'.repeat(64)], { USER: 'ada' });
  expect(accepted).toEqual({ status: 0, out: `accepted find ${'b'.repeat(64)} of team/shop, by ada\n`, err: '' });
  const of = { organization: 'team/acme', server: 'team/shop' };
  expect(await pins.read(of)).toMatchObject({
    version: 2,
    pins: [
      {
        tool: 'find',
        sha256: 'b'.repeat(64),
        state: 'accepted',
        by: 'ada',
        since: expect.closeTo(Date.now(), -5) as number,
      },
    ],
  });
  expect(await gwctl(['accept', 'shop', 'find'], { USER: 'ada' })).toEqual({
    status: 1,
    out: '',
    err: 'find of team/shop is not quarantined\n',
  });
  expect((await gwctl(['diff', 'shop', 'find'])).status).toBe(0);
});

test('accepts all quarantined definitions of a server, and no others', async () => {
  const quarantined = [pin('a', '1', 'quarantined'), pin('b', '2', 'quarantined')];
  await put('team/acme', 'team/all', ...quarantined, pin('b', '3', 'removed'), pin('c', '4', 'removed'));
  const { status, out } = await gwctl(['accept', 'all', '--actor', 'Ada L.']);
  expect({ status, lines: out.split('\n').length }).toEqual({ status: 0, lines: 3 });
  const found = await pins.read({ organization: 'team/acme', server: 'team/all' });
  expect(found).toMatchObject({
    pins: [
      { tool: 'a', state: 'accepted', by: 'Ada L.' },
      { tool: 'b', sha256: '2'.repeat(64), state: 'accepted' },
      { tool: 'c', state: 'removed', by: 'gateway:pin' },
    ],
  });
});

test.each([
  [['tools'], 'give one server'],
  [['diff', 'shop'], 'give one server and one tool'],
  [['diff', 'shop', 'nothing'], 'has no tool of this name'],
  [['accept'], 'give one server'],
  [['accept', 'shop'], '--actor is missing'],
  [['accept', 'shop', '--actor', ' '], '--actor is missing'],
  [['accept', 'shop', '--actor', 'gateway:first-list'], '--actor takes a name'],
  [['accept', 'shop', '--actor', 'a\u202eb'], '--actor takes a name'],
  [['accept', 'shop', '--sha256', 'a'.repeat(64), '--actor', 'ada'], 'name the tool'],
  [['accept', 'shop', 'find', '--sha256', 'abc', '--actor', 'ada'], '64 hexadecimal digits'],
  [['servers', '--database-url', 'mysql://x'], '--database-url takes'],
  [['servers', '--list', 'resources'], '--list takes tools, prompts or instructions'],
])('%j ends with 2 and says why', async (args, reason) => {
  const { status, out, err } = await gwctl(args);
  expect({ status, out }).toEqual({ status: 2, out: '' });
  expect(err).toContain(reason);
  expect(err).not.toContain('    at ');
});

test('reads the folder of an embedded gateway', async () => {
  const dataDir = await embeddedDataDir();
  const database = await openEmbeddedPostgres({ dataDir });
  const store = await openPostgresPins({ connectionString: database.connectionString });
  const change = { organization: 'team/acme', server: 'team/crm', mode: 'pin', version: 0, drop: [] } as const;
  await store.change({ ...change, put: [pin('find', 'a', 'accepted')] });
  await store.close();
  await database.close();
  const { status, out } = await gwctl(['tools', 'crm', '--data-dir', dataDir]);
  rmSync(dataDir, { recursive: true });
  expect({ status, out }).toEqual({
    status: 0,
    out: `find  accepted     ${'a'.repeat(64)}  2026-11-27T00:00:00.000Z  by gateway:pin\n`,
  });
});

test('prompts and instructions of a server have lists of their own', async () => {
  await put('lists/acme', 'lists/desk', pin('find', 'a', 'accepted'));
  await put('lists/acme', 'lists/desk prompts', pin('find', 'b', 'accepted'), pin('find', 'c', 'quarantined'));
  await put('lists/acme', 'lists/desk instructions', pin('instructions', 'd', 'accepted'));
  expect((await gwctl(['servers', '--organization', 'lists/acme'])).out.split('\n').filter(Boolean).toSorted()).toEqual(
    [
      'lists/desk  instructions  of lists/acme  Pin  1 accepted, 0 quarantined, 0 removed',
      'lists/desk  prompts  of lists/acme  Pin  1 accepted, 1 quarantined, 0 removed',
      'lists/desk  tools  of lists/acme  Pin  1 accepted, 0 quarantined, 0 removed',
    ],
  );
  expect(await gwctl(['servers', '--organization', 'lists/acme', '--list', 'prompts'])).toMatchObject({
    status: 0,
    out: 'lists/desk  prompts  of lists/acme  Pin  1 accepted, 1 quarantined, 0 removed\n',
  });
  expect((await gwctl(['tools', 'desk'])).out).not.toContain('b'.repeat(64));
  expect((await gwctl(['tools', 'desk', '--list', 'instructions'])).out).toContain('d'.repeat(64));
  expect((await gwctl(['accept', 'desk'], { USER: 'ada' })).err).toBe(
    'nothing of the tools of lists/desk is quarantined\n',
  );
  const diff = await gwctl(['diff', 'desk', 'find', '--list', 'prompts']);
  expect(diff.out).toContain('gwctl mcp accept lists/desk find --list prompts --organization lists/acme --sha256 c');
  const accepted = await gwctl(['accept', 'lists/desk', '--list', 'prompts'], { USER: 'ada' });
  expect(accepted).toMatchObject({ status: 0, out: `accepted find ${'c'.repeat(64)} of lists/desk, by ada\n` });
  expect((await gwctl(['tools', 'desk', '--list', 'resources'])).err).toContain('--list takes tools, prompts or instr');
  expect((await gwctl(['diff', 'desk', 'none', '--list', 'prompts'])).err).toContain('has no prompt of this name');
});
