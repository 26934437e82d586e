import { describe, expect, test } from 'vitest';
import { marked } from '../../../test/harness/marked-text.ts';
import { withoutNobody } from './not-names.ts';

/** What stays of the names that are marked. */
const left = (source: string): readonly string[] => {
  const { text, spans } = marked(source);
  return withoutNobody(text, spans).map(({ start, end }) => text.slice(start, end));
};

describe('what is nobody’s name', () => {
  test.each([
    'You are ‹PERSON_NAME:Claude› Code, the CLI of Anthropic. ‹PERSON_NAME:Claude› reads ‹PERSON_NAME:CLAUDE›.md first.',
    'Read ‹PERSON_NAME:CLAUDE›.md and ‹PERSON_NAME:Button›.tsx',
    'Bump ‹PERSON_NAME:Kotlin›, ask ‹PERSON_NAME:Claude Opus› for a review on GitHub',
    'In ‹PERSON_NAME:September› and on ‹PERSON_NAME:Tuesday›, from 3 ‹PERSON_NAME:May› to ‹PERSON_NAME:June› 2025',
    'Call ‹PERSON_NAME:fetchUser›. Tell ‹PERSON_NAME:Marketing›.',
    'Du bist ‹PERSON_NAME:Lotte›, die Assistentin. ‹PERSON_NAME:Lotte› hilft.',
  ])('%s', (source) => expect(left(source)).toEqual([]));

  test.each([
    ['‹PERSON_NAME:Claude› called about the invoice, ‹PERSON_NAME:Ruby› and ‹PERSON_NAME:April› too', 3],
    ['The LLM is Claude Opus; ask ‹PERSON_NAME:Claude Durand›, Herr ‹PERSON_NAME:Rust› and Ms ‹PERSON_NAME:Django›', 3],
    ['You are ‹PERSON_NAME:Ada Lovelace›, a helpful assistant', 1],
    ['You are ‹PERSON_NAME:Nora›, and you owe me money', 1],
    ['See ‹PERSON_NAME:Ada Lovelace›.md and ‹PERSON_NAME:Lovelace›.pdf', 2],
    ['‹LOCATION:Paris› and ‹ORGANIZATION:Slack›', 2],
  ])('%s', (source, count) => expect(left(source)).toHaveLength(count));
});
