import { Document, Scalar, visit } from 'yaml';
import { countHidden } from '#/values/hidden-characters.ts';
import type { Json, JsonObject } from '#/wire/document/json.ts';

/** What all parsers of YAML read alike without quotation marks, or on several lines. */
const PLAIN = /^[A-Za-z/][\x20-\x7e\n]*$/;
/** What parsers of YAML may take for the end of a line, or refuse, within quotation marks. */
const UNSAFE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]|\p{Cf}|\p{Co}|\p{Cs}|\p{Default_Ignorable_Code_Point}/gu;

/** A resource as YAML that all parsers, of YAML 1.1 and 1.2, read as the same. */
export function writeYaml(resource: JsonObject): string {
  const document = new Document(resource, { version: '1.1', aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === 'string' && !PLAIN.test(node.value)) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  const text = document.toString({ lineWidth: 120, doubleQuotedAsJSON: true, blockQuote: 'literal' });
  // Such characters are only in texts with quotation marks: all else is ASCII.
  return text.replace(UNSAFE, escaped).trimEnd();
}

function escaped(character: string): string {
  const code = character.codePointAt(0)!.toString(16).toUpperCase();
  return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
}

/** By this name YAML 1.1 merges maps: it is written, and by some read, without regard to quotation marks. */
const MERGES = '<<';

/**
 * Whether a name or a text anywhere in a value is not read as it stands there: it has characters that a reader does not see,
 * or another meaning.
 */
export function misleads(value: Json | undefined): boolean {
  if (typeof value === 'string') return value === MERGES || countHidden(value) > 0;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, inner]) => misleads(name) || misleads(inner));
}
