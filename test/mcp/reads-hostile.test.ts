import { describe, expect, test } from 'vitest';
import { answering, list, MAIL, neighbour, one, read, row, serve, server, text, two, world } from './reads-world.ts';
import { ask } from './world.ts';

/** Servers that try to reach other servers, clients or the gateway's memory with what they list and return. */

describe('hostile servers', () => {
  test('addresses of theirs lead to no other server, and none runs in a client', async () => {
    const victim = `gw-${two}+memo://secret`;
    await serve({
      'resources/list': () => ({
        resources: [
          ...[
            victim,
            'javascript:alert(1)',
            'JavaScript:alert(1)',
            'data:text/html,x',
            'memo://a\u202eb',
            'memo://a/../b',
            'x',
            '',
          ].map((uri) => ({ uri, name: 'n' })),
          {
            uri: 'file:///etc/passwd',
            name: 'f',
            icons: [{ src: 'javascript:1' }],
            _meta: { a: 1 },
            annotations: { audience: ['x'] },
          },
          { uri: 7, name: 'n' },
          { uri: 'memo://nameless' },
          null,
        ],
      }),
      'resources/read': ({ uri }) => text(victim, String(uri)),
    });
    expect(await list('resources/list', `/v1/mcp/${one}`)).toEqual([
      { uri: victim, name: 'n' },
      { uri: 'file:///etc/passwd', name: 'f' },
    ]);
    expect((await list('resources/list')).map(({ uri }) => uri).slice(0, 2)).toEqual([
      `gw-${one}+${victim}`,
      `gw-${one}+file:///etc/passwd`,
    ]);
    const led = await read(`gw-${one}+${victim}`, '/v1/mcp');
    expect(led.body.result?.['contents']).toEqual([
      { uri: `gw-${one}+${victim}`, mimeType: 'text/plain', text: victim },
    ]);
    expect(neighbour.of('resources/read')).toEqual([]);
    for (const uri of [
      'javascript:alert(1)',
      'memo://a/%2e%2e/b',
      'memo://a/..;/b',
      '{+x}',
      'memo',
      `gw-${one}+data:x,y`,
    ])
      expect((await read(uri, uri.startsWith('gw-') ? '/v1/mcp' : undefined)).body.error?.code).toBe(-32602);
  });

  test('links in results of tools name the server that said them', async () => {
    const victim = `gw-${two}+memo://secret`;
    server.behaviour.call = ({ body }, response) => {
      const content = `[{"type":"resource_link","\\u0075ri":"${victim}","uri":"${victim}","name":"n"},{"type":"resource","resource":{"uri":"memo://b","text":"x"}}]`;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        `{"jsonrpc":"2.0","id":${JSON.stringify(body.id)},"result":{"resultType":"complete","content":${content}}}`,
      );
      return undefined;
    };
    await serve({});
    const call = () => ask(world, 'modern', '/v1/mcp', 'tools/call', { name: `${one}__echo`, arguments: {} });
    const offered = await call();
    expect(offered.text).not.toContain(`"${victim}"`);
    expect(offered.text).toContain(`"gw-${one}+memo://b"`);
    await serve({}, { spec: { offer: ['Tools'] } });
    await expect.poll(async () => (await call()).text).toContain('"memo://b"');
    expect((await call()).text).not.toContain(`"${victim}"`);
    const own = await ask(world, 'modern', `/v1/mcp/${one}`, 'tools/call', { name: 'echo', arguments: {} });
    expect(own.text).toContain(`"${victim}"`);
  });

  test('results and resources with links without an end are refused where servers are offered together', async () => {
    const many = Array.from({ length: 10_001 }, (_, at) => ({ type: 'resource_link', uri: `memo://${at}`, name: 'n' }));
    const contents = many.map(({ uri }) => ({ uri, text: 'x' }));
    server.behaviour.call = () => ({ resultType: 'complete', content: many });
    await serve({ 'resources/read': () => ({ contents }) });
    const called = await ask(world, 'modern', '/v1/mcp', 'tools/call', { name: `${one}__echo`, arguments: {} });
    const resource = await read(`gw-${one}+memo://a`, '/v1/mcp');
    for (const answer of [called, resource]) {
      expect(answer.text).toContain('cannot be inspected');
      expect(await row(answer)).toMatchObject({ units: { calls: 1 }, code: 'upstream_error' });
    }
    expect((await read('memo://a')).body.result?.['contents']).toEqual(contents);
  });

  test('lists without an end are cut and say so', async () => {
    let page = 0;
    await serve({
      'resources/list': () => ({
        resources: Array.from({ length: 40 }, (_, index) => ({ uri: `memo://${page}/${index}`, name: 'n' })),
        nextCursor: String(++page),
      }),
    });
    const first = await ask(world, 'modern', `/v1/mcp/${one}`, 'resources/list');
    expect(first.body.result?.['_meta']).toEqual({ 'gatewarden.dev/cut': [one] });
    expect(first.body.result?.['resources']).toHaveLength(500);
    const cursor = first.body.result?.['nextCursor'];
    const second = await ask(world, 'modern', `/v1/mcp/${one}`, 'resources/list', { cursor });
    expect(second.body.result?.['resources']).toHaveLength(500);
    expect(second.body.result).not.toHaveProperty('nextCursor');
    const wrong = await ask(world, 'modern', `/v1/mcp/${one}`, 'resources/list', { cursor: 'x' });
    expect(wrong.body.error?.code).toBe(-32602);
    expect(server.of('resources/list').length).toBeLessThan(60);
  });

  test('cursors name no address that policy leaves out, and pages go on after it', async () => {
    // The ends of the first page and all of the second are left out.
    const isLeftOut = (at: number): boolean => at === 498 || at === 499 || (at >= 500 && at < 1000);
    const uriOf = (at: number): string => (isLeftOut(at) ? `memo://${at}/ada@example.com` : `memo://${at}/x`);
    await serve(
      {
        'resources/list': () => ({
          resources: Array.from({ length: 1000 }, (_, at) => ({ uri: uriOf(at), name: 'n' })),
        }),
      },
      { policy: { dlp: { mode: 'Tokenize', tools: { results: 'Mask' } } } },
    );
    // The other server's follow.
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const { body } = await ask(world, 'modern', '/v1/mcp', 'resources/list', cursor === undefined ? {} : { cursor });
      const result = body.result as unknown as { resources: readonly { uri: string }[]; nextCursor?: string };
      seen.push(...result.resources.map(({ uri }) => uri));
      cursor = result.nextCursor;
      if (cursor !== undefined) expect(Buffer.from(cursor, 'base64url').toString()).not.toContain('@');
    } while (cursor !== undefined);
    const shown = Array.from({ length: 498 }, (_, at) => uriOf(at));
    expect(seen).toEqual([one, two].flatMap((name) => shown.map((uri) => `gw-${name}+${uri}`)));
    for (const foreign of ['', 'x', 'MCBtZW1vOi8veA', 7])
      expect((await ask(world, 'modern', '/v1/mcp', 'resources/list', { cursor: foreign })).body.error?.code).toBe(
        -32602,
      );
  });

  test.each([
    ['no contents', 'resources/read', {}],
    ['contents that are no list', 'resources/read', { contents: { uri: 'memo://a', text: 'x' } }],
    ['both texts and bytes', 'resources/read', { contents: [{ uri: 'memo://a', text: 'x', blob: 'eA==' }] }],
    ['an object as text', 'resources/read', { contents: [{ uri: 'memo://a', text: { a: 1 } }] }],
    ['bytes that are not base64', 'resources/read', { contents: [{ uri: 'memo://a', blob: 'no base64!' }] }],
    ['a wish for input', 'resources/read', { resultType: 'input_required', inputRequests: {} }],
    ['messages of a system', 'prompts/get', { messages: [{ role: 'system', content: { type: 'text', text: 'x' } }] }],
    ['content in a list', 'prompts/get', { messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }] }],
    ['too many values', 'completion/complete', { completion: { values: Array.from({ length: 101 }, () => 'x') } }],
    ['a number as value', 'completion/complete', { completion: { values: [1] } }],
  ])('%s is no answer to %s', async (_name, method, result) => {
    await serve({
      'prompts/list': () => ({ prompts: [{ name: 'p', arguments: [{ name: 'a' }] }] }),
      [method]: () => result,
    });
    const params = {
      'resources/read': { uri: 'memo://a' },
      'prompts/get': { name: 'p' },
      'completion/complete': { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } },
    }[method];
    const answer = await ask(world, 'legacy', `/v1/mcp/${one}`, method, params);
    expect([answer.status, answer.body.error?.code, answer.body.error?.data?.['code']]).toEqual([
      502,
      -32010,
      'upstream_error',
    ]);
    expect(await row(answer)).toMatchObject({ units: { calls: 1 }, code: 'upstream_error' });
  });

  test('a resource of 10 MiB passes, and a larger one is refused', async () => {
    let size = 0;
    await serve({ 'resources/read': () => text('memo://a', 'x'.repeat(size)) });
    size = 10 * 1024 * 1024 - 1024;
    expect((await read('memo://a')).text.length).toBeGreaterThan(size);
    size = 11 * 1024 * 1024;
    const refused = await read('memo://a');
    expect(refused).toMatchObject({ status: 200, body: { error: { data: { code: 'result_too_large' } } } });
  }, 60_000);

  test('an error of a server passes, with its addresses and its code in the words of the client', async () => {
    await serve({
      'resources/read': () => ({ error: { code: -32002, message: `No ${MAIL}`, data: { uri: 'memo://a' } } }),
    });
    const modern = await read(`gw-${one}+memo://a`, '/v1/mcp');
    expect(modern.body.error).toEqual({ code: -32602, message: `No ${MAIL}`, data: { uri: `gw-${one}+memo://a` } });
    const legacy = await ask(world, 'legacy', `/v1/mcp/${one}`, 'resources/read', { uri: 'memo://a' });
    expect(legacy.body.error?.code).toBe(-32002);
    expect((await row(legacy)).tool).toMatchObject({ is_error: true, result_findings: { EMAIL: 1 } });
  });

  test('a list without any server fails', async () => {
    await serve({ 'prompts/list': () => ({ prompts: 'none' }) });
    const failed = await ask(world, 'modern', '/v1/mcp', 'prompts/list');
    expect([failed.status, failed.body.error?.code]).toEqual([503, -32010]);
  });

  test('a list with a server that is away names it', async () => {
    await serve({ 'prompts/list': () => ({ prompts: [{ name: 'a' }] }) });
    server.behaviour.other = answering({ 'prompts/list': () => ({ prompts: 7 }) });
    const half = await ask(world, 'modern', '/v1/mcp', 'prompts/list');
    expect(half.headers.get('x-gw-unavailable')).toBe(one);
    expect(half.body.result?.['_meta']).toEqual({ 'gatewarden.dev/unavailable': [one] });
  });
});
