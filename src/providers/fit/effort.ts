import type { Effort } from '#/wire/hub/canonical.ts';
import type { Json } from '#/wire/document/json.ts';
import type { Traits } from '#/wire/hub/traits.ts';

/** The model's word for a requested effort; undefined if it has none. // spec 4.3.1 */
export function effortWord(asked: Json | undefined, { reasoning }: Traits): string | undefined {
  if (typeof asked !== 'string' || reasoning.control !== 'effort' || !Object.hasOwn(reasoning.words, asked)) {
    return undefined;
  }
  return reasoning.words[asked as Effort];
}
