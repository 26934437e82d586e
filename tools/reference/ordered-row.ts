import { ROW_FIELDS } from '../../src/seal/row-fields.ts';
import { inOrder, type Form, type Member } from '../../src/seal/row-forms.ts';

const POSITION: ReadonlySet<string> = new Set(['sequence', 'strand']);

/** The text of src/seal/ordered-row.ts: written out, as that is twice as fast as going through the table for each row. */
export function orderedRowSource(): string {
  const functions: string[] = [];
  const numbers: string[] = [];
  const members = inOrder<Member>(ROW_FIELDS).map(([name, member]) =>
    copied(name, member, POSITION.has(name) ? 'position' : 'row', 'AuditRow', functions, numbers),
  );
  return `import { orderedCounts, refuseNonFinite } from '#/wire/document/canonical-json.ts';
import type { AuditRow, RowPosition, UnplacedRow } from './row.ts';

// \`make docs\` writes this file: change src/seal/row-fields.ts instead.

/** Every member, also those that may be missing. */
type Complete<T> = Readonly<Record<keyof T, unknown>>;

/**
 * A copy whose members are in RFC 8785 order at every level, so that JSON.stringify writes the canonical form. Throws
 * RangeError on a number that JSON cannot hold.
 */
export function orderedRow(row: UnplacedRow, position: RowPosition): Complete<AuditRow> {
${checkOf(numbers)}  return {
${members.join('\n')}
  };
}
${functions.join('\n')}
`;
}

/** One check for all numbers of an object: each of them is asked only where their sum is not finite. As oxfmt breaks lines. */
function checkOf(numbers: readonly string[]): string {
  if (numbers.length === 0) return '';
  const each = numbers.map((number) => number.replace(/^\((.*)\)$/, '$1'));
  const condition = `  if (!Number.isFinite(${numbers.length === 1 ? each[0] : numbers.join(' + ')}))`;
  const refusal = `refuseNonFinite(${each.join(', ')});`;
  if (condition.length + refusal.length < MOST_COLUMNS) return `${condition} ${refusal}\n`;
  if (condition.length <= MOST_COLUMNS) return `${condition}\n    ${refusal}\n`;
  const sum = `  const sum =\n    ${numbers.join(' +\n    ')};\n`;
  return `${sum}  if (!Number.isFinite(sum))\n    refuseNonFinite(\n      ${each.join(',\n      ')},\n    );\n`;
}

const MOST_COLUMNS = 120;

/** A member, copied. Functions that are needed for it are added to `functions`, numbers in it to `numbers`. */
function copied(
  name: string,
  { form, when }: Member,
  from: string,
  type: string,
  functions: string[],
  numbers: string[],
): string {
  const value = copyOf(form, `${from}.${name}`, when !== undefined, `${type}['${name}']`, functions, numbers);
  return `    ${name}: ${value},`;
}

/** How a value of this form is copied in order. */
function copyOf(
  form: Form,
  value: string,
  isOptional: boolean,
  type: string,
  functions: string[],
  numbers: string[],
): string {
  const present = isOptional ? `NonNullable<${type}>` : type;
  switch (form.kind) {
    case 'number':
      numbers.push(isOptional ? `(${value} ?? 0)` : value);
      return value;
    case 'quantity':
      numbers.push(`(${value} ?? 0)`);
      return `${value} === 0 ? undefined : ${value}`;
    case 'counts':
      return isOptional ? `${value} && orderedCounts(${value})` : `orderedCounts(${value})`;
    case 'object': {
      const copy = `ordered${form.name[0]!.toUpperCase()}${form.name.slice(1)}`;
      functions.push(objectFunction(copy, form, present, functions));
      return isOptional ? `${value} && ${copy}(${value})` : `${copy}(${value})`;
    }
    case 'null-or': {
      const copy = copyOf(form.of, value, false, `NonNullable<${type}>`, functions, numbers);
      return copy === value ? value : `${value} === null ? null : ${copy}`;
    }
    case 'list': {
      const copy = copyOf(form.of, 'one', false, `${present}[number]`, functions, numbers);
      if (copy === 'one') return value;
      const each = copy.endsWith('(one)') ? copy.slice(0, -'(one)'.length) : `(one) => ${copy}`;
      const copies = `${value}.length === 0 ? ${value} : ${value}.map(${each})`;
      return isOptional ? `${value} && (${copies})` : copies;
    }
    default:
      return value;
  }
}

function objectFunction(
  name: string,
  { members }: { readonly members: Readonly<Record<string, Member>> },
  type: string,
  functions: string[],
): string {
  const numbers: string[] = [];
  const copies = inOrder(members).map(([member, its]) => copied(member, its, 'value', type, functions, numbers));
  const alias = name.replace('ordered', '');
  return `
type ${alias} = ${type};

function ${name}(value: ${alias}): Complete<${alias}> {
${checkOf(numbers)}  return {
${copies.join('\n')}
  };
}`;
}
