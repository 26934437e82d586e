import { describe, expect, test } from 'vitest';
import { failureOf } from '../documents/world.ts';
import { ask, asked, decided, NOUL, router, typed, world } from './contract-world.ts';

/** Cases of decision-contract.test.ts, which starts what they ask. */
export function protectedDecisions(): void {
  describe('what is protected (4.4.8)', () => {
    const WHO = { type: 'choice', instructions: 'Who is ada@example.com?', criteria: ['the cat', 'cy@example.com'] };
    test.each([
      ['masking', '[EMAIL]', 'EMAIL', 'EMAIL'],
      ['tokenizing', '«EMAIL_1»', '«EMAIL_1»', '«EMAIL_2»'],
    ])(
      'is rewritten for the model, and the answer is in the words of the caller: %s',
      async (as, inState, inText, option) => {
        const state = { from: 'ada@example.com' };
        const decision = await decided(await typed(state, { 'is it ada@example.com?': NOUL, who: WHO }, as));
        expect(asked('typed')).toHaveLength(1);
        expect(asked('typed')[0]?.body).toMatchObject({
          state: { from: inState },
          questions: [{}, { instructions: `Who is ${inText}?`, options: [{ name: 'the cat' }, { name: option }] }],
        });
        expect(Object.keys(decision.answers)).toEqual(['is it ada@example.com?', 'who']);
        expect(Object.keys(decision.answers['who']?.probabilities ?? {})).toEqual(['the cat', 'cy@example.com']);
        expect(['the cat', 'cy@example.com']).toContain(decision.answers['who']?.choice);
        // What was rewritten is what the answers are about.
        const shown = { q: NOUL, who: { ...WHO, instructions: `Who is ${inText}?`, criteria: ['the cat', option] } };
        const alike = await decided(await typed({ from: inState }, shown));
        expect(decision.answers['who']?.confidence).toBe(alike.answers['who']?.confidence);
      },
    );

    test('is left out where the request says so, in questions too', async () => {
      const questions = { falcon: { type: 'score', instructions: 'About Falcon?', criteria: ['no', 'all Falcon'] } };
      const answer = await typed('On Falcon.', questions, 'open', { gw: { remove: ['Falcon'] } });
      const { answers } = await decided(answer);
      expect(JSON.stringify(asked('typed'))).not.toMatch(/falcon/i);
      expect(answers['falcon']?.legend).toEqual({ 0: 'no', 1: 'all Falcon' });
    });

    test('is seen where signs part it that the model does not read', async () => {
      const criteria = { [`the 'FAL[c]ON`]: 'cy`@example.com', 'the cat': '' };
      const who = { type: 'choice', instructions: 'Is it ada[@](example).com?', criteria };
      const answer = await typed('x', { 'wh[o': who }, 'masking', { gw: { remove: ['Falcon'] } });
      const { answers } = await decided(answer);
      expect(asked('typed')[0]?.body['questions']).toEqual([
        {
          type: 'choice',
          instructions: 'Is it EMAIL?',
          options: [{ name: `the '«TERM_1»`, description: 'EMAIL' }, { name: 'the cat' }],
        },
      ]);
      expect(Object.keys(answers['wh[o']?.probabilities ?? {})).toEqual(Object.keys(criteria));
    });

    test.each(['Is it DE89(3704)0044 0532 0130 00?', 'The pass[word: hunter2secretX9'])(
      'is refused where signs part it, or the word that tells of it: %j',
      async (instructions) => {
        const refused = await typed('x', { q: { ...NOUL, instructions } }, 'blocking');
        expect(await failureOf(refused)).toMatchObject({ status: 422, code: 'data_protection' });
      },
    );

    test('has the tag of the same text in the state, though signs part it or it has some', async () => {
      const questions = { q: { ...NOUL, instructions: 'Is Fal[con of ACME ((Berlin)?' } };
      await decided(await typed('Falcon', questions, 'open', { gw: { remove: ['Falcon', 'ACME (Berlin)'] } }));
      expect(asked('typed')[0]?.body).toMatchObject({
        state: '«TERM_1»',
        questions: [{ instructions: 'Is «TERM_1» of «TERM_2»?' }],
      });
    });

    test('is text of the state, whatever members are called', async () => {
      const state = { type: 'score', a: 'a score' };
      await decided(await typed(state, { q: NOUL }, 'open', { gw: { remove: ['score'] } }));
      expect(asked('typed')[0]?.body['state']).toEqual({ type: '«TERM_1»', a: 'a «TERM_1»' });
    });

    test('is never a word of the format, whatever is to be removed', async () => {
      const remove = [
        'true',
        'false',
        'model',
        'state',
        'questions',
        'type',
        'noul',
        'instructions',
        'criteria',
        'request',
        'system',
      ];
      const gw = { gw: { remove } };
      expect((await typed({ request: 'a state' }, { q: { ...NOUL, criteria: { true: 'a type' } } }, 'open', gw)).status).toBe(200); // prettier-ignore
      expect((await router({ request: 'a state', system: 'a system' }, 'open', gw)).status).toBe(200);
      expect(asked('typed')[0]?.body['state']).toEqual({ '«TERM_1»': 'a «TERM_2»' });
      expect(asked('router')[0]?.body).toEqual({ request: 'a «TERM_2»', system: 'a «TERM_1»' });
    });

    test.each([
      ['the state', { model: 'gw/typed', state: { from: 'ada@example.com' }, questions: { q: NOUL } }],
      [
        'instructions',
        { model: 'gw/typed', state: 'x', questions: { q: { ...NOUL, instructions: 'By ada@example.com?' } } },
      ],
      [
        'a description',
        { model: 'gw/typed', state: 'x', questions: { q: { ...NOUL, criteria: { true: 'ada@example.com' } } } },
      ],
      ['an option', { model: 'gw/typed', state: 'x', questions: { who: WHO } }],
      ['a request to the router', { model: 'gw/typed/router', state: 'to ada@example.com' }],
      [
        'what was said before it',
        { model: 'gw/typed/router', state: { request: 'x', previous: 'to ada@example.com' } },
      ],
      [
        'the name of a file',
        { model: 'gw/typed/router', state: { request: 'x', attachments: ['ada@example.com.pdf (application/pdf)'] } },
      ],
    ])('is refused in %s where policy says so', async (_what, body) => {
      const answer = await ask(body, 'blocking');
      expect(await failureOf(answer)).toMatchObject({ status: 422, code: 'data_protection' });
      expect(asked('typed', 'router')).toHaveLength(0);
      const { dlp, cost_nano_eur } = await world.row(answer);
      expect(dlp.findings['EMAIL']).toBeGreaterThan(0);
      expect(cost_nano_eur).toBe('0');
    });
  });
}
