import type { Tool } from './canonical.ts';
import type { Json, JsonObject } from '../document/json.ts';

/** Tools that take a text: to models that know functions alone, functions of one text. */

const INPUT: JsonObject = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] };

/** Such a tool as a function. A grammar can only be described in words: it is not enforced. */
export function customTool(
  name: string,
  description: string | undefined,
  { definition, syntax }: { readonly definition?: Json | undefined; readonly syntax?: Json | undefined },
): Tool {
  const grammar =
    typeof definition === 'string'
      ? `The input follows this grammar (${typeof syntax === 'string' ? syntax : 'lark'}):\n${definition}`
      : undefined;
  const told = [description, grammar].filter(Boolean).join('\n\n');
  return { name, ...(told !== '' && { description: told }), parameters: INPUT };
}

/** The input of such a tool, as arguments of its function. */
export function argumentsOf(input: Json | undefined): string {
  return JSON.stringify({ input: typeof input === 'string' ? input : '' });
}

/** The input of its function, as a text: other arguments are the text itself. */
export function inputOf(argumentsJson: string): string {
  try {
    const told: unknown = JSON.parse(argumentsJson);
    const input = typeof told === 'object' && told !== null && 'input' in told ? told.input : undefined;
    return typeof input === 'string' ? input : argumentsJson;
  } catch {
    return argumentsJson;
  }
}
