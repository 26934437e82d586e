import type { AnswerFormat, ModelRequest } from './canonical.ts';
import type { Traits } from './traits.ts';

/** Asks in words for the format of an answer: for models that cannot be held to it. // wire-formats 2.1 */
export function jsonInstruction(format: AnswerFormat): string {
  const plain = 'Answer with one JSON value and nothing else: no introduction, no code fence.';
  if (format.type === 'json') return plain;
  const about = format.description === undefined ? '' : ` It is: ${format.description}`;
  return `${plain}${about} It must match this JSON Schema:\n${JSON.stringify(format.schema)}`;
}

/** Whether the output format must be described in words, in the families that OpenAI made. */
export function needsJsonInstruction({ format }: ModelRequest, { json }: Traits): boolean {
  if (format === undefined || json === 'schema') return false;
  return format.type === 'json-schema' || json !== 'object';
}
