import type { AttemptReport } from '#/errors/gateway-error.ts';
import type { Units } from '#/call/units.ts';
import type { BESIDE_TOKENS, Usage } from '#/wire/answer/usage.ts';
import { boolean, counts, list, number, object, quantity, text } from './row-forms.ts';

/** What data protection found. */
interface Protection {
  readonly detectors?: string | undefined;
  readonly findings: Readonly<Record<string, number>>;
  readonly mode: string;
  readonly unscanned: readonly string[];
}

/** The tokens of a usage alone. */
type Tokens = Omit<Usage, 'serviceTier' | (typeof BESIDE_TOKENS)[number]>;

export const attempt = object<AttemptReport>()('attempt', {
  duration_ms: { form: number, meaning: 'How long the attempt took, in milliseconds.', example: 412 },
  error: {
    form: text(),
    when: 'the attempt failed',
    meaning: 'What failed, in one word: `timeout`, `connect`, `reset`, `protocol`, `too_large` or `aborted`.',
    example: 'timeout',
  },
  host: {
    form: text('host name'),
    when: 'the attempt went over the network',
    meaning: 'The host that was asked.',
    example: 'api.openai.com',
  },
  jurisdiction: {
    form: text(),
    when: 'the attempt went over the network',
    meaning: 'The jurisdiction of the provider that was asked.',
    example: 'EU',
  },
  model: { form: text(), meaning: 'The id by which the provider was asked for the model.', example: 'gpt-6-luna' },
  provider: { form: text(), meaning: 'The slug of the provider.', example: 'openai' },
  sent: {
    form: boolean,
    when: 'the gateway knows it',
    meaning: 'Whether the prompt was sent, or may have been. False: the attempt failed before there was a connection.',
    example: true,
  },
  status: { form: number, when: 'the provider answered', meaning: 'The HTTP status of its answer.', example: 200 },
});

export const protection = object<Protection>()('dlp', {
  detectors: {
    form: text('12 hexadecimal digits'),
    when: 'the call was looked through',
    meaning: 'Which detectors looked through the call: a digest that the log event `detectors.used` explains.',
    example: '5d41402abc4b',
  },
  findings: { form: counts, meaning: 'How much was found, by category.', example: { EMAIL: 2, IBAN: 1 } },
  mode: { form: text(), meaning: 'The mode of the policy in force.', example: 'tokenize' },
  unscanned: { form: list(text()), meaning: 'What nobody looked into.', example: ['image'] },
});

export const units = object<Units>()('units', {
  calls: unit('Calls that are billed as such.'),
  containers: unit('Machines of the provider that ran code, in sessions.'),
  fileSearches: unit("Searches of the client's files by the provider."),
  images: unit('Pictures.'),
  pages: unit('Pages.'),
  searches: unit('Searches of the web by the provider.'),
  seconds: unit('Seconds of sound or video, rounded up.'),
});

export const tokens = object<Tokens>()('usage', {
  cacheRead: bucket('Input read from a prompt cache.'),
  cacheReadAudio: mediaBucket('Sound read from a prompt cache; not in `cacheRead`.'),
  cacheWrite1h: bucket('Input written to a prompt cache for an hour.'),
  cacheWrite5m: bucket('Input written to a prompt cache for five minutes.'),
  input: bucket('Input neither read from nor written to a prompt cache.'),
  inputAudio: mediaBucket('Sound that was sent; not in `input`.'),
  inputImage: mediaBucket('Pictures that were sent; not in `input`.'),
  output: bucket('Output without reasoning.'),
  outputAudio: mediaBucket('Sound that was answered; not in `output`.'),
  outputImage: mediaBucket('Pictures that were answered; not in `output`.'),
  reasoning: bucket('Reasoning.'),
});

function unit(meaning: string) {
  return { form: quantity, when: 'there are any', meaning, example: 2 };
}

function bucket(meaning: string) {
  return { form: number, meaning, example: 100 };
}

function mediaBucket(meaning: string) {
  return { form: quantity, when: 'there are any', meaning, example: 10 };
}
