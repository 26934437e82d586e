import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createNameSearch } from './name-search.ts';
import type { NameSearch } from './detect-names.ts';

/** A model that answers when it is told to: the words in capitals are names. */
class Model {
  readonly search: NameSearch;
  readonly #asked: (readonly string[])[] = [];
  readonly #answers: (() => void)[] = [];

  constructor() {
    this.search = createNameSearch({
      names: async (texts) => {
        this.#asked.push(texts);
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#answers.push(resolve);
        await promise;
        return texts.map(namesIn);
      },
    });
  }

  /** What it was asked, question by question: each text by the letter that it begins with. */
  get asked(): string {
    return this.#asked.map((texts) => texts.map((text) => text.charAt(0)).join('')).join(' ');
  }

  get texts(): readonly string[] {
    return this.#asked.flat();
  }

  /** Answers so many questions, or all there are, one after the other. */
  async answer(most = Infinity): Promise<void> {
    await setImmediate();
    for (let count = 0; count < most && this.#answers.length > 0; count += 1) {
      this.#answers.shift()?.();
      await setImmediate();
    }
  }
}

const namesIn = (text: string) =>
  Array.from(text.matchAll(/[A-Z]+/g), ({ 0: name, index }) => {
    return { start: index, end: index + name.length, category: 'PERSON_NAME' };
  });

/** Of so many pieces, as they are asked about one at a time. */
const long = (letter: string, pieces: number): string => letter.repeat(pieces * 100_000);

test('a short text is next, however much waits', async () => {
  const model = new Model();
  const before = [model.search.find([long('ä', 3)]), model.search.find([long('ö', 3)])];
  await model.answer(1);
  const [found] = await Promise.all([model.search.find(['short: ADA']), model.answer(2)]);
  expect(found).toEqual([[{ start: 7, end: 10, category: 'PERSON_NAME' }]]);
  expect(model.asked).toBe('ä ö s ä');
  await Promise.all([...before, model.answer()]);
  expect(model.asked).toBe('ä ö s ä ö ä ö');
});

test('short texts that never end let a long one through in the end', async () => {
  const model = new Model();
  const slow = model.search.find([long('ä', 3)]);
  let others = 0;
  let isDone = false;
  void slow.then(() => (isDone = true));
  while (!isDone) {
    void model.search.find([`${(others += 1)} ${'x'.repeat(50_000)}`]);
    await model.answer(1);
    expect(others).toBeLessThan(12);
  }
});

test('a call that has gone asks no more, and leaves alone what others ask', async () => {
  const model = new Model();
  const gone = new AbortController();
  const first = model.search.find([long('ä', 1), long('ö', 2), 'shared: ADA'], gone.signal);
  await model.answer(0);
  const second = model.search.find(['shared: ADA']);
  const why = new Error('gone');
  gone.abort(why);
  await expect(first).rejects.toBe(why);
  await model.answer();
  expect(await second).toEqual([[{ start: 8, end: 11, category: 'PERSON_NAME' }]]);
  expect(model.asked).toBe('ä s');
  await expect(model.search.find(['never'], gone.signal)).rejects.toBe(why);
  // What was not asked about is not taken for being on its way.
  const again = model.search.find([long('ö', 2)]);
  await Promise.all([again, model.answer()]);
  expect(model.asked).toBe('ä s ö ö');
});

test('a text that several calls ask about is asked about once, as soon as the first of them has its turn', async () => {
  const model = new Model();
  const first = model.search.find([long('ä', 2), 'shared!']);
  await model.answer(0);
  const second = model.search.find(['shared!']);
  await model.answer();
  await Promise.all([first, second]);
  expect(model.asked).toBe('ä s ä');
});

test('what comes together goes together, as far as it fits', async () => {
  const model = new Model();
  const calls = Array.from({ length: 5000 }, (_, index) => model.search.find([`text ${index}`]));
  await Promise.all([...calls, model.answer()]);
  expect(model.asked.split(' ').map(({ length }) => length)).toEqual([4096, 904]);
});
