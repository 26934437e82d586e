import { expect, test } from 'vitest';
import type { ProviderConfig } from '#/config/snapshot.ts';
import { readDocument, render } from '#/wire/document/document.ts';
import { fitRerank } from '../custom.ts';

const VOYAGE = 'https://api.voyageai.com/v1';

test.each([
  [VOYAGE, '{"top_n": 2,"query":"top_n"}', '{"top_k": 2,"query":"top_n"}'],
  [VOYAGE, '{"top_n":2,"top_k":3}', '{"top_n":2,"top_k":3}'],
  [VOYAGE, '{"query":"a"}', '{"query":"a"}'],
  ['https://api.voyageai.com.example/v1', '{"top_n":2}', '{"top_n":2}'],
  ['https://api.cohere.com/v2', '{"top_n":2}', '{"top_n":2}'],
])('%s: %s', (url, text, sent) => {
  expect(render(text, fitRerank(readDocument('rerank', text), { url } as ProviderConfig))).toBe(sent);
});
