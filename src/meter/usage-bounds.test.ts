import { expect, test } from 'vitest';
import type { Inspection } from '#/inspect/inspect.ts';
import { TagTable } from '#/inspect/tags.ts';
import type { Call } from '#/call/call.ts';
import type { Candidate } from '#/call/target.ts';
import { chatCodec } from '#/wire/chat/codec.ts';
import type { Codec } from '#/wire/hub/codec.ts';
import { readDocument } from '#/wire/document/document.ts';
import { embeddingsCodec } from '#/wire/embeddings/codec.ts';
import { usageBoundsOf, type UsageBounds } from './usage-bounds.ts';

const nothing: Inspection = {
  ...{ edits: [], losses: [], facts: {}, unscanned: [], media: [], attached: [] },
  tags: new TagTable(),
};

function bounds(
  candidates: readonly Partial<Candidate>[],
  more: object = {},
  inspection: Inspection = nothing,
  codec: Codec = chatCodec,
): UsageBounds {
  const text = JSON.stringify({ model: 'p/m', messages: [{ role: 'user', content: 'x' }], input: 'x', ...more });
  const document = readDocument(codec.family, text);
  const call = { codec, text, document, ask: codec.ask(document) } as unknown as Call;
  return usageBoundsOf(
    call,
    inspection,
    candidates.map((one) => ({ losses: [], instead: [], ...one }) as Candidate),
  );
}

const translated = { translation: {} } as Partial<Candidate>;
const roomy = { settings: { maxOutputTokens: 64_000 } } as Partial<Candidate>;

test.each<[readonly Partial<Candidate>[], object, number]>([
  [[{}], {}, 16_384],
  [[{}], { n: 3 }, 49_152],
  [[{}, roomy], {}, 64_000],
  [[{}], { max_tokens: 5, n: 2 }, 10],
  [[translated], { max_tokens: 500 }, 500],
  // Families have a least ceiling.
  [[{}, translated], { max_tokens: 5 }, 16],
  // A model that cannot be told a ceiling keeps to none.
  [[{ ...translated, losses: ['max_tokens'] }], { max_tokens: 5 }, 16_384],
  [[{ ...roomy, losses: ['max_completion_tokens'] }], { max_completion_tokens: 100_000 }, 100_000],
  [[{ losses: ['top_k'] }], { max_tokens: 5 }, 5],
])('candidates %j asked for %j give at most %i tokens', (candidates, more, most) => {
  expect(bounds(candidates, more).ceiling.outputTokens).toBe(most);
});

test.each<[object, string | undefined]>([
  [{}, undefined],
  [{ service_tier: 'auto' }, undefined],
  [{ service_tier: 'default' }, 'standard'],
  [{ service_tier: 'flex' }, 'flex'],
  [{ service_tier: 'priority' }, 'priority'],
])('%j is bounded in the service tier %s', (asked, serviceTier) => {
  expect(bounds([{}], asked).ceiling.serviceTier).toBe(serviceTier);
  // Whoever is not told what was asked for chooses.
  expect(bounds([{}, { losses: ['service_tier'] }], asked).ceiling.serviceTier).toBeUndefined();
});

test('only what is all text is bounded as text', () => {
  expect(bounds([{}]).ceiling.textOnly).toBe(true);
  const media = [{ kind: 'audio', source: 'inline', length: 4 } as const];
  expect(bounds([{}], {}, { ...nothing, media }).ceiling.textOnly).toBe(false);
  expect(bounds([{}], {}, { ...nothing, keptBefore: true }).ceiling.textOnly).toBe(false);
});

test('embeddings give none', () => {
  expect(bounds([{}], {}, nothing, embeddingsCodec).ceiling.outputTokens).toBe(0);
});

test('a conversation that the provider keeps may be as long as any', () => {
  const { ceiling, estimatedInput } = bounds([{}]);
  const kept = bounds([{}], {}, { ...nothing, keptBefore: true });
  expect(kept.ceiling.inputTokens).toBe((ceiling.inputTokens ?? 0) + 1_048_576);
  expect(kept.estimatedInput).toBe(estimatedInput);
});

test('what takes the place of a file is held for, at the most that any candidate is sent', () => {
  const file = { kind: 'file', source: 'inline', length: 40_000 } as const;
  const inspection = { ...nothing, media: [file] };
  const sent = (images: number, textBytes: number, fileLength = 0): Partial<Candidate> => ({
    instead: [{ media: file, images, textBytes, fileLength }],
  });
  const tokens = (...candidates: readonly Partial<Candidate>[]): number =>
    bounds(candidates, { pad: 'x'.repeat(40_000) }, inspection).ceiling.inputTokens ?? 0;
  const text = tokens(sent(0, 0));
  expect(tokens({}) - text).toBe(40_000);
  expect(tokens(sent(3, 0)) - text).toBe(3 * 16_384);
  expect(tokens(sent(0, 500)) - text).toBe(500);
  expect(tokens(sent(0, 0, 90_000)) - text).toBe(90_000);
  expect(tokens(sent(0, 500), sent(3, 0)) - text).toBe(3 * 16_384 + 500);
});

test.each<[object, number | undefined]>([
  [{}, undefined],
  [{ tools: [{ type: 'function', name: 'web_search' }, { type: 'code_execution_20250825' }] }, undefined],
  [{ tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }] }, 3],
  [{ tools: [{ type: 'web_search' }], max_tool_calls: 4 }, 4],
  [{ tools: [{ type: 'web_search_preview' }, 'x', { type: 'web_search', max_uses: -1 }] }, 20],
])('searches that may be made are held: %j', (more, searches) => {
  expect(bounds([{}], more).ceiling.searches).toBe(searches);
});
