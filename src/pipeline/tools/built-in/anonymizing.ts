import { ENTITIES } from '#/values/entities.ts';
import { textBlock } from './tool.ts';

/** What allow-lists and price books call anonymization. */
export const ANONYMIZE = 'gw/anonymize';

/** The options of the endpoint, as arguments. */
export const OPTION_ARGUMENTS = {
  entities: {
    type: 'array',
    items: { enum: ENTITIES },
    maxItems: 64,
    description: 'Kinds of personal data to replace. Default: every kind that this installation can detect.',
  },
  remove: {
    type: 'array',
    items: {
      anyOf: [
        { type: 'string' },
        {
          type: 'object',
          required: ['term'],
          properties: {
            term: { type: 'string' },
            label: { type: 'string', description: 'Kind of the term: names its tag.' },
          },
        },
      ],
    },
    maxItems: 256,
    description: 'More terms to replace: names, projects, anything that must not stay.',
  },
  include_mapping: {
    type: 'boolean',
    description: 'Adds which original each tag stands for. Leave it out where a model must not see originals.',
  },
} as const;

/** Members of a result next to the document. */
export const RESULT_MEMBERS = {
  summary: {
    type: 'object',
    required: ['pages', 'images', 'categories', 'downgraded'],
    properties: {
      pages: { type: 'integer' },
      images: { type: 'integer', description: 'Images that were blurred.' },
      categories: { type: 'array', items: { type: 'string' }, description: 'Kinds that were found.' },
      downgraded: { type: 'boolean', description: 'Pages became pictures because their text could not be rewritten.' },
    },
  },
  mapping: {
    type: 'array',
    items: {
      type: 'object',
      required: ['token', 'original'],
      properties: { token: { type: 'string' }, original: { type: 'string' } },
    },
  },
  unscanned: {
    type: 'array',
    items: { type: 'string' },
    description: 'Kinds that were not searched for, because this installation cannot detect them.',
  },
} as const;

/** Tells a model what it must not rely on; nothing where all kinds were searched for. */
export function unscannedBlocks(unscanned: readonly string[]): readonly string[] {
  if (unscanned.length === 0) return [];
  return [textBlock(JSON.stringify(`Not searched for, and maybe still there: ${unscanned.join(', ')}.`))];
}
