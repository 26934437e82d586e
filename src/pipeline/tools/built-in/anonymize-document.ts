import { OPTION_NAMES, readAnonymizeOptions } from '#/inspect/attachments/anonymize-options.ts';
import { bareFileName } from '#/inspect/attachments/file-name.ts';
import { anonymizedAnswer } from '#/wire/documents/anonymized.ts';
import { ANONYMIZE, OPTION_ARGUMENTS, RESULT_MEMBERS, unscannedBlocks } from './anonymizing.ts';
import { FILE_ARGUMENTS, FILE_NAMES, fileIn } from './file-argument.ts';
import { ANNOTATIONS, refuseUnknown, textBlock, withMember, type DocumentTool } from './tool.ts';

/** Anonymization of a document, as of `POST /v1/documents/anonymize`. // spec 2.5 */
export const anonymizeDocument: DocumentTool = {
  kind: 'document',
  name: 'anonymize_document',
  model: ANONYMIZE,
  definition: {
    name: 'anonymize_document',
    title: 'Replace personal data in a document',
    description:
      'Returns a document (PDF, Word, spreadsheet, slides, mail, picture, text) with tags such as «EMAIL_1» in the place of ' +
      'personal data, and with blurred pictures where they show some. Works inside the gateway: nothing leaves. The request ' +
      'may have at most 4 MiB, about 3 MiB of document; send a larger one to POST /v1/documents/anonymize.',
    inputSchema: {
      type: 'object',
      required: ['content_base64'],
      additionalProperties: false,
      properties: { ...FILE_ARGUMENTS, ...OPTION_ARGUMENTS },
    },
    outputSchema: {
      type: 'object',
      required: ['filename', 'content_type', 'content_base64', 'summary', 'unscanned'],
      properties: {
        filename: { type: 'string', description: 'Without personal data, too.' },
        content_type: { type: 'string' },
        content_base64: { type: 'string' },
        ...RESULT_MEMBERS,
      },
    },
    annotations: ANNOTATIONS,
  },
  uploadOf({ value }) {
    refuseUnknown(value, [...FILE_NAMES, ...OPTION_NAMES]);
    const { name = 'document', mediaType, base64 } = fileIn(value);
    const options = readAnonymizeOptions(value, 'params.arguments');
    return { file: { name: bareFileName(name), mediaType, bytes: Buffer.from(base64, 'base64') }, options };
  },
  resultOf(document, unscanned) {
    const { content_base64: base64, ...told } = anonymizedAnswer(document);
    const { filename, content_type: mimeType } = told;
    // Nothing in it is to be escaped.
    const content = `"${base64}"`;
    const uri = `gatewarden:///anonymized/${encodeURIComponent(filename.toWellFormed())}`;
    return {
      content: [
        textBlock(JSON.stringify(JSON.stringify(told))),
        // The document, where clients look for files: as text it would fill the context of a model.
        `{"type":"resource","resource":${withMember({ uri, mimeType }, 'blob', content)}}`,
        ...unscannedBlocks(unscanned),
      ],
      structured: withMember({ ...told, unscanned }, 'content_base64', content),
    };
  },
};
