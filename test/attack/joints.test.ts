import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DocumentWorld } from '../documents/world.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { sample } from './effort.ts';
import { everySurface } from './every-surface.ts';
import { attemptAll, PROTECTING, startHidingWorld, type Carrier, type Hidden } from './hiding.ts';
import { tally } from './tally.ts';

/**
 * Values that are cut over the joint of two texts, where neither half tells of one, or only one does: logins and passwords that a
 * word announces, addresses cut at a full stop, and halves that stand in JSON within a text.
 */

const tried = tally('joints of texts x modes');

/** How two halves stand one after the other. The mark of the request stands in a text of its own. */
const JOINED: Readonly<Record<string, (left: string, right: string) => Carrier>> = {
  'parts of a message': (left, right) => (mark) => [
    '/v1/chat/completions',
    {
      model: 'upstream/m',
      messages: [
        { role: 'user', content: mark },
        { role: 'user', content: [left, right].map((text) => ({ type: 'text', text })) },
      ],
    },
  ],
  'messages of two': (left, right) => (mark) => [
    '/v1/messages',
    {
      model: 'upstream/m',
      max_tokens: 9,
      system: mark,
      messages: [
        { role: 'user', content: left },
        { role: 'assistant', content: right },
      ],
    },
  ],
  'values in arguments of a tool': (left, right) => (mark) => [
    '/v1/chat/completions',
    {
      model: 'upstream/m',
      messages: [
        { role: 'user', content: mark },
        {
          role: 'assistant',
          tool_calls: [
            {
              id: 'call_1',
              type: 'function',
              function: { name: 'f', arguments: JSON.stringify({ left, more: { right } }) },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'Done.' },
      ],
    },
  ],
};

/** The halves, and what of them may not arrive. */
const HALVES: readonly (readonly [category: string, left: string, right: string, secret: readonly string[]])[] = [
  ['SECRET', 'the password is hun', 'ter2xyz', ['is hun', 'ter2xyz']],
  ['SECRET', 'Das Passwort lautet Som', 'mer#2041 wie immer', ['lautet Som', 'mer#2041']],
  ['SECRET', 'La contraseña es Gira', 'sol!58 desde hoy', ['es Gira', 'sol!58']],
  ['SECRET', 'The password is', 'Hunter2xyz! as always', ['Hunter2xyz']],
  ['USERNAME', 'My username is jhar', 'per42 and it fails', ['is jhar', 'per42']],
  ['EMAIL', 'ada.', 'lovelace@corp.de', ['ada.', 'lovelace']],
  ['EMAIL', 'Write to ada', '.lovelace@corp.de', ['to ada', 'lovelace']],
  ['EMAIL', 'Write to ada.lovelace@', 'corp.de today', ['ada', 'lovelace', 'corp.de']],
];

let upstream: Upstream;
let world: DocumentWorld;

beforeAll(async () => {
  upstream = await startUpstream(everySurface());
  world = await startHidingWorld(upstream);
});

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await upstream?.close();
});

test('however they stand one after the other, neither half arrives', { timeout: 600_000 }, async () => {
  const cases = Object.entries(JOINED).flatMap(([place, joined]) =>
    HALVES.flatMap(([category, left, right, secret]) =>
      PROTECTING.map((mode): Hidden => {
        const attack = `${place}: ${JSON.stringify([left, right])}, ${mode}`;
        return { attack, carrier: joined(left, right), text: 'Go on.', secret, mode, category };
      }),
    ),
  );
  await attemptAll(world, upstream, tried, sample('joints', cases, 0.5));
  expect(upstream.requests.length, 'requests that were sent without the cut value').toBeGreaterThan(0);
});
