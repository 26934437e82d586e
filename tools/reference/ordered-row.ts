import { ROW_FIELDS } from '../../src/seal/row-fields.ts';
import { inOrder, type Form, type Member } from '../../src/seal/row-forms.ts';

const POSITION: ReadonlySet<string> = new Set(['sequence', 'strand']);
const HELPERS = ['amountIfAny', 'finiteIfAny', 'orderedCounts'];

/** The text of src/seal/ordered-row.ts: written out, as that is twice as fast as going through the table for each row. */
export function orderedRowSource(): string {
  const functions: string[] = [];
  const members = inOrder<Member>(ROW_FIELDS).map(([name, member]) =>
    copied(name, member, POSITION.has(name) ? 'position' : 'row', 'AuditRow', functions),
  );
  const body = functions.join('\n');
  return `import { finite, ${HELPERS.filter((name) => body.includes(name) || members.join().includes(name)).join(', ')} } from '#/wire/document/canonical-json.ts';
import type { AuditRow, RowPosition, UnplacedRow } from './row.ts';

// \`make docs\` writes this file: change src/seal/row-fields.ts instead.

/** Every member, also those that may be missing. */
type Complete<T> = Readonly<Record<keyof T, unknown>>;

/** A copy whose members are in RFC 8785 order at every level, so that JSON.stringify writes the canonical form. */
export function orderedRow(row: UnplacedRow, position: RowPosition): Complete<AuditRow> {
  return {
${members.join('\n')}
  };
}
${body}
`;
}

function copied(name: string, { form, when }: Member, from: string, type: string, functions: string[]): string {
  const value = copyOf(form, `${from}.${name}`, when !== undefined, `${type}['${name}']`, functions);
  return `    ${name}: ${value},`;
}

/** How a value of this form is copied in order. Functions that are needed for it are added to `functions`. */
function copyOf(form: Form, value: string, isOptional: boolean, type: string, functions: string[]): string {
  const present = isOptional ? `NonNullable<${type}>` : type;
  switch (form.kind) {
    case 'number':
      return isOptional ? `finiteIfAny(${value})` : `finite(${value})`;
    case 'quantity':
      return `amountIfAny(${value})`;
    case 'counts':
      return isOptional ? `${value} && orderedCounts(${value})` : `orderedCounts(${value})`;
    case 'object': {
      const copy = `ordered${form.name[0]!.toUpperCase()}${form.name.slice(1)}`;
      functions.push(objectFunction(copy, form, present, functions));
      return isOptional ? `${value} && ${copy}(${value})` : `${copy}(${value})`;
    }
    case 'null-or': {
      const copy = copyOf(form.of, value, false, `NonNullable<${type}>`, functions);
      return copy === value ? value : `${value} === null ? null : ${copy}`;
    }
    case 'list': {
      const copy = copyOf(form.of, 'one', false, `${present}[number]`, functions);
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
  const copies = inOrder(members).map(([member, its]) => copied(member, its, 'value', type, functions));
  const alias = name.replace('ordered', '');
  return `
type ${alias} = ${type};

function ${name}(value: ${alias}): Complete<${alias}> {
  return {
${copies.join('\n')}
  };
}`;
}
