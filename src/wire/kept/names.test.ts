import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { Family } from '../document/document.ts';
import type { Json, JsonObject } from '../document/json.ts';
import { mayName, namesIn, namesInText, paramOf, withIds, withoutPrefix } from './names.ts';
import { MEMBERS, NOT_KEPT, ZONES } from './table.ts';

const found = (family: Family, body: JsonObject): readonly string[] =>
  namesIn(family, body).map(({ kind, id, at }) => `${kind} ${id} at ${paramOf(at)}`);

describe('what a request names', () => {
  test.each<[Family, JsonObject, readonly string[]]>([
    ['responses', { previous_response_id: 'resp_1' }, ['response resp_1 at previous_response_id']],
    ['responses', { conversation: 'conv_1' }, ['conversation conv_1 at conversation']],
    ['responses', { conversation: { id: 'conv_1' } }, ['conversation conv_1 at conversation.id']],
    [
      'responses',
      { prompt: { id: 'pmpt_1', variables: { a: { file_id: 'f' } } } },
      ['prompt pmpt_1 at prompt.id', 'file f at prompt.variables.a.file_id'],
    ],
    ['responses', { input: [{ type: 'item_reference', id: 'msg_1' }] }, ['item msg_1 at input[0].id']],
    ['responses', { input: [{ type: 'reasoning', id: 'rs_1', summary: [] }] }, ['item rs_1 at input[0].id']],
    [
      'responses',
      { input: [{ type: 'message', id: 'msg_1', role: 'user', content: [] }] },
      ['item msg_1 at input[0].id'],
    ],
    [
      'responses',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }] },
      ['file file-1 at input[0].content[0].file_id'],
    ],
    [
      'responses',
      { tools: [{ type: 'file_search', vector_store_ids: ['vs_1', 'vs_2'] }] },
      ['vector store vs_1 at tools[0].vector_store_ids[0]', 'vector store vs_2 at tools[0].vector_store_ids[1]'],
    ],
    [
      'responses',
      { tools: [{ type: 'code_interpreter', container: 'cntr_1' }] },
      ['container cntr_1 at tools[0].container'],
    ],
    [
      'responses',
      { tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: ['f'] } }] },
      ['file f at tools[0].container.file_ids[0]'],
    ],
    [
      'responses',
      { tools: [{ type: 'image_generation', input_image_mask: { file_id: 'f' } }] },
      ['file f at tools[0].input_image_mask.file_id'],
    ],
    [
      'responses',
      { tools: [{ type: 'shell', environment: { type: 'container_reference', container_id: 'c' } }] },
      ['container c at tools[0].environment.container_id'],
    ],
    [
      'chat',
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }] },
      ['file file-1 at messages[0].content[0].file.file_id'],
    ],
    [
      'chat',
      { messages: [{ role: 'assistant', audio: { id: 'audio_1' } }] },
      ['sound audio_1 at messages[0].audio.id'],
    ],
    ['chat', { audio: { voice: { id: 'voice_1' }, format: 'wav' } }, ['voice voice_1 at audio.voice.id']],
    ['chat', { data_sources: [{ type: 'azure_search' }] }, ['data source  at data_sources']],
    ['messages', { container: 'container_1' }, ['container container_1 at container']],
    [
      'messages',
      {
        container: {
          id: 'c',
          skills: [
            { type: 'custom', skill_id: 's' },
            { type: 'anthropic', skill_id: 'pdf' },
          ],
        },
      },
      ['container c at container.id', 'skill s at container.skills[0].skill_id'],
    ],
    [
      'messages',
      { messages: [{ role: 'user', content: [{ type: 'container_upload', file_id: 'f' }] }] },
      ['file f at messages[0].content[0].file_id'],
    ],
    [
      'messages',
      {
        messages: [
          {
            role: 'user',
            content: [{ type: 'tool_result', content: [{ type: 'document', source: { type: 'file', file_id: 'f' } }] }],
          },
        ],
      },
      ['file f at messages[0].content[0].content[0].source.file_id'],
    ],
    [
      'messages',
      { diagnostics: { previous_message_id: 'msg_1' } },
      ['message msg_1 at diagnostics.previous_message_id'],
    ],
    [
      'passthrough',
      { images: [{ file_id: 'f' }], mask: { file_id: 'g' } },
      ['file f at images[0].file_id', 'file g at mask.file_id'],
    ],
    [
      'passthrough',
      { video: { id: 'v' }, characters: [{ id: 'c' }] },
      ['video v at video.id', 'character c at characters[0].id'],
    ],
    ['gemini', { cachedContent: 'cachedContents/1' }, ['cache cachedContents/1 at cachedContent']],
    ['chat', { FILE_ID: 'f', some_thing_id: 'x' }, ['file f at FILE_ID', 'unknown x at some_thing_id']],
  ])('%s %j', (family, body, expected) => {
    expect(found(family, body)).toEqual(expected);
    expect(mayName(family, JSON.stringify(body))).toBe(true);
  });

  test.each<[string, Family, JsonObject]>([
    [
      'arguments of tools',
      'messages',
      { messages: [{ content: [{ type: 'tool_use', id: 't', input: { file_id: 'x' } }] }] },
    ],
    [
      'results of server tools sent back',
      'messages',
      {
        messages: [
          {
            content: [
              { type: 'code_execution_tool_result', tool_use_id: 't', content: { content: [{ file_id: 'x' }] } },
            ],
          },
        ],
      },
    ],
    [
      'citations',
      'messages',
      { messages: [{ content: [{ type: 'text', text: 'a', citations: [{ file_id: 'x' }] }] }] },
    ],
    ['schemas', 'chat', { tools: [{ function: { parameters: { properties: {}, default: { file_id: 'x' } } } }] }],
    ['notes', 'responses', { metadata: { file_id: 'x' } }],
    ['notes of a client about itself', 'responses', { client_metadata: { thread_id: 'x', session_id: 'y' } }],
    [
      'items that say what they are',
      'responses',
      {
        input: [
          { type: 'message', id: 'm', content: 'hi' },
          { type: 'reasoning', id: 'r', encrypted_content: 'x' },
          { type: 'function_call', id: 'f', call_id: 'c' },
        ],
      },
    ],
    ['pairs', 'chat', { messages: [{ role: 'tool', tool_call_id: 'c', content: '' }] }],
    ['the prompt of completions', 'completions', { prompt: 'id' }],
    ['a switch that is off', 'chat', { data_sources: [], file_ids: [], conversation: null }],
  ])('%s name nothing', (_what, family, body) => {
    expect(found(family, body)).toEqual([]);
  });

  test('names in escapes are read, and ordinary calls are not', () => {
    const escaped = String.raw`{"fil\u0065_id":"f"}`;
    expect(namesInText('chat', escaped)).toMatchObject([{ id: 'f' }]);
    const plain = '{"model":"m","messages":[{"role":"tool","tool_call_id":"c","content":"x"}],"user":"u"}';
    expect(mayName('chat', plain)).toBe(false);
  });

  test('every name and kind in the table is found behind the prefilter, in any family it holds for', () => {
    for (const { names, families = ['chat'] as const, inside = [''], kind } of MEMBERS) {
      for (const name of names) {
        for (const family of families) {
          for (const holder of inside) {
            const type = kind === 'item' ? { type: 'item_reference' } : {};
            const object: JsonObject = { ...type, [name]: 'x-1' };
            const body: JsonObject = holder === '' ? object : { [holder]: [object] };
            expect(namesInText(family, JSON.stringify(body)), `${family} ${holder}.${name}`).toMatchObject([{ kind }]);
          }
        }
      }
    }
  });

  test('a body too large for the prefilter names the same, and where it does so', () => {
    const content = [{ text: '"'.repeat(100_000) }, [{ file: { file_id: 'f' } }], { text: '"file_id":"g"' }, null, 1];
    const body = {
      messages: [
        { role: 'user', content },
        { role: 'user', content: 'x' },
      ],
    };
    const [named, ...others] = namesInText('chat', JSON.stringify(body));
    expect(others).toEqual([]);
    expect(named).toMatchObject({ kind: 'file', id: 'f', at: ['messages', 0, 'content', 1, 0, 'file', 'file_id'] });
  });

  test("the provider's prefix is taken off where an object is named, and nowhere else", () => {
    const text =
      '{"input":[{"content":[{"type":"input_file","file_id":"up~f"},{"text":"up~f"}]}],"file_ids":["up~a","b~c"]}';
    const names = namesInText('responses', text);
    expect(JSON.parse(withIds('responses', text, names, ({ id }) => withoutPrefix(id, 'up'))) as Json).toEqual({
      input: [{ content: [{ type: 'input_file', file_id: 'f' }, { text: 'up~f' }] }],
      file_ids: ['a', 'b~c'],
    });
  });
});

/**
 * Clients' types of the vendors: a member that looks like an id must be in the table, so that a new one is decided on before
 * it is let through.
 */
describe('members that look like ids in the types of vendors', () => {
  const ROOT = new URL('../../../node_modules/', import.meta.url);
  const TYPES = [
    'openai/resources/chat/completions/completions.d.ts',
    'openai/resources/completions.d.ts',
    'openai/resources/embeddings.d.ts',
    'openai/resources/responses/responses.d.ts',
    'openai/resources/images.d.ts',
    'openai/resources/videos.d.ts',
    'openai/resources/files.d.ts',
    'openai/resources/audio/speech.d.ts',
    'openai/resources/audio/transcriptions.d.ts',
    '@anthropic-ai/sdk/resources/messages/messages.d.ts',
    '@anthropic-ai/sdk/resources/beta/messages/messages.d.ts',
  ];
  const classified = new Set([...MEMBERS, ...ZONES].flatMap(({ names }) => names));
  test.each(TYPES)('%s', (file) => {
    const text = readFileSync(fileURLToPath(new URL(file, ROOT)), 'utf8');
    const members = [...text.matchAll(/^\s+'?(\w*(?:_ids?|[a-z]Ids?))'?\??:/gm)].map(([, name]) => name!.toLowerCase());
    expect(text.length).toBeGreaterThan(500);
    expect([...new Set(members)].filter((name) => !classified.has(name) && !NOT_KEPT.has(name))).toEqual([]);
  });
});
