import type { AttemptReport } from '#/errors/gateway-error.ts';
import type { Units } from '#/call/units.ts';
import type { BESIDE_TOKENS, Usage } from '#/wire/answer/usage.ts';
import type { ApprovalFacts, ToolFacts } from '#/call/facts.ts';
import { boolean, counts, exampleOf, list, nullOr, number, object, quantity, text, words } from './row-forms.ts';

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
  model: { form: text(), meaning: 'The id of the model in the request to the provider.', example: 'gpt-6-luna' },
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
    when: 'the call was inspected',
    meaning: 'Which detectors inspected the call: a digest that the log event `detectors.used` explains.',
    example: '5d41402abc4b',
  },
  findings: { form: counts, meaning: 'Number of matches by category.', example: { EMAIL: 2, IBAN: 1 } },
  mode: { form: text(), meaning: 'The mode of the policy in force.', example: 'tokenize' },
  unscanned: { form: list(text()), meaning: 'Content that was not inspected.', example: ['image'] },
});

const approval = object<ApprovalFacts>()('approval', {
  at: { form: nullOr(text('instant')), meaning: 'When a person decided. Null: it is not decided.', example: null },
  by: {
    form: nullOr(text()),
    meaning: 'Who decided: `--actor` of `gwctl mcp approve`. Null: it is not decided.',
    example: null,
  },
  id: {
    form: text('UUID'),
    meaning: 'Id of the request for approval.',
    example: '0199d2c4-7a10-7c3e-9d5f-0a1b2c3d4e5f',
  },
  state: {
    form: words('asked', 'waiting', 'approved', 'denied', 'expired'),
    meaning:
      '`asked`: the call entered the request. `waiting`: it is not decided. `approved`: the call used the approval. ' +
      '`denied`: a person denied the call. `expired`: an earlier request ended unused, and the call entered this one.',
    example: 'asked',
  },
});

export const tool = object<ToolFacts>()('tool', {
  answers: {
    form: quantity,
    when: 'there are any',
    meaning: 'Number of answers of the client to what the tool asked before. `dlp` is of them, too.',
    example: 1,
  },
  approval: {
    form: approval,
    when: 'a person must approve the call',
    meaning: 'How the approval of the call stands.',
    example: exampleOf(approval),
  },
  arguments: {
    form: nullOr(text('base64url')),
    meaning: 'HMAC-SHA256 of the arguments, under a key of the organization. Null: the call has no arguments.',
    example: 'Qk1fM2R6bE9uX2V4YW1wbGVfZGlnZXN0X29mX2FyZ3M',
  },
  asks: {
    form: list(text()),
    when: 'there are any',
    meaning: 'Methods of the protocol by which the tool asks its client for more.',
    example: ['elicitation/create'],
  },
  definition: {
    form: nullOr(text('64 hexadecimal digits')),
    meaning: "SHA-256 of the tool's definition. Null: the server does not list the tool.",
    example: 'd4'.repeat(32),
  },
  eras: {
    form: list(text()),
    meaning: 'Revisions of the protocol: of the client, then of the server once it has answered.',
    example: ['2026-07-28', '2025-11-25'],
  },
  is_error: { form: boolean, meaning: 'Whether the result says that the tool failed.', example: false },
  method: { form: text(), meaning: 'The method of the protocol.', example: 'tools/call' },
  result_bytes: {
    form: number,
    meaning: 'Size of the result as the server sent it. 0: no result came.',
    example: 1843,
  },
  result_findings: { form: counts, meaning: 'Number of matches in the result by category.', example: { EMAIL: 1 } },
  result_mode: { form: text(), meaning: 'The mode of the policy for results.', example: 'allow_log' },
});

export const units = object<Units>()('units', {
  calls: unit('Calls with a price per call.'),
  containers: unit('Sessions of code containers at the provider.'),
  fileSearches: unit("Searches of the client's files by the provider."),
  images: unit('Images.'),
  pages: unit('Pages.'),
  searches: unit('Searches of the web by the provider.'),
  seconds: unit('Seconds of audio or video, rounded up.'),
});

export const tokens = object<Tokens>()('usage', {
  cacheRead: bucket('Input read from a prompt cache.'),
  cacheReadAudio: mediaBucket('Audio read from a prompt cache; not in `cacheRead`.'),
  cacheWrite1h: bucket('Input written to a prompt cache for an hour.'),
  cacheWrite5m: bucket('Input written to a prompt cache for five minutes.'),
  input: bucket('Input neither read from nor written to a prompt cache.'),
  inputAudio: mediaBucket('Audio input; not in `input`.'),
  inputImage: mediaBucket('Image input; not in `input`.'),
  output: bucket('Output without reasoning.'),
  outputAudio: mediaBucket('Audio output; not in `output`.'),
  outputImage: mediaBucket('Image output; not in `output`.'),
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
