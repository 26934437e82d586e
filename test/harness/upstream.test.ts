import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { brokenJson, chat, cutOff, echo, gated, hang, json, notHttp, sse, text } from './answers.ts';
import { DONE, hugeFrame } from './frames.ts';
import { gate } from './gate.ts';
import { parseSse, sseData } from './sse.ts';
import { startUpstream, type Upstream } from './upstream.ts';

interface Answered {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  /** The pieces in which the body arrived. */
  readonly pieces: readonly Buffer[];
  /** Error code of a body that broke off. */
  readonly broken?: string;
}

/** A bare client: what came, in which pieces, and how it ended. Rejects when no answer began. */
function post(upstream: Upstream, body: unknown, onPiece: (piece: Buffer) => void = () => {}): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(`${upstream.url}/chat/completions`, { method: 'POST', agent: false }, (incoming) => {
      sent.removeListener('error', reject).on('error', () => {});
      const pieces: Buffer[] = [];
      const done = (broken?: string): void => {
        const { statusCode = 0, headers } = incoming;
        resolve({ status: statusCode, headers, body: Buffer.concat(pieces), pieces, ...(broken ? { broken } : {}) });
      };
      incoming.on('data', (piece: Buffer) => {
        pieces.push(piece);
        onPiece(piece);
      });
      incoming.on('end', () => done());
      incoming.on('error', (error: NodeJS.ErrnoException) => done(error.code));
    });
    sent.on('error', reject);
    sent.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
}

const ASK = { messages: [{ role: 'user', content: 'Say it' }] };
const ASK_STREAM = { ...ASK, stream: true, stream_options: { include_usage: true } };

const contentOf = (body: Buffer): string =>
  sseData(body)
    .filter((data) => data !== '[DONE]')
    .map((data) => (JSON.parse(data) as { choices: { delta: { content?: string } }[] }).choices[0]?.delta.content ?? '')
    .join('');

describe('requests', () => {
  test('are kept as they came', async () => {
    await using upstream = await startUpstream();
    const raw = '{"messages":[], "n":1.0,  "big":9007199254740993123}';
    await post(upstream, raw);
    const [request] = upstream.requests;
    expect(request).toMatchObject({ method: 'POST', path: '/v1/chat/completions', body: raw });
    expect(request?.headers['content-length']).toBe(String(raw.length));
    await expect(request?.ended).resolves.toBe('answered');
  });

  test('can be awaited before they come', async () => {
    await using upstream = await startUpstream();
    const second = upstream.request(1);
    await post(upstream, ASK);
    await post(upstream, { ...ASK, n: 2 });
    await expect(second).resolves.toBe(upstream.requests[1]);
  });

  test('awaited in vain are refused at the close', async () => {
    const upstream = await startUpstream();
    const never = upstream.request(3);
    await upstream.close();
    await expect(never).rejects.toThrow('closed before');
  });

  test('a client that leaves is told from an answer that is cut', async () => {
    await using upstream = await startUpstream(hang());
    const sent = httpRequest(`${upstream.url}/chat/completions`, { method: 'POST' });
    sent.on('error', () => {});
    sent.end('{}');
    const left = await upstream.request(0);
    sent.destroy();
    await expect(left.ended).resolves.toBe('left');
    upstream.respond(cutOff());
    await expect(post(upstream, ASK)).rejects.toMatchObject({ code: 'ECONNRESET' });
    await expect(upstream.requests[1]?.ended).resolves.toBe('cut');
  });
});

describe('scripts', () => {
  test('are worked off in order, and the last one stays', async () => {
    await using upstream = await startUpstream();
    upstream.respond([
      text('busy', { status: 503, headers: { 'retry-after': '2' } }),
      json({ ok: 1 }),
      json({ ok: 2 }, 201),
    ]);
    const answers = [
      await post(upstream, ASK),
      await post(upstream, ASK),
      await post(upstream, ASK),
      await post(upstream, ASK),
    ];
    expect(answers.map(({ status }) => status)).toEqual([503, 200, 201, 201]);
    expect(answers[0]?.headers['retry-after']).toBe('2');
    expect(answers[0]?.body.toString()).toBe('busy');
  });

  test('run at the same time', async () => {
    const [first, second] = [gate(), gate()];
    await using upstream = await startUpstream();
    upstream.respond([gated(first, json('first')), gated(second, json('second'))]);
    const order: string[] = [];
    const track = async (): Promise<void> => void order.push((await post(upstream, ASK)).body.toString());
    const one = track();
    await first.waiting();
    const two = track();
    await second.waiting();
    second.open();
    await two;
    first.open();
    await one;
    expect(order).toEqual(['"second"', '"first"']);
  });

  test('that fail are told at the close', async () => {
    const upstream = await startUpstream(() => {
      throw new Error('a mistake in the test');
    });
    await expect(post(upstream, ASK)).rejects.toMatchObject({ code: 'ECONNRESET' });
    await expect(upstream.close()).rejects.toMatchObject({ errors: [{ message: 'a mistake in the test' }] });
  });
});

describe('a model', () => {
  const call = { id: 'call_1', name: 'look_up', arguments: ['{"q":', '"x"}'] };

  test('answers buffered', async () => {
    await using upstream = await startUpstream(
      chat({ content: ['Hel', 'lo'], toolCalls: [call], usage: { prompt_tokens: 3 } }),
    );
    const { headers, body } = await post(upstream, ASK);
    expect(headers['content-type']).toBe('application/json');
    expect(JSON.parse(body.toString())).toMatchObject({
      object: 'chat.completion',
      choices: [
        {
          message: {
            content: 'Hello',
            tool_calls: [{ id: 'call_1', function: { name: 'look_up', arguments: '{"q":"x"}' } }],
          },
          finish_reason: 'tool_calls',
        },
      ],
      usage: { prompt_tokens: 3 },
    });
  });

  test('streams when asked to, with usage when asked to', async () => {
    await using upstream = await startUpstream(chat({ content: ['Hel', 'lo'] }));
    const withUsage = sseData((await post(upstream, ASK_STREAM)).body);
    expect(withUsage.at(-1)).toBe('[DONE]');
    expect(JSON.parse(withUsage.at(-2) ?? '')).toMatchObject({ choices: [], usage: { total_tokens: 15 } });
    const without = sseData((await post(upstream, { ...ASK, stream: true })).body);
    expect(without.filter((data) => data.includes('usage'))).toEqual([]);
    expect(JSON.parse(without.at(-2) ?? '')).toMatchObject({ choices: [{ delta: {}, finish_reason: 'stop' }] });
  });

  test('can leave out usage, finish reason and [DONE], and put comments first', async () => {
    await using upstream = await startUpstream(
      chat({ content: 'x', usageFrame: 'never', finishReason: null, done: false, before: [{ comment: 'hold on' }] }),
    );
    const messages = parseSse((await post(upstream, ASK_STREAM)).body);
    expect(messages[0]).toEqual({ type: 'comment', text: 'hold on' });
    expect(JSON.stringify(messages)).not.toMatch(/usage|DONE|"stop/);
  });

  test('streams a tool call in pieces', async () => {
    await using upstream = await startUpstream(chat({ toolCalls: [call], usageFrame: 'always' }));
    const chunks = sseData((await post(upstream, { ...ASK, stream: true })).body).slice(0, -1);
    const deltas = chunks.map((data) => JSON.parse(data) as { choices: { delta: { tool_calls?: unknown[] } }[] });
    expect(deltas.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])).toEqual([
      { index: 0, id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '' } },
      { index: 0, function: { arguments: '{"q":' } },
      { index: 0, function: { arguments: '"x"}' } },
    ]);
  });
});

describe('an echo', () => {
  const ask = (content: unknown): unknown => ({
    stream: true,
    messages: [
      { role: 'user', content: 'not this' },
      { role: 'assistant', content: 'nor this' },
      { role: 'user', content },
    ],
  });

  test('repeats the last user message, cut where told', async () => {
    await using upstream = await startUpstream(echo({ cutAt: [1, 4] }));
    const { body } = await post(upstream, ask('«PERSON_1» calls'));
    expect(contentOf(body)).toBe('«PERSON_1» calls');
    const said = [...body.toString().matchAll(/"content":"([^"]+)"/g)].map(([, delta]) => delta);
    expect(said).toEqual(['«', 'PER', 'SON_1» calls']);
  });

  test('repeats text parts, one UTF-16 unit at a time', async () => {
    await using upstream = await startUpstream(echo({ cutAt: 'every-unit' }));
    const { body } = await post(
      upstream,
      ask([{ type: 'text', text: 'a😀' }, { type: 'image_url' }, { type: 'text', text: 'b' }]),
    );
    expect(contentOf(body)).toBe('a😀b');
    expect(body.toString().match(/"content":"[^"]+"/g)).toHaveLength(4);
  });

  test('repeats it as the arguments of a tool call', async () => {
    await using upstream = await startUpstream(echo({ as: 'tool-arguments' }));
    const { body } = await post(upstream, { messages: [{ role: 'user', content: 'say "x"' }] });
    const { choices } = JSON.parse(body.toString()) as {
      choices: { message: { content: null; tool_calls: { function: { arguments: string } }[] } }[];
    };
    expect(choices[0]?.message.content).toBeNull();
    expect(JSON.parse(choices[0]?.message.tool_calls[0]?.function.arguments ?? '')).toEqual({ text: 'say "x"' });
  });
});

describe('a stream', () => {
  test('arrives in the writes it was split into', async () => {
    await using upstream = await startUpstream(sse([{ data: 'é' }, DONE], { splitAt: [7, 10] }));
    const { body, pieces } = await post(upstream, ASK);
    expect(body.toString()).toBe('data: é\n\ndata: [DONE]\n\n');
    expect(pieces.map(({ length }) => length)).toEqual([7, 3, 14]);
  });

  test('can be cut at every byte', async () => {
    await using upstream = await startUpstream(sse([{ data: { a: '😀' } }], { splitAt: 'every-byte', eol: '\r\n' }));
    const { body, pieces } = await post(upstream, ASK);
    expect(body.toString()).toBe('data: {"a":"😀"}\r\n\r\n');
    expect(pieces).toHaveLength(body.length);
  });

  test('has names, comments, many lines and bytes as they are', async () => {
    await using upstream = await startUpstream(
      sse([{ event: 'error', data: 'a\nb' }, { comment: 'c' }, { raw: Buffer.from([0xff]) }], {
        status: 203,
        headers: { 'x-a': 'b' },
      }),
    );
    const { status, headers, body } = await post(upstream, ASK);
    expect([status, headers['x-a']]).toEqual([203, 'b']);
    expect(body.toString('latin1')).toBe('event: error\ndata: a\ndata: b\n\n: c\n\n\xff');
  });

  test('goes frame by frame through a gate', async () => {
    const steps = gate();
    await using upstream = await startUpstream(chat({ content: ['a', 'b'], gate: steps }));
    let seen = '';
    const answered = post(upstream, ASK_STREAM, (piece) => (seen += piece.toString()));
    await steps.waiting();
    expect(seen).toBe('');
    await steps.step();
    await steps.step();
    await expect.poll(() => seen).toContain('"content":"a"');
    expect(seen).not.toContain('"content":"b"');
    steps.release();
    expect((await answered).body.toString()).toContain('[DONE]');
  });

  test('stops when its client leaves', async () => {
    const steps = gate();
    await using upstream = await startUpstream(sse([{ data: 1 }, { data: 2 }], { gate: steps }));
    const sent = httpRequest(`${upstream.url}/chat/completions`, { method: 'POST' }, (incoming) => incoming.resume());
    sent.on('error', () => {});
    sent.end('{}');
    await steps.waiting();
    sent.destroy();
    await expect((await upstream.request(0)).ended).resolves.toBe('left');
    steps.open();
    await expect(steps.pass()).resolves.toBe(true);
  });
});

describe('faults', () => {
  test.each([
    ['a RST', 'reset'],
    ['a FIN', 'fin'],
  ] as const)('a stream broken off by %s', async (_name, ending) => {
    await using upstream = await startUpstream(sse([{ data: 1 }], { ending }));
    const { status, body, broken } = await post(upstream, ASK);
    expect([status, body.toString(), broken]).toEqual([200, 'data: 1\n\n', 'ECONNRESET']);
  });

  test('a stream that goes silent', async () => {
    await using upstream = await startUpstream(sse([{ data: 1 }], { ending: 'hang' }));
    const first = Promise.withResolvers<Buffer>();
    const answered = post(upstream, ASK, first.resolve);
    expect((await first.promise).toString()).toBe('data: 1\n\n');
    await upstream.down();
    await expect(answered).resolves.toMatchObject({ broken: 'ECONNRESET' });
    await expect(upstream.requests[0]?.ended).resolves.toBe('cut');
  });

  test('a stream that ends without a finish', async () => {
    await using upstream = await startUpstream(sse([{ data: 1 }]));
    const { body, broken } = await post(upstream, ASK);
    expect([body.toString(), broken]).toEqual(['data: 1\n\n', undefined]);
  });

  test('a buffered answer broken off', async () => {
    await using upstream = await startUpstream(brokenJson({ a: 'bcd' }, 4));
    await expect(post(upstream, ASK)).resolves.toMatchObject({
      status: 200,
      body: Buffer.from('{"a"'),
      broken: 'ECONNRESET',
    });
  });

  test('an answer that is not HTTP', async () => {
    await using upstream = await startUpstream(notHttp());
    await expect(post(upstream, ASK)).rejects.toThrow('Parse Error');
  });

  test('an event of any size', async () => {
    await using upstream = await startUpstream(sse([hugeFrame(3_000_000)]));
    expect((await post(upstream, ASK)).body.length).toBe('data: \n\n'.length + 3_000_000);
  });

  test('refused connections, until it is up again', async () => {
    await using upstream = await startUpstream();
    await upstream.down();
    await expect(post(upstream, ASK)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await upstream.up();
    await expect(post(upstream, ASK)).resolves.toMatchObject({ status: 200 });
  });
});

test('the close leaves no connection open: not idle, not hanging, not half sent', async () => {
  const upstream = await startUpstream(hang());
  const hanging = post(upstream, ASK);
  hanging.catch(() => {});
  await upstream.request(0);
  const half = connect(Number(new URL(upstream.url).port), '127.0.0.1');
  half.on('error', () => {});
  const halfClosed = new Promise((resolve) => half.once('close', resolve));
  half.write('POST /v1 HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nabc');
  await expect.poll(() => upstream.connections()).toBe(2);
  await upstream.close();
  await expect(hanging).rejects.toMatchObject({ code: 'ECONNRESET' });
  await halfClosed;
  expect(upstream.connections()).toBe(0);
});

describe('a gate', () => {
  test('lets through as many as it is opened for, those waiting first', async () => {
    const steps = gate();
    const passed: number[] = [];
    const passes = [1, 2, 3].map(async (n) => void ((await steps.pass()) && passed.push(n)));
    steps.open(2);
    await Promise.all(passes.slice(0, 2));
    expect(passed).toEqual([1, 2]);
    steps.release();
    await passes[2];
    await expect(steps.pass()).resolves.toBe(true);
  });

  test('gives up its place when told to', async () => {
    const steps = gate();
    const gone = new AbortController();
    const leaving = steps.pass(gone.signal);
    const staying = steps.pass();
    gone.abort();
    await expect(leaving).resolves.toBe(false);
    steps.open();
    await expect(staying).resolves.toBe(true);
    await expect(steps.pass(gone.signal)).resolves.toBe(false);
  });
});
