import { expect, test } from 'vitest';
import type { DocumentFile, RedactedDocument } from '#/ports/documents.ts';
import { picture, writtenPage } from '../../../test/harness/pictures.ts';
import type { Tools } from '../format.ts';
import { html } from './html.ts';

const tools: Tools = {
  recognize: () => Promise.reject(new Error('not wanted')),
  checkTime: () => {},
  onPages: () => {},
};
const fileOf = (content: string | Uint8Array): DocumentFile => ({
  name: 'a.html',
  mediaType: 'text/html',
  bytes: typeof content === 'string' ? Buffer.from(content) : content,
});

async function anonymize(
  content: string | Uint8Array,
  tags: Readonly<Record<string, string>>,
): Promise<RedactedDocument> {
  const { units, layout } = await html.read(fileOf(content), { recognize: 'auto' }, tools);
  const replacements = units.flatMap(({ id, text }) =>
    Object.entries(tags).flatMap(([original, tag]) => {
      const start = text.indexOf(original);
      return start < 0 ? [] : [{ unit: id, start, end: start + original.length, tag }];
    }),
  );
  return html.redact(fileOf(content), { layout, replacements, originals: Object.keys(tags) }, tools);
}
const faultOf = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'none',
    (error: unknown) => (error as { kind?: string }).kind ?? error,
  );

const TAGS = { 'Ada Lovelace': '«PERSON_1»', 'ada@example.com': '«EMAIL_1»' };

test('nothing is left in text, attributes, comments, scripts, styles, frames or pictures; the rest stands', async () => {
  const photo = (
    await picture(writtenPage(['ADA']))
      .withExif({ IFD0: { Artist: 'Ada Lovelace' } })
      .jpeg()
      .toBuffer()
  ).toString('base64');
  const { bytes, images } = await anonymize(
    `<!DOCTYPE html><!-- Ada Lovelace --><html lang="en"><head><title>Ada Lovelace</title><meta name="author" content="Ada Lovelace">
    <style>p::before{content:"Ada Lovelace"}</style><script>var a = 'Ada Lovelace'</script><link rel="me" href="mailto:ada@example.com"></head>
    <body onload="alert('Ada Lovelace')"><h1 id="ada-lovelace" data-name="Ada Lovelace" aria-label="Ada Lovelace">Dear A<b>da</b> Love&#108;ace</h1>
    <p style="color:red" title="Ada Lovelace">Hello <i>world</i></p><p>Ada</p><p>Lovelace</p><a href="mailto:ada%40example.com">write</a><a href="https://example.org/x">site</a><a href="#ada-lovelace">up</a>
    <a href="javascript:alert(1)">run</a><input value="Ada Lovelace" placeholder="ada@example.com"><img alt="Ada Lovelace" src="data:image/jpeg;base64,${photo}"><img src="https://example.com/ada.png">
    <iframe srcdoc="Ada Lovelace"></iframe><object>Ada Lovelace</object><template>Ada Lovelace</template><noscript>Ada Lovelace in no script</noscript><svg><text>Ada Lovelace</text></svg>
    <table><tr><td>1</td><td>Ada Lovelace</td></tr></table><ada-lovelace>x</ada-lovelace></body></html>`,
    TAGS,
  );
  const text = Buffer.from(bytes).toString();
  expect(
    text.replace(/data:[^"]*/g, '').match(/\bada\b|lovelace|example\.com|script:|onload|<style|<script/gi) ?? [],
  ).toEqual([]);
  expect(images).toBe(1);
  for (const kept of [
    'Dear ',
    '«PERSON_1»',
    '<p style="color:red" title="«PERSON_1»">Hello <i>world</i></p>',
    'href="https://example.org/x"',
    '<td>1</td>',
    'placeholder="«EMAIL_1»"',
    '<meta charset="utf-8">',
  ])
    expect(text).toContain(kept);
  expect(/id="([^"]*)"/.exec(text)?.[1]).toBe(/href="#([^"]*)"/.exec(text)?.[1]);
  const [, data = ''] = /base64,([^"]*)/.exec(text) ?? [];
  expect(Buffer.from(data, 'base64').toString('latin1')).not.toContain('Ada');
});

test('text within a block is one unit; hidden parts come last', async () => {
  const { units } = await html.read(
    fileOf('<div hidden>secret</div><p>A<b>d</b>a<br>L.</p><img alt="x">'),
    { recognize: 'never' },
    tools,
  );
  expect(units.map(({ text, visibility }) => [text, visibility])).toEqual([
    ['Ada\nL.', 'shown'],
    ['secret', 'hidden'],
    ['x', 'hidden'],
  ]);
});

test('encodings: as it says, as its mark says, else UTF-8 or Windows-1252', async () => {
  const read = async (bytes: Uint8Array): Promise<string | undefined> =>
    (await html.read(fileOf(bytes), { recognize: 'never' }, tools)).units[0]?.text;
  expect(await read(Buffer.from('<meta charset=iso-8859-2><p>Łódź'))).toBeDefined();
  expect(await read(Buffer.from('<p>Zo\u00eb', 'latin1'))).toBe('Zo\u00eb');
  expect(await read(Buffer.from('\ufeff<p>Zo\u00eb', 'utf16le'))).toBe('Zo\u00eb');
  expect(await faultOf(read(Buffer.from('<meta charset="utf-7"><p>x')))).toBe('unreadable');
});

test('what is too deep or too much is refused soon', async () => {
  expect(await faultOf(anonymize('<div>'.repeat(100_000), TAGS))).toBe('too_large');
  expect(await faultOf(anonymize('<b>'.repeat(100_000), TAGS))).toBe('too_large');
  expect(await faultOf(anonymize('<p>a'.repeat(150_000), TAGS))).toBe('too_large');
});
