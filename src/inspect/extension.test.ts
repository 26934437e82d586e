import { expect, test } from 'vitest';
import { readTerms } from './extension.ts';

test.each(['person', 'Project 2026', 'team_4', 'Kundin', '客户'])('a term may be called %s', (label) => {
  expect(readTerms([{ term: 'Falcon', label }], 'gw.remove')).toEqual([{ term: 'Falcon', label }]);
});

// A label is sent as a part of the tag, so personal data in it would reach the provider.
test.each(['ada@example.com', '4111111111111111', 'DE89 3704 0044', '+49 30', '030 90 18', 'id 12345'])(
  'a label that tells %s is refused without repeating it',
  (label) => {
    const read = (): unknown => readTerms([{ term: 'Falcon', label }], 'gw.remove');
    expect(read).toThrow('gw.remove[0].label must name a kind');
    expect(read).not.toThrow(label);
  },
);
