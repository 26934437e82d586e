import { expect, test } from 'vitest';
import { chatCodec } from '../chat/codec.ts';
import { decisionsCodec } from '../decisions/codec.ts';
import { readDocument } from '../document/document.ts';
import { textPlaces } from '../hub/plain-codec.ts';
import { responsesCodec } from '../responses/codec.ts';
import { systemOneCodec } from '../systemone/codec.ts';
import { collectContents, type Places } from './collect-contents.ts';

test('a name of "" is the top, and never a member that is called so', () => {
  const told: string[] = [];
  const tell = (what: string, at: string, name: string, parent: string): undefined =>
    void told.push(`${what} ${at}: ${JSON.stringify(name)} in ${JSON.stringify(parent)}`);
  const places: Places = {
    ...textPlaces('prompt'),
    isWord: (word, name, parent) => tell('word', word, name, parent) ?? false,
    roleOf: (text, name, parent) => tell('text', text, name, parent),
    mediaIn: (text, name, parent) => tell('media', text, name, parent),
    isTokens: (name, parent) => tell('tokens', '', name, parent) ?? false,
  };
  const inside = { text: 'b', numbers: [1], '': [{ deep: 'c' }] };
  collectContents(readDocument('chat', JSON.stringify({ top: 'a', '': inside })), places);
  expect(told.filter((one) => one.includes(' in ""'))).toEqual([
    'word top: "" in ""',
    'media a: "top" in ""',
    'text a: "top" in ""',
    'word : "" in ""',
    // The object of the member called "".
    ...['text', 'numbers', ''].map((word) => `word ${word}: "\\"\\"" in ""`),
  ]);
});

test('below a member called "" there is nothing that a family has at its top', () => {
  const read = (family: 'chat' | 'responses' | 'decisions' | 'systemone', below: object) =>
    readDocument(family, JSON.stringify({ model: 'm', '': below }));
  const kept = read('responses', { previous_response_id: 'resp_ada', metadata: { id: 'x' } });
  expect(responsesCodec.contents(kept).ids ?? []).toEqual([]);
  expect(responsesCodec.contents(kept).leaves.map(({ text }) => text)).toContain('resp_ada');
  expect(chatCodec.contents(read('chat', { prompt_token_ids: [1, 2] })).tokens).toBeUndefined();
  for (const [family, codec] of [['decisions', decisionsCodec] as const, ['systemone', systemOneCodec] as const]) {
    const { leaves } = codec.contents(read(family, { questions: 1 }));
    expect(leaves.map(({ text }) => text)).toContain('questions');
  }
});
