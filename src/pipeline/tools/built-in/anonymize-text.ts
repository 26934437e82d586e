import { OPTION_NAMES, readAnonymizeOptions } from '#/inspect/attachments/anonymize-options.ts';
import { summaryOf } from '#/wire/documents/anonymized.ts';
import { ANONYMIZE, OPTION_ARGUMENTS, RESULT_MEMBERS, unscannedBlocks } from './anonymizing.ts';
import { ANNOTATIONS, invalidArgument, refuseUnknown, textBlock, withMember, type DocumentTool } from './tool.ts';

/** What no text has: control characters but white space and escape; and what makes it a PDF. */
// oxlint-disable-next-line no-control-regex -- the pattern searches for them
const NO_TEXT = /[\u0000-\u0008\u000b\u000e-\u001a\u001c-\u001f]/;
const PDF_WITHIN = 1024;

/** Anonymization of a text, as of a text file at `POST /v1/documents/anonymize`. // spec 2.5 */
export const anonymizeText: DocumentTool = {
  kind: 'document',
  name: 'anonymize_text',
  model: ANONYMIZE,
  definition: {
    name: 'anonymize_text',
    title: 'Replace personal data in a text',
    description:
      'Replaces personal data in a text by tags such as «EMAIL_1», the same tag for the same value. Works inside the gateway: ' +
      'nothing leaves. Text that reads as HTML, RTF or mail is treated as such. The request may have at most 4 MiB; send a ' +
      'larger text as a file to POST /v1/documents/anonymize.',
    inputSchema: {
      type: 'object',
      required: ['text'],
      additionalProperties: false,
      properties: { text: { type: 'string', minLength: 1 }, ...OPTION_ARGUMENTS },
    },
    outputSchema: {
      type: 'object',
      required: ['text', 'summary', 'unscanned'],
      properties: { text: { type: 'string', description: 'The text with tags.' }, ...RESULT_MEMBERS },
    },
    annotations: ANNOTATIONS,
  },
  uploadOf({ value }) {
    refuseUnknown(value, ['text', ...OPTION_NAMES]);
    const { text } = value;
    const param = 'params.arguments.text';
    if (typeof text !== 'string' || text === '')
      throw invalidArgument(`${param} must be a text that is not empty.`, param);
    if (NO_TEXT.test(text) || text.slice(0, PDF_WITHIN).includes('%PDF-'))
      throw invalidArgument(`${param} must be a text: send documents of other formats to anonymize_document.`, param);
    const bytes = Buffer.from(text);
    return {
      file: { name: 'text.txt', mediaType: 'text/plain', bytes },
      options: readAnonymizeOptions(value, 'params.arguments'),
    };
  },
  resultOf(document, unscanned) {
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(document.bytes);
    const source = JSON.stringify(text);
    const { mapping } = document;
    const told = { summary: summaryOf(document), ...(mapping && { mapping }), unscanned };
    return {
      content: [textBlock(source), ...unscannedBlocks(unscanned)],
      structured: withMember(told, 'text', source),
    };
  },
};
