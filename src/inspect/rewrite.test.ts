import { expect, test } from 'vitest';
import { readDocument, render } from '#/wire/document/document.ts';
import { member } from '#/wire/document/scan.ts';
import { finish } from '#/wire/document/steps.ts';
import { createScope, Rewrite } from './rewrite.ts';

const MAIL = 'ada@example.com';

/** A string of a document, given as its source, after what is found between two offsets of it has become a tag. */
function rewritten(source: string, start: number, end: number): string {
  const document = readDocument('chat', `{"n":1.0,"text":"${source}"}`);
  const node = member(document.root, 'text')!;
  const text = document.body['text'] as string;
  const rewrite = new Rewrite(createScope({ mode: 'tokenize', documents: 'off', customTerms: [] }, []), {});
  const edit = finish(rewrite.edit({ node, text, kind: 'text' }, [{ start, end, category: 'EMAIL' }]));
  return render(document.text, edit ? [edit] : []);
}

test.each(['ü «x» 😀 / \u007f ', 'line \u2028 line '])('%j stays in the source as it is', (before) => {
  const found = rewritten(`${before}${MAIL} 😀`, before.length, before.length + MAIL.length);
  expect(found).toBe(`{"n":1.0,"text":"${before}«EMAIL_1» 😀"}`);
});

test.each(['\\u00fc ', '\\ud83d\\ude00 ', '\\/ \\" \\\\ \\n '])('%s says the same', (before) => {
  const read = JSON.parse(`"${before}"`) as string;
  const found = rewritten(`${before}${MAIL} \\t`, read.length, read.length + MAIL.length);
  expect(JSON.parse(found)).toEqual({ n: 1, text: `${read}«EMAIL_1» \t` });
});

test('half of a character is no source', () => {
  const found = rewritten('a😀b', 2, 3);
  expect(found).toBe('{"n":1.0,"text":"a\\ud83d«EMAIL_1»b"}');
  expect(Buffer.from(found).toString()).toBe(found);
});
