import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { encodeForm, type FormPart } from '#/wire/request/multipart-form.ts';
import { readForm } from './form-reader.ts';

const BOUNDARY = 'xyzzy';
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`;
const FORM = [
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a&quot;b.wav"\r\nContent-Type: audio/wav\r\n\r\n\u0000\r\n--xyzz\u0001\r\n`,
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="model"\r\n\r\nopenai/whisper-1\r\n`,
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="prompt"\r\n\r\nGrüße\r\n`,
  `--${BOUNDARY}--\r\n`,
].join('');

interface Flat {
  readonly name: string;
  readonly value: string;
  readonly mediaType?: string;
}

async function readAll(chunks: readonly Uint8Array[], type = TYPE): Promise<Flat[]> {
  return flatten(readForm(Readable.from(chunks, { objectMode: false }), type, () => {}));
}

async function flatten(parts: AsyncIterable<FormPart>): Promise<Flat[]> {
  const flat: Flat[] = [];
  for await (const part of parts) {
    if (part.kind === 'field') flat.push({ name: part.name, value: part.value });
    else {
      const bytes: Uint8Array[] = [];
      for await (const chunk of part.bytes) bytes.push(chunk);
      flat.push({ name: part.name, value: Buffer.concat(bytes).toString('latin1'), mediaType: part.mediaType });
    }
  }
  return flat;
}

const READ: Flat[] = [
  { name: 'file', value: '\u0000\r\n--xyzz\u0001', mediaType: 'audio/wav' },
  { name: 'model', value: 'openai/whisper-1' },
  { name: 'prompt', value: 'Grüße' },
];

describe('a form', () => {
  test('is read the same wherever it is cut', async () => {
    const bytes = Buffer.from(FORM);
    for (let at = 1; at < bytes.length; at++) {
      expect(await readAll([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(READ);
    }
  });

  test('is read in its order, also where a file follows a field', async () => {
    const field = (name: string): string =>
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\nv\r\n`;
    const file = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\nx\r\n`;
    const bytes = Buffer.from(`${field('a')}${file}${field('b')}${file}--${BOUNDARY}--\r\n`);
    for (let at = 0; at < bytes.length; at++) {
      const read = await readAll([bytes.subarray(0, at), bytes.subarray(at)].filter(({ length }) => length > 0));
      expect(read.map(({ name }) => name)).toEqual(['a', 'f', 'b', 'f']);
    }
  });

  test.each([
    ['a value', ['name="prompt"\r\n\r\n', Buffer.from('Gr\u00fc\u00dfe', 'latin1')]],
    [
      'a value that says what it is',
      ['name="p"\r\nContent-Type: text/plain; charset=latin1\r\n\r\n', Buffer.from('\u00fc', 'latin1')],
    ],
    ['half a letter', ['name="prompt"\r\n\r\n', Buffer.from('\u00fc').subarray(0, 1)]],
    ['a name', ['name="', Buffer.from('\u00fc', 'latin1'), '"\r\n\r\nx']],
  ])('is refused for %s that is not UTF-8', async (_, parts) => {
    const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; `;
    const bytes = [head, ...parts, `\r\n--${BOUNDARY}--\r\n`].map((part) => Buffer.from(part));
    await expect(readAll([Buffer.concat(bytes)])).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('not valid UTF-8') as unknown,
    });
  });

  test('keeps a sign that stands for unreadable ones where it was sent as such', async () => {
    const text = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="prompt"\r\n\r\n\ufeffa\ufffd\r\n--${BOUNDARY}--\r\n`;
    expect(await readAll([Buffer.from(text)])).toEqual([{ name: 'prompt', value: '\ufeffa\ufffd' }]);
  });

  test('is written so that it reads the same', async () => {
    const parts = readForm(Readable.from([Buffer.from(FORM)]), TYPE, () => {});
    const written: Uint8Array[] = [];
    for await (const piece of encodeForm(parts, 'other')) written.push(piece);
    expect(await readAll(written, 'multipart/form-data; boundary=other')).toEqual(READ);
  });

  test('cannot smuggle a part in through a name', async () => {
    const evil: FormPart = { kind: 'field', name: 'x"\r\nContent-Type: a/b\r\n\r\ny', value: 'v' };
    const written: Uint8Array[] = [];
    const parts = (async function* () {
      yield evil;
    })();
    for await (const piece of encodeForm(parts, 'b')) written.push(piece);
    const read = await readAll(written, 'multipart/form-data; boundary=b');
    expect(read).toHaveLength(1);
    expect(read[0]!.value).toBe('v');
  });

  test.each([1, 60, 130, 200, FORM.length - 8])(
    'that ends after %i bytes is refused, not taken for all',
    async (length) => {
      await expect(readAll([Buffer.from(FORM).subarray(0, length)])).rejects.toMatchObject({ code: 'invalid_request' });
    },
  );

  test.each(['multipart/form-data', 'multipart/form-data; boundary='])('of type %s is refused', async (type) => {
    await expect(async () => readAll([Buffer.from(FORM)], type)).rejects.toMatchObject({ code: 'invalid_request' });
  });

  test('with a field that is too long is refused', async () => {
    const long = FORM.replace('Grüße', 'x'.repeat(1024 * 1024 + 1));
    await expect(readAll([Buffer.from(long)])).rejects.toMatchObject({ code: 'request_too_large' });
  });

  test('whose sender goes away fails for the reader of its file', async () => {
    const body = new Readable({ read() {} });
    body.push(Buffer.from(FORM).subarray(0, 150));
    const parts = readForm(body, TYPE, () => {});
    const reading = flatten(parts);
    setImmediate(() => body.destroy());
    await expect(reading).rejects.toMatchObject({ code: 'invalid_request' });
  });
});
