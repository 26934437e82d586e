import fc from 'fast-check';
import { ROW_FIELDS } from '#/seal/row-fields.ts';
import { inOrder, type Form, type Member } from '#/seal/row-forms.ts';
import type { AuditRow } from '#/seal/row.ts';

/** What stands in the places of a row where anything may stand. */
export interface RowValues {
  readonly text: fc.Arbitrary<string>;
  readonly number: fc.Arbitrary<number>;
  /** Of what is left out where there is none. */
  readonly amount: fc.Arbitrary<number>;
  readonly counts: fc.Arbitrary<Readonly<Record<string, number>>>;
}

/** Any row that the table of fields allows, its members in reverse order. */
export function anyRow(values: RowValues): fc.Arbitrary<AuditRow> {
  return anyObject(ROW_FIELDS, values) as fc.Arbitrary<AuditRow>;
}

function anyObject(members: Readonly<Record<string, Member>>, values: RowValues): fc.Arbitrary<object> {
  const entries = inOrder(members).toReversed();
  const requiredKeys = entries.flatMap(([name, { when }]) => (when === undefined ? [name] : []));
  const model = Object.fromEntries(entries.map(([name, { form }]) => [name, anyValue(form, values)]));
  return fc.record(model, { requiredKeys });
}

function anyValue(form: Form, values: RowValues): fc.Arbitrary<unknown> {
  switch (form.kind) {
    case 'words':
      return fc.constantFrom(...form.words);
    case 'version':
      return fc.constant(form.version);
    case 'boolean':
      return fc.boolean();
    case 'quantity':
      return values.amount;
    case 'null-or':
      return fc.option(anyValue(form.of, values));
    case 'list':
      return fc.array(anyValue(form.of, values), { maxLength: 3 });
    case 'object':
      return anyObject(form.members, values);
    default:
      return values[form.kind];
  }
}
