import { ocrCodec } from '#/wire/ocr/codec.ts';
import { FILE_ARGUMENTS, FILE_NAMES, fileIn } from './file-argument.ts';
import { ANNOTATIONS, refuseUnknown, textBlock, withMember, type ModelTool } from './tool.ts';

const MODEL = 'gw/ocr';
const MEMBERS = [...FILE_NAMES, 'pages', 'languages'];

const page = {
  type: 'object',
  required: ['index', 'markdown'],
  properties: {
    index: { type: 'integer', description: 'From 0.' },
    markdown: { type: 'string' },
    images: { type: 'array', items: { type: 'object' } },
    dimensions: {
      type: 'object',
      properties: { dpi: { type: 'integer' }, height: { type: 'integer' }, width: { type: 'integer' } },
    },
  },
} as const;

/** Text recognition, as of `POST /v1/ocr` with `gw/ocr`. // spec 2.4 */
export const ocr: ModelTool = {
  kind: 'model',
  name: 'ocr',
  model: MODEL,
  codec: ocrCodec,
  definition: {
    name: 'ocr',
    title: 'Read a document',
    description:
      'Reads a document (PDF, scan, photo, Word, spreadsheet, slides, mail) and returns its pages as Markdown. Works inside ' +
      'the gateway: nothing leaves. Personal data is returned as it is: use anonymize_document first where it must not be ' +
      'seen. The request may have at most 4 MiB, about 3 MiB of document; send a larger one to POST /v1/ocr.',
    inputSchema: {
      type: 'object',
      required: ['content_base64'],
      additionalProperties: false,
      properties: {
        ...FILE_ARGUMENTS,
        pages: {
          anyOf: [{ type: 'array', items: { type: 'integer', minimum: 0 } }, { type: 'string' }],
          description: 'Only these pages, from 0: [0, 2] or "0-4,7". Default: all.',
        },
        languages: {
          type: 'array',
          items: { type: 'string' },
          description: 'Likely languages: en, de, fr, es, it, nl, pl, pt. Default: detected.',
        },
      },
    },
    outputSchema: {
      type: 'object',
      required: ['pages', 'model', 'usage_info'],
      properties: {
        pages: { type: 'array', items: page },
        model: { type: 'string' },
        usage_info: {
          type: 'object',
          properties: { pages_processed: { type: 'integer' }, doc_size_bytes: { type: 'integer' } },
        },
      },
    },
    annotations: ANNOTATIONS,
  },
  bodyOf({ value }) {
    refuseUnknown(value, MEMBERS);
    const { name, mediaType, base64 } = fileIn(value);
    const { pages, languages } = value;
    const document = {
      type: 'document_url',
      ...(name !== undefined && { document_name: name }),
    };
    // The address has nothing to escape.
    const source = withMember(document, 'document_url', `"data:${mediaType};base64,${base64}"`);
    const rest = { model: MODEL, ...(pages !== undefined && { pages }), ...(languages !== undefined && { languages }) };
    return withMember(rest, 'document', source);
  },
  resultOf(body) {
    const { pages } = JSON.parse(body) as { readonly pages: readonly { readonly markdown: string }[] };
    const text = pages.map(({ markdown }) => markdown).join('\n\n');
    return { content: [textBlock(JSON.stringify(text))], structured: body };
  },
};
