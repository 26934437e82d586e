import type { AnswerFormat } from '#/wire/hub/canonical.ts';
import { isObject, type Json } from '#/wire/document/json.ts';
import { jsonInstruction } from '#/wire/hub/json-instruction.ts';
import type { Traits } from '#/wire/hub/traits.ts';
import type { Fitting } from './fitting.ts';

/**
 * A schema that the model cannot enforce is requested in words, with the JSON mode that it can enforce. // wire-formats
 * 1.5
 */
export function fitFormat(fitting: Fitting, { json, systemRole }: Traits): void {
  if (json === 'schema') return;
  const asked = readSchema(fitting.value('response_format'));
  const messages = fitting.node('messages');
  if (!asked || messages?.kind !== 'array') return;
  fitting.lose('response_format');
  if (json === 'object') fitting.set('response_format', '{"type":"json_object"}');
  else fitting.remove(fitting.root, 'response_format');
  const start = messages.start + 1;
  const message = JSON.stringify({ role: systemRole, content: jsonInstruction(asked) });
  fitting.edit({ start, end: start, text: messages.items.length > 0 ? `${message},` : message });
}

function readSchema(format: Json | undefined): AnswerFormat | undefined {
  if (!isObject(format) || format['type'] !== 'json_schema') return undefined;
  const written = isObject(format['json_schema']) ? format['json_schema'] : {};
  const { schema, description } = written;
  if (!isObject(schema)) return { type: 'json' };
  const about = typeof description === 'string' ? { description } : {};
  return { type: 'json-schema', name: 'output', schema, ...about };
}
