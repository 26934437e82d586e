import { ROW_FIELDS, type Field } from '../../src/seal/row-fields.ts';
import { examples, inOrder, type Form, type Member } from '../../src/seal/row-forms.ts';
import { page, table } from './page.ts';

/** Every field of the audit row. */
export function auditRowPage(): string {
  const fields = inOrder<Field>(ROW_FIELDS);
  const rows = fields.map(([name, field]) => {
    const [names, type, when, meaning, example] = cells(name, field);
    return [names, type, when, field.by, meaning, example];
  });
  return page(
    'The audit row',
    'src/seal/row-fields.ts',
    'The ledger keeps one row for each call, whatever became of it. A row says what was asked, decided, sent and billed; it never ' +
      'holds content. Its text is canonical JSON (RFC 8785), so the fields are in alphabetical order. Amounts of money are nano-euro ' +
      '(10⁻⁹ euro) as decimal text. [The formats of the evidence](../prove/formats.md) say how rows are chained and signed.',
    '"When" says when a field is there; rows of earlier releases may lack fields with a condition. "Stated by" names the step of ' +
      'the call that states the field: `admit` reads the request, `seal` is the end of the call.',
    table(['field', 'type', 'when', 'stated by', 'meaning', 'example'], rows),
    ...fields.flatMap(([name, { form }]) => partTable(name, form)),
    '## Example',
    'A row with every field, broken into lines for reading:',
    `\`\`\`json\n${JSON.stringify(examples(ROW_FIELDS), undefined, 2)}\n\`\`\``,
  );
}

/** The heading and the table of an object's members; nothing for any other form. */
function partTable(name: string, form: Form): readonly string[] {
  if (form.kind === 'null-or') return partTable(name, form.of);
  if (form.kind === 'list') return partTable(`${name}[]`, form.of);
  if (form.kind !== 'object') return [];
  const rows = inOrder(form.members).map(([member, its]) => [...cells(member, its)]);
  return [`## \`${name}\``, table(['member', 'type', 'when', 'meaning', 'example'], rows)];
}

function cells(
  name: string,
  { form, when, meaning, example }: Member,
): readonly [string, string, string, string, string] {
  return [`\`${name}\``, typeOf(form), when ?? 'always', meaning, exampleText(form, example)];
}

function typeOf(form: Form): string {
  switch (form.kind) {
    case 'text':
      return form.says;
    case 'words':
      return form.words.map((word) => `\`${word}\``).join(', ');
    case 'number':
    case 'quantity':
      return 'number';
    case 'version':
      return `\`${form.version}\``;
    case 'boolean':
      return 'true or false';
    case 'counts':
      return 'numbers by category';
    case 'null-or':
      return `${typeOf(form.of)}, or null`;
    case 'list':
      return `list of ${form.of.kind === 'object' ? 'objects' : 'texts'}`;
    case 'object':
      return 'object';
  }
}

/** Objects have tables of their own. */
function exampleText(form: Form, example: unknown): string {
  const inner = form.kind === 'null-or' || form.kind === 'list' ? form.of : form;
  return inner.kind === 'object' ? 'below' : `\`${JSON.stringify(example)}\``;
}
