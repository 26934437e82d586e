import { describe, expect, test } from 'vitest';
import type { BadRequestShape } from '../hub/codec.ts';
import { readDocument, render, type WireDocument } from '../document/document.ts';
import { messagesCodec } from './codec.ts';

const SIGNATURE = 'EqQBCkYIARgCKkDc+/9==';

const request = (more: object): WireDocument =>
  readDocument(
    'messages',
    JSON.stringify({ model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'x' }], ...more }),
  );
const content = (...blocks: readonly unknown[]): WireDocument =>
  request({ messages: [{ role: 'user', content: blocks }] });

describe('what is asked', () => {
  test('a bare model, and usage in every stream', () => {
    const document = request({ stream: true });
    expect(messagesCodec.ask(document)).toEqual({
      model: 'm',
      modelNode: expect.objectContaining({ value: 'm' }) as unknown,
      stream: true,
      includeUsage: true,
      maxOutputTokens: 5,
      answers: 1,
      jsonAnswer: false,
      jsonSchema: false,
    });
    expect(messagesCodec.askForUsage(document)).toEqual([]);
  });

  test.each([
    [{ model: 'anthropic/m' }, { model: 'anthropic/m' }],
    [{ max_tokens: 0 }, { maxOutputTokens: 0 }],
    [{ mcp_servers: null, thread: null }, { stream: false }],
    [{ output_config: { format: { type: 'json_schema', schema: {} } } }, { jsonAnswer: true, jsonSchema: true }],
    [{ output_format: { type: 'json_schema', schema: {} } }, { jsonAnswer: true }],
    [{ output_config: { effort: 'low' } }, { jsonAnswer: false }],
    [{ messages: [{ role: 'system', output_config: { effort: 'low' } }] }, { answers: 1 }],
  ])('%j', (more, expected) => {
    expect(messagesCodec.ask(request(more))).toMatchObject(expected);
  });

  test.each([
    [{ model: 7 }, 'model'],
    [{ max_tokens: undefined }, 'max_tokens'],
    [{ max_tokens: -1 }, 'max_tokens'],
    [{ max_tokens: 1.5 }, 'max_tokens'],
    [{ max_tokens: 1e8 }, 'max_tokens'],
    [{ max_tokens: '5' }, 'max_tokens'],
    [{ messages: [] }, 'messages'],
    [{ messages: 'x' }, 'messages'],
    [{ messages: [{ content: 'x' }] }, 'messages[0]'],
    [{ messages: [{ role: 'user' }] }, 'messages[0].content'],
    [{ messages: [{ role: 'user', content: 7 }] }, 'messages[0].content'],
    [{ messages: [{ role: 'user', content: ['x'] }] }, 'messages[0].content[0]'],
    [{ thread: { type: 'create' } }, 'thread'],
    [{ stream: 'yes' }, 'stream'],
    [{ output_config: 'low' }, 'output_config'],
    [{ MAX_TOKENS: 9 }, 'max_tokens'],
    [{ MCP_servers: [] }, 'mcp_servers'],
    [{ Gw: {} }, 'gw'],
  ])('%j is refused, naming %s', (more, param) => {
    expect(() => messagesCodec.ask(request(more))).toThrow(
      expect.objectContaining({ name: 'BadRequestShape', param }) as BadRequestShape,
    );
  });

  const file = { type: 'image', source: { type: 'file', file_id: 'file_1' } };
  test.each([
    [file, 'messages[0].content[0].source'],
    [{ type: 'document', source: { file_id: 'file_1' } }, 'messages[0].content[0].source'],
    [{ type: 'tool_result', tool_use_id: 't', content: [file] }, 'messages[0].content[0].content[0].source'],
    [
      { type: 'document', source: { type: 'content', content: [file] } },
      'messages[0].content[0].source.content[0].source',
    ],
  ])('a file kept elsewhere is refused: %j', (block, param) => {
    expect(() => messagesCodec.ask(content(block))).toThrow(
      expect.objectContaining({
        message: expect.stringContaining('Files are not supported') as string,
        param,
      }) as Error,
    );
  });
});

describe('texts', () => {
  const texts = (document: WireDocument): readonly string[] =>
    messagesCodec.contents(document).leaves.map(({ text }) => text);

  test('in the order the model reads them', () => {
    const found = texts(
      request({ metadata: { user_id: 'u1' }, system: 'be', tools: [{ name: 'f', input_schema: { a: 'schema' } }] }),
    );
    const order = ['f', 'schema', 'be', 'x', 'u1'].map((text) => found.indexOf(text));
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(order).not.toContain(-1);
    expect(found).not.toContain('m');
    expect(texts(request({ metadata: { encrypted_content: 'HERE' } }))).toContain('HERE');
  });

  test.each([
    [{ type: 'text', text: 'HERE' }, true],
    [{ type: 'text', text: 'a', citations: [{ cited_text: 'HERE' }] }, true],
    [{ type: 'text', text: 'a', unknown: { deep: ['HERE'] } }, true],
    [{ type: 'text', text: 'a', HERE: 1 }, true],
    [{ type: 'a_new_block', say: 'HERE' }, true],
    [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: { q: ['HERE'] } }, true],
    [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: { HERE: 1 } }, true],
    [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: { signature: 'HERE' } }, true],
    [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: { encrypted_content: 'HERE' } }, true],
    [
      { type: 'tool_use', id: 'toolu_1', name: 'f', input: { content: [{ type: 'thinking', signature: 'HERE' }] } },
      true,
    ],
    [
      {
        type: 'tool_use',
        id: 'toolu_1',
        name: 'f',
        input: { content: [{ type: 'image', source: { type: 'base64', data: 'HERE' } }] },
      },
      true,
    ],
    [{ type: 'tool_use', id: 'HERE', name: 'f', input: {} }, false],
    [{ type: 'tool_use', id: 'HERE I am', name: 'f', input: {} }, true],
    [{ type: 'tool_result', tool_use_id: 'HERE', content: 'a' }, false],
    [{ type: 'tool_result', tool_use_id: 't', content: 'HERE' }, true],
    [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'HERE' }] }, true],
    [{ type: 'text', text: 'a', signature: 'HERE' }, true],
    [{ type: 'thinking', thinking: 'a', signature: 'HERE' }, false],
    [{ type: 'thinking', thinking: 'a', signature: 'HERE I am' }, true],
    [{ type: 'redacted_thinking', data: 'HERE' }, false],
    [{ type: 'thinking', thinking: 'HERE', signature: SIGNATURE }, true],
    [{ type: 'web_search_tool_result', tool_use_id: 't', content: [{ encrypted_content: 'HERE' }] }, false],
    [{ type: 'web_search_tool_result', tool_use_id: 't', content: [{ encrypted_content: 'HERE I am' }] }, true],
    [{ type: 'web_search_tool_result', tool_use_id: 't', content: [{ title: 'HERE' }] }, true],
    [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'HERE' } }, true],
    [{ type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'HERE' }] } }, true],
    [
      { type: 'document', title: 'HERE', source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' } },
      true,
    ],
    [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'HERE' } }, false],
    [{ type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text: 'HERE' }] }, true],
  ])('%j is looked at: %s', (block, seen) => {
    const found = texts(content(block));
    expect(found.some((text) => text.includes('HERE'))).toBe(seen);
  });

  test('a picture that is not in base64 is refused: somebody could read it', () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'HERE, not base64' };
    expect(() => texts(content({ type: 'image', source }))).toThrow('data must be base64');
  });

  test('media are reported, those within results too', () => {
    const inline = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
    const remote = { type: 'document', source: { type: 'url', url: 'https://e.org/a.pdf' } };
    const { media, leaves } = messagesCodec.contents(
      content(inline, remote, { type: 'tool_result', tool_use_id: 't', content: [inline] }),
    );
    expect(media.map(({ kind, source, length }) => ({ kind, source, length }))).toEqual([
      { kind: 'image', source: 'inline', length: 4 },
      { kind: 'file', source: 'remote', length: 19 },
      { kind: 'image', source: 'inline', length: 4 },
    ]);
    expect(leaves.map(({ text }) => text)).toContain('https://e.org/a.pdf');
  });

  test('all of a thinking block belongs to it, and nothing else does', () => {
    const thinking = { type: 'thinking', thinking: 'hm', signature: SIGNATURE, extra: { note: 'n' } };
    const document = content(thinking, { type: 'text', text: 'a' });
    const { leaves } = messagesCodec.contents(document);
    const signed = leaves.filter((leaf) => leaf.signed);
    expect(signed.map(({ text }) => text)).toEqual([
      'type',
      'thinking',
      'thinking',
      'hm',
      'signature',
      'extra',
      'note',
      'n',
    ]);
    const [block] = new Set(signed.map((leaf) => leaf.signed));
    expect(document.text.slice(block?.start, block?.end)).toBe(JSON.stringify(thinking));
    expect(leaves.find(({ text }) => text === 'a')?.signed).toBeUndefined();
  });
});

describe('thinking that goes', () => {
  const good = `{"type":"thinking","thinking":"ok", "signature":"${SIGNATURE}"}`;
  const bad = '{"type":"thinking","thinking":"FLAGGED","signature":"c2ln"}';
  const unsigned = '{"type":"thinking","thinking":"a","signature":""}';
  const bare = '{"type":"thinking","thinking":"b"}';
  const sealed = '{"type":"redacted_thinking","data":"FLAGGED"}';
  const words = '{ "type": "text", "text": "hi" }';

  function kept(...blocks: readonly string[]): string {
    const text = `{"messages":[{"role":"assistant","content":[ ${blocks.join(' , ')} ]}],"x":1.0}`;
    const document = readDocument('messages', text);
    const flagged = new Set(
      messagesCodec.contents(document).leaves.flatMap(({ signed, node }) => {
        return signed && document.text.slice(node.start, node.end).includes('FLAGGED') ? [signed] : [];
      }),
    );
    const edits = messagesCodec.dropSigned?.(document, flagged) ?? [];
    const result = render(text, edits);
    const rest = /^\{"messages":\[\{"role":"assistant","content":\[ ?(.*?) ?\]\}\],"x":1\.0\}$/.exec(result);
    expect(() => JSON.parse(result) as unknown).not.toThrow();
    return rest?.[1] ?? result;
  }

  const placeholder = '{"type":"text","text":"(reasoning removed)"}';
  test.each([
    ['nothing', [good, words], `${good} , ${words}`],
    ['the first', [bad, words], words],
    ['the last', [words, bad], words],
    ['one in the middle', [good, bad, words], `${good} , ${words}`],
    ['unsigned ones', [unsigned, bare, good, words], `${good} , ${words}`],
    ['all of a message', [unsigned, bad], placeholder],
    ['the only one', [bare], placeholder],
  ])('%s', (_name, blocks, expected) => {
    expect(kept(...blocks).trim()).toBe(expected);
  });

  test('a sealed block is flagged by what stands beside its seal', () => {
    expect(kept(sealed, words).trim()).toBe(`${sealed} , ${words}`);
    const talking = '{"type":"redacted_thinking","data":"c2ln","note":"FLAGGED"}';
    expect(kept(talking, words).trim()).toBe(words);
    expect(kept('{"type":"redacted_thinking","data":""}', words).trim()).toBe(words);
  });

  test('a removal takes the edits within it along', () => {
    const text = `{"messages":[{"role":"assistant","content":[${bare}]}]}`;
    const document = readDocument('messages', text);
    const at = text.indexOf('"b"');
    const edits = [{ start: at, end: at + 3, text: '"c"' }, ...(messagesCodec.dropSigned?.(document, new Set()) ?? [])];
    expect(JSON.parse(render(text, edits))).toEqual({
      messages: [{ role: 'assistant', content: [JSON.parse(placeholder)] }],
    });
  });

  test('what looks like thinking in an input stays', () => {
    const call = '{"type":"tool_use","id":"t","name":"f","input":{"content":[{"type":"thinking","thinking":"a"}]}}';
    expect(kept(call).trim()).toBe(call);
  });
});
