import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROW_FIELDS } from './row-fields.ts';
import type { Form, Member } from './row-forms.ts';

const ADAPTERS = join(import.meta.dirname, '../adapters');

/** Every field, and every member of those that are objects. */
const ALL = membersOf(ROW_FIELDS);

function membersOf(members: Readonly<Record<string, Member>>): readonly (readonly [string, Member])[] {
  return Object.entries(members).flatMap(([name, member]) => [[name, member] as const, ...partsOf(member.form)]);
}

function partsOf(form: Form): readonly (readonly [string, Member])[] {
  if (form.kind === 'list' || form.kind === 'null-or') return partsOf(form.of);
  return form.kind === 'object' ? membersOf(form.members) : [];
}

describe('the fields of the audit row', () => {
  test.each(ALL)('%s says in words what it is', (_, { meaning, when }) => {
    expect(meaning).toMatch(/^[A-Z`].*\.$/s);
    if (when !== undefined) expect(when, 'completes the sentence "it is there when …"').toMatch(/^[a-z].*[^.]$/s);
  });

  test.each(statements())('%s reads members that rows have', (file, sql) => {
    const read = [...sql.matchAll(/->>? '([^']+)'/g)].map(([, name]) => name!);
    const names = ALL.map(([name]) => name);
    expect(
      read.filter((name) => !names.includes(name)),
      `${file}: no field of src/seal/row-fields.ts`,
    ).toEqual([]);
  });
});

/** SQL that reads the text of rows. */
function statements(): readonly (readonly [string, string])[] {
  const files = globSync('**/*.sql', { cwd: ADAPTERS }).map(
    (file) => [file, readFileSync(join(ADAPTERS, file), 'utf8')] as const,
  );
  const reading = files.filter(([, sql]) => sql.includes('row_text') && /->>? '/.test(sql));
  if (reading.length === 0) throw new Error('no statement reads the text of a row');
  return reading;
}
