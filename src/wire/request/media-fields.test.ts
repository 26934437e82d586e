import { expect, test } from 'vitest';
import { BadRequestShape } from '../hub/codec.ts';
import { readDocument } from '../document/document.ts';
import { mediaIn } from './media-fields.ts';
import { textPlaces } from '../hub/plain-codec.ts';
import { collectContents } from './collect-contents.ts';

const PNG = Buffer.from(`89504e470d0a1a0a${'00'.repeat(60)}`, 'hex').toString('base64');
const PDF = Buffer.from(`%PDF-1.7\n${'\u0000'.repeat(60)}`).toString('base64');
const MP4 = Buffer.from(`0000001866747970${'00'.repeat(60)}`, 'hex').toString('base64');
const places = { ...textPlaces('prompt'), mediaIn, isBareMedia: () => true };

/** What media a body has, and the texts that are left to be read in its values. */
function seen(body: object): { media: readonly string[]; texts: readonly string[] } {
  const { media, leaves } = collectContents(readDocument('passthrough', JSON.stringify(body)), places);
  const names = new Set(JSON.stringify(body).match(/(?<=")[^"]*(?=":)/g));
  return {
    media: media.map(({ kind, source }) => `${kind} ${source}`),
    texts: leaves.map(({ text }) => text).filter((text) => !names.has(text)),
  };
}

test.each<[object, string]>([
  [{ image: `data:image/png;base64,${PNG}` }, 'image inline'],
  [{ image: PNG }, 'image inline'],
  [{ IMAGE: [PNG] }, 'image inline'],
  [{ images: [{ image_url: `data:image/png;base64,${PNG}` }] }, 'image inline'],
  [{ mask: { data: PNG, type: 'x' } }, 'image inline'],
  [{ x_vendor: { deep: [PNG] } }, 'image inline'],
  [{ x_vendor: `data:image/png;base64,${PNG}` }, 'image inline'],
  [{ x_vendor: 'DATA:video/mp4;base64,AAAA' }, 'image inline'],
  [{ x_vendor: 'data:audio/wav;base64,AAAA' }, 'audio inline'],
  [{ x_vendor: 'data:application/zip;base64,AAAA' }, 'file inline'],
  [{ x_vendor: PDF }, 'file inline'],
  [{ image: PDF }, 'file inline'],
  [{ input_reference: { file_id: 'file-1' } }, 'image remote'],
  [{ image_url: 'https://x.example/a.png' }, 'image remote'],
  [{ imageUrl: 'https://x.example/a.png' }, 'image remote'],
  [{ 'image-url': PNG }, 'image inline'],
  [{ 'image[0]': PNG }, 'image inline'],
  [{ 'images[]': 'https://x.example/a.png' }, 'image remote'],
  [{ last_frame_image: 'https://x.example/a.png' }, 'image remote'],
  [{ subject_reference: [{ url: 'https://x.example/a.png' }] }, 'image remote'],
  [{ x_vendor: MP4 }, 'image inline'],
  [{ image: PNG.replaceAll(/.{60}/g, '$&\r\n  ') }, 'image inline'],
])('%j is media', (body, media) => {
  expect(seen(body).media).toEqual([media]);
});

test('bytes are not read as text; addresses are', () => {
  expect(seen({ image: PNG, x: `data:image/png;base64,${PNG}` }).texts).toEqual([]);
  expect(seen({ image_url: 'https://x.example/?u=ada' }).texts).toEqual(['https://x.example/?u=ada']);
});

test.each([
  { image: '4111111111111111' },
  { mask: '4111-1111-1111-1111' },
  { video: 'HansMeier' },
  { images: [['DE89370400440532013000']] },
  { image: { bytes: '4111111111111111' } },
  { input_reference: 'HansMeier' },
  { x_vendor: 'data:image/png;base64,4111111111111111' },
  { image: `${'HansMeier'.repeat(50)}` },
])('%j is named, and read as text too', (body) => {
  const { media, texts } = seen(body);
  expect(media).toHaveLength(1);
  expect(texts).toHaveLength(1);
});

test.each([
  { prompt: 'data: a chart of it' },
  { description: 'Data: Hans Meier bought this' },
  { lyrics: 'data: la la', prompts: ['data: the chart'] },
  { reference: 'https://x.example/a', image_size: 'large', frame_rate: 'auto' },
  { cursor: Buffer.from('{"page":2,"of":"Hans Meier, Berlin","more":"and so on and on"}').toString('base64') },
  { input: PNG },
  { size: '1024x1024', quality: 'auto', seconds: '8', voice: 'alloy' },
  { image_size: 'square_hd', image: '' },
  { file: 'abcdefgh'.repeat(16) },
])('%j is text', (body) => {
  expect(seen(body)).toEqual({ media: [], texts: Object.values(body).flat() });
});

test.each([
  { image: 'a cat.png' },
  { image: 'Hans Meier 4111 1111 1111 1111' },
  { frame: { content: 'Hans Meier' } },
  { x_vendor: 'data:image/png;base64,Hans Meier 4111 1111 1111 1111' },
  { image: 'data:image/png,%89PNG' },
  { x_vendor: 'data:image/svg+xml,<svg/>' },
])('nobody can tell what %j is', (body) => {
  expect(() => seen(body)).toThrow(BadRequestShape);
});
