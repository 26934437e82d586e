import { ENDPOINTS } from '#/surfaces/endpoints.ts';
import { MEMBERS } from '../../src/wire/kept/table.ts';

/** Where a member stands in the body of a surface. */
export function bodyWith(
  family: string,
  model: string,
  placed: Record<string, unknown>,
): { path: string; body: object } | undefined {
  if (family === 'passthrough') return { path: '/v1/images/edits', body: { model, prompt: 'a', ...placed } };
  const door = ENDPOINTS.find(({ codec }) => codec.family === family);
  const bodies: Readonly<Record<string, object>> = {
    chat: { messages: [{ role: 'user', content: 'Hi' }] },
    messages: { max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
    responses: { input: 'Hi' },
    completions: { prompt: 'Hi' },
    embeddings: { input: 'Hi' },
    moderations: { input: 'Hi' },
    decisions: { input: 'Hi', questions: [{ type: 'predicate', instructions: 'It is urgent.' }] },
    images: { prompt: 'Hi' },
  };
  return door && bodies[family] ? { path: door.paths[0]!, body: { model, ...bodies[family], ...placed } } : undefined;
}

const FAMILIES = [
  'chat',
  'messages',
  'responses',
  'completions',
  'embeddings',
  'moderations',
  'decisions',
  'images',
  'passthrough',
];

export interface Case {
  readonly name: string;
  readonly family: string;
  readonly place: (id: string) => Record<string, unknown>;
}

/** Every member of the table in every family it holds for, in the request itself or in what holds it. */
export const MEMBER_CASES: readonly Case[] = MEMBERS.filter(({ anyValue }) => !anyValue).flatMap(
  ({ names, families = FAMILIES, inside, kind }) =>
    names.flatMap((name) =>
      families
        .filter((family) => FAMILIES.includes(family))
        .flatMap((family) =>
          (inside ?? ['', 'tools']).map((holder): Case => {
            const place = (id: string): Record<string, unknown> => {
              const value = name.endsWith('s') ? [id] : id;
              const object = { ...(kind === 'item' && { type: 'item_reference' }), [name]: value };
              if (holder === '') return object;
              if (holder === 'tools') return { tools: [{ type: 'code_interpreter', ...object }] };
              return { [holder]: holder === 'input' ? [object] : object };
            };
            return { name: `${family} ${holder}.${name}`, family, place };
          }),
        ),
    ),
);

/** Places that clients use. */
export const USED_CASES: readonly Case[] = [
  {
    name: 'chat file part',
    family: 'chat',
    place: (id) => ({ messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: id } }] }] }),
  },
  {
    name: 'chat earlier sound',
    family: 'chat',
    place: (id) => ({
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', audio: { id } },
        { role: 'user', content: 'b' },
      ],
    }),
  },
  {
    name: 'responses image by id',
    family: 'responses',
    place: (id) => ({ input: [{ role: 'user', content: [{ type: 'input_image', file_id: id }] }] }),
  },
  {
    name: 'responses result of a tool',
    family: 'responses',
    place: (id) => ({
      input: [{ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_file', file_id: id }] }],
    }),
  },
  {
    name: 'responses stored reasoning',
    family: 'responses',
    place: (id) => ({
      input: [
        { type: 'reasoning', id, summary: [] },
        { role: 'user', content: 'a' },
      ],
    }),
  },
  {
    name: 'responses stored image',
    family: 'responses',
    place: (id) => ({
      input: [
        { type: 'image_generation_call', id },
        { role: 'user', content: 'a' },
      ],
    }),
  },
  {
    name: 'responses message without content',
    family: 'responses',
    place: (id) => ({ input: [{ type: 'message', role: 'assistant', id }] }),
  },
  {
    name: 'responses variable of a prompt',
    family: 'responses',
    place: (id) => ({ prompt: { id: 'none', variables: { x: { type: 'input_file', file_id: id } } } }),
  },
  {
    name: 'responses container with files',
    family: 'responses',
    place: (id) => ({ tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: [id] } }] }),
  },
  {
    name: 'messages document',
    family: 'messages',
    place: (id) => ({
      messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: id } }] }],
    }),
  },
  {
    name: 'messages upload',
    family: 'messages',
    place: (id) => ({ messages: [{ role: 'user', content: [{ type: 'container_upload', file_id: id }] }] }),
  },
  {
    name: 'messages result of a tool',
    family: 'messages',
    place: (id) => ({
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 't',
              content: [{ type: 'image', source: { type: 'file', file_id: id } }],
            },
          ],
        },
      ],
    }),
  },
  {
    name: 'messages custom skill',
    family: 'messages',
    place: (id) => ({ container: { skills: [{ type: 'custom', skill_id: id, version: 'latest' }] } }),
  },
  { name: 'pictures by id', family: 'passthrough', place: (id) => ({ images: [{ file_id: id }] }) },
];
