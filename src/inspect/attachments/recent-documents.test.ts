import { expect, test } from 'vitest';
import { DocumentFault, type DocumentEngine, type DocumentFile } from '#/ports/documents.ts';
import { RecentDocuments } from './recent-documents.ts';

const { signal } = new AbortController();
const file = (text: string, name = 'a.pdf'): DocumentFile => ({
  name,
  mediaType: 'application/pdf',
  bytes: Buffer.from(text),
});

/** An engine that counts what it is asked, with answers of a size. */
function countingEngine(length = 10): { readonly engine: DocumentEngine; readonly asked: string[] } {
  const asked: string[] = [];
  const engine: DocumentEngine = {
    read: ({ bytes }) => {
      asked.push(`read ${Buffer.from(bytes).toString()}`);
      if (bytes.length === 0) return Promise.reject(new DocumentFault('busy', 'later'));
      const units = [{ id: '1', text: 'x'.repeat(length), visibility: 'shown' as const }];
      return Promise.resolve({ kind: 'pdf', pages: 1, images: 0, units, recognizedPages: [], layout: '' });
    },
    render: () => {
      asked.push('render');
      return Promise.resolve([]);
    },
    redact: (_file, { originals }) => {
      asked.push(`redact ${originals.join()}`);
      return Promise.resolve({
        bytes: Buffer.from('r'),
        mediaType: 'text/plain',
        pages: 1,
        images: 0,
        downgraded: false,
      });
    },
    recognize: () => Promise.resolve([]),
    ping: () => Promise.resolve(),
  };
  return { engine, asked };
}

test('the same document is worked on once; another organization, name, content or wish is another', async () => {
  const { engine, asked } = countingEngine();
  const recent = new RecentDocuments(engine);
  const [acme, other] = [recent.of('acme'), recent.of('other')];
  const first = await acme.read(file('A'), { recognize: 'auto' }, signal);
  expect(await recent.of('acme').read(file('A'), { recognize: 'auto' }, signal)).toBe(first);
  expect(asked).toEqual(['read A']);
  await other.read(file('A'), { recognize: 'auto' }, signal);
  await acme.read(file('A', 'b.pdf'), { recognize: 'auto' }, signal);
  await acme.read(file('B'), { recognize: 'auto' }, signal);
  await acme.read(file('A'), { recognize: 'never' }, signal);
  expect(asked).toHaveLength(5);
  for (const original of ['Ada', 'Bob', 'Ada']) {
    await acme.redact(file('A'), { layout: '', replacements: [], originals: [original] }, signal);
  }
  expect(asked.slice(5)).toEqual(['redact Ada', 'redact Bob']);
});

test('a fault is not remembered', async () => {
  const { engine, asked } = countingEngine();
  const acme = new RecentDocuments(engine).of('acme');
  for (let time = 0; time < 2; time++) {
    await expect(acme.read(file(''), { recognize: 'auto' }, signal)).rejects.toMatchObject({ kind: 'busy' });
  }
  expect(asked).toHaveLength(2);
});

test('no more than 32 MiB are kept', async () => {
  const { engine, asked } = countingEngine(5 * 1024 * 1024);
  const acme = new RecentDocuments(engine).of('acme');
  const read = (text: string): Promise<unknown> => acme.read(file(text), { recognize: 'auto' }, signal);
  for (const text of 'ABCDE') await read(text);
  await read('E');
  expect(asked).toHaveLength(5);
  // Of ten mebibytes each, the oldest had to go.
  await read('A');
  expect(asked).toHaveLength(6);
  const huge = countingEngine(20 * 1024 * 1024);
  const large = new RecentDocuments(huge.engine).of('acme');
  for (let time = 0; time < 2; time++) await large.read(file('A'), { recognize: 'auto' }, signal);
  expect(huge.asked).toHaveLength(2);
});
