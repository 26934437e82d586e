import { newKey } from '../harness/gateway.ts';

/** Paths without a surface of their own go to the provider that is named, as they are: where policy opens them. // spec 1.3 */

const PASSTHROUGH = ['fim', 'score', 'uploads', 'batches', 'evals', 'chat'];

export const PRICES = [
  { model: 'upstream/*', input: '2', output: '8' },
  { model: 'upstream/evals', unit: 'Call', input: '0.25' },
  { model: 'upstream/batches', unit: 'Call', input: '0' },
];

export const keys = { logged: newKey(), tokenized: newKey(), alone: newKey(), listed: newKey(), builtIn: newKey() };
export type Name = keyof typeof keys;

/** What sets each gateway apart. `alone`: its workloads share nothing. */
export const SETTINGS: Readonly<Record<Name, object>> = {
  logged: { policy: { dlp: { mode: 'AllowLog' }, passthrough: PASSTHROUGH } },
  tokenized: { policy: { dlp: { mode: 'Tokenize' }, passthrough: PASSTHROUGH } },
  alone: { organization: {}, policy: { dlp: { mode: 'AllowLog' }, passthrough: PASSTHROUGH } },
  listed: {
    policy: {
      dlp: { mode: 'AllowLog' },
      passthrough: PASSTHROUGH,
      allowedModels: ['upstream/small', 'upstream/evals'],
    },
  },
  builtIn: { policy: { dlp: { mode: 'AllowLog' } } },
};
