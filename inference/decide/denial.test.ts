import { expect, test } from 'vitest';
import { affirmed } from './denial.ts';
import type { TypedQuestion } from './typed-input.ts';

const OPTIONS = [{ name: 'true', description: 'they left' }, { name: 'false' }];
const noul = (instructions: string): TypedQuestion => ({ type: 'noul', instructions, options: OPTIONS });

test.each([
  'It is not true that the customer left.',
  'it is not the case that the customer left.',
  "It's not true that the customer left.",
  'It isn’t true that the customer left.',
  'It is false that the customer left.',
  ' It is untrue that  the customer left.',
  'It is not true that it is false that it is untrue that the customer left.',
])('%j denies that the customer left, and what tells of it stands for the opposite', (instructions) => {
  expect(affirmed(noul(instructions))).toEqual({
    type: 'noul',
    instructions: 'the customer left.',
    options: [{ name: 'true' }, { name: 'false', description: 'they left' }],
    isDenied: true,
  });
});

test('what is denied twice is asked as it is', () => {
  const twice = noul('It is false that it is not true that the customer left.');
  expect(affirmed(twice)).toEqual({ ...noul('the customer left.'), isDenied: false });
});

test.each([
  'The customer did not leave.',
  'Is it not true that the customer left?',
  'It is true that the customer left.',
  'It is not true that',
  'It is not true that the customer left, but the contract ended.',
  'It is not true that the customer left. The contract ended.',
  'It is not true that the parcel arrived, so the customer asks for a refund.',
  'It is not true that the customer left – he wants a refund.',
  'It is not true that the customer left\nHe stayed',
  'It is false that the parcel arrived although it was sent.',
  'It is wrong that the customer left.',
])('%j is asked as it is', (instructions) => {
  expect(affirmed(noul(instructions))).toEqual({ ...noul(instructions), isDenied: false });
});

test('a choice has nothing to deny', () => {
  const choice: TypedQuestion = { ...noul('It is false that the customer left.'), type: 'choice' };
  expect(affirmed(choice)).toEqual({ ...choice, isDenied: false });
});
