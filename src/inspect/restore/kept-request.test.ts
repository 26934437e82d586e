import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { readDocument } from '#/wire/document/document.ts';
import { KeptRequest } from './kept-request.ts';

const requestOf = (length: number): ReturnType<typeof readDocument> =>
  readDocument(
    'chat',
    JSON.stringify({ messages: [{ content: `Größe 😀 "quoted" \\ ${'text '.repeat(length / 5)}` }] }),
  );

test.each([100, 17_000, 200_000, 300_000])(
  'a request of %d characters is read again as it was, packed or not',
  async (length) => {
    const document = requestOf(length);
    const kept = new KeptRequest(document);
    expect(kept.read()).toEqual(document);
    kept.pack();
    expect(kept.read()).toEqual(document);
    await sleep(100);
    expect(kept.read()).toEqual(document);
    // Once more: reading changes nothing.
    expect(kept.read()).toEqual(document);
  },
);
