import { systemOneCodec } from '#/wire/systemone/codec.ts';
import { ANNOTATIONS, refuseUnknown, textBlock, type ModelTool } from './tool.ts';

const MODEL = 'gw/typed';
const MEMBERS = ['state', 'questions'];

const question = {
  type: 'object',
  required: ['type', 'instructions'],
  properties: {
    type: {
      enum: ['noul', 'choice', 'score'],
      description: 'noul: whether a statement holds. choice: one of 2 to 20 options. score: a level of 2 to 20.',
    },
    instructions: { type: 'string', description: 'The statement, or the question.' },
    criteria: {
      anyOf: [{ type: 'object' }, { type: 'array', items: { type: 'string' } }],
      description:
        'choice: the options, an array or an object with descriptions. score: an array of levels, the lowest first. ' +
        'noul: the meaning of true and false, optional.',
    },
  },
} as const;

const probability = { type: 'number', minimum: 0, maximum: 1 } as const;

const answer = {
  type: 'object',
  required: ['type', 'confidence'],
  properties: {
    type: { enum: ['noul', 'choice', 'score'] },
    noul: { ...probability, description: 'Probability that the statement holds.' },
    choice: { type: 'string', description: 'The likeliest option.' },
    score: { type: 'number', description: 'The level to be expected, from 0.' },
    legend: { type: 'object', additionalProperties: { type: 'string' } },
    probabilities: { type: 'object', additionalProperties: probability },
    confidence: probability,
    answer_confidence: { ...probability, description: 'How much the answer is to be relied on: decide by it.' },
  },
} as const;

/** Typed decisions, as of `POST /v1/systemone` with `gw/typed`. // spec 2.6, 4.4 */
export const decide: ModelTool = {
  kind: 'model',
  name: 'decide',
  model: MODEL,
  codec: systemOneCodec,
  definition: {
    name: 'decide',
    title: 'Answer typed questions',
    description:
      'Answers 1 to 16 questions about a state with a small local model: whether a statement holds, which option fits, ' +
      'which level. Nothing leaves the gateway. It recognizes topics, intents and moods of short texts well; it does not ' +
      'count or reason in steps. It reads the first 384 words of the state. At most 128 KiB of state, 64 KiB of questions.',
    inputSchema: {
      type: 'object',
      required: MEMBERS,
      additionalProperties: false,
      properties: {
        state: {
          anyOf: [{ type: 'string' }, { type: 'object' }, { type: 'array', items: {} }],
          description: 'What the questions are about: a text, or JSON.',
        },
        questions: {
          type: 'object',
          minProperties: 1,
          maxProperties: 16,
          additionalProperties: question,
          description: 'Questions by names of your own, which the answers repeat.',
        },
      },
    },
    outputSchema: {
      type: 'object',
      required: ['model', 'answers', 'revision'],
      properties: {
        model: { type: 'string' },
        answers: { type: 'object', additionalProperties: answer },
        revision: { type: 'string', description: 'SHA-256 of the weights of the model.' },
        usage: {
          type: 'object',
          properties: { input_tokens: { type: 'integer' }, output_tokens: { type: 'integer' } },
        },
      },
    },
    annotations: ANNOTATIONS,
  },
  bodyOf({ source, value }) {
    refuseUnknown(value, MEMBERS);
    // As the client wrote them: numbers, order and escapes of a state are part of it.
    const members = source.slice(source.indexOf('{') + 1);
    const separator = Object.keys(value).length > 0 ? ',' : '';
    return `{"model":${JSON.stringify(MODEL)}${separator}${members}`;
  },
  resultOf: (body) => ({ content: [textBlock(JSON.stringify(body))], structured: body }),
};
