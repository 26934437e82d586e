import { describe, expect, test } from 'vitest';
import type { ResolvedPolicy } from '#/config/snapshot.ts';
import { shadowDifferences, type CallFacts } from './shadow.ts';

type Dlp = Partial<ResolvedPolicy['dlp']>;

const policyOf = (dlp: Dlp = {}, answerTimeoutSeconds = 300): ResolvedPolicy => ({
  origins: [],
  dlp: { mode: 'tokenize', documents: 'off', customTerms: [], ...dlp },
  toolDlp: { internal: 'tokenize', external: 'tokenize', results: 'allow_log' },
  allowedTools: [],
  toolsToApprove: [],
  allowedModels: [],
  providerSideTools: new Set(),
  passthrough: new Set(),
  promptCache: false,
  estimatesPrices: false,
  responseCache: { enabled: false, ttlSeconds: 1 },
  contentRetention: false,
  contentRetentionDays: 30,
  scopeGuard: { mode: 'off' },
  answerTimeoutSeconds,
});

const NOTHING: CallFacts = {
  findings: {},
  removed: [],
  unscanned: [],
  answeredInMs: 1000,
  timedOut: false,
  askedSeconds: undefined,
};

const told = (enforced: ResolvedPolicy, shadow: ResolvedPolicy, facts: Partial<CallFacts>): readonly string[] =>
  shadowDifferences(enforced, shadow, { ...NOTHING, ...facts }).map(({ field, text }) => `${field}: ${text}`);

describe('data protection in the shadow', () => {
  const findings = { EMAIL: 2, IBAN: 1 };

  test.each<readonly [Dlp, Dlp, Partial<CallFacts>, readonly string[]]>([
    [{}, { mode: 'block' }, {}, []],
    [{}, {}, { findings }, []],
    [
      { mode: 'allow_log' },
      { mode: 'mask' },
      { findings },
      ['dlp.mode: EMAIL 2 would be masked, not let through', 'dlp.mode: IBAN 1 would be masked, not let through'],
    ],
    [{}, { mode: 'block' }, { findings: { EMAIL: 1 } }, ['dlp.mode: EMAIL 1 would be refused, not tokenized']],
    [{ mode: 'block' }, {}, { findings: { EMAIL: 1 } }, ['dlp.mode: EMAIL 1 would be tokenized, not refused']],
    // Fewer kinds are looked for.
    [{}, { entities: new Set(['EMAIL']) }, { findings }, ['dlp.mode: IBAN 1 would be let through, not tokenized']],
    // Terms of the policy are looked for whatever its entities.
    [{}, { entities: new Set(), customTerms: [{ label: 'code name', term: 'x' }] }, { findings: { CODE_NAME: 1 } }, []],
    // Terms of the request are no policy's to decide.
    [{}, { mode: 'block' }, { findings: { CODE_NAME: 1 }, removed: ['code name'] }, []],
    [
      {},
      { mode: 'block' },
      { unscanned: ['audio'] },
      [
        'dlp.documents: the call would be refused: audio cannot be inspected, and the mode Block sends nothing that is not inspected',
      ],
    ],
    [
      {},
      { mode: 'allow_log' },
      { unscanned: ['file'] },
      [
        'dlp.documents: attached documents would leave unscanned, not be sent as inspected text, or refused where they cannot be',
      ],
    ],
    [
      { mode: 'allow_log' },
      { mode: 'allow_log', documents: 'anonymize' },
      { unscanned: ['file', 'audio'] },
      ['dlp.documents: attached documents would be anonymized, or refused where they cannot be, not leave unscanned'],
    ],
    [
      { mode: 'allow_log' },
      { documents: 'refuse' },
      { unscanned: ['file'] },
      ['dlp.documents: attached documents would be refused, not leave unscanned'],
    ],
    [{ documents: 'refuse' }, { mode: 'block', documents: 'refuse' }, { unscanned: ['file'] }, []],
    [
      { mode: 'allow_log' },
      { mode: 'block' },
      { unscanned: ['image'] },
      ['dlp.images: images would be anonymized, or refused where they cannot be, not leave unscanned'],
    ],
    [
      { mode: 'allow_log' },
      { mode: 'block', documents: 'refuse' },
      { unscanned: ['image'] },
      ['dlp.documents: images would be refused, not leave unscanned'],
    ],
  ])('%j, %j, %j', (enforced, shadow, facts, expected) => {
    expect(told(policyOf(enforced), policyOf(shadow), facts)).toEqual(expected);
  });
});

describe('the answer timeout in the shadow', () => {
  const field = 'answerTimeoutSeconds';

  test.each<readonly [number, number, Partial<CallFacts>, readonly string[]]>([
    [300, 10, { answeredInMs: 10_000 }, []],
    [300, 10, { answeredInMs: 10_001 }, [`${field}: would have timed out after 10 s: the answer took 11 s`]],
    [300, 300, { answeredInMs: 400_000 }, []],
    [300, 10, { answeredInMs: undefined }, []],
    [30, 60, { timedOut: true, answeredInMs: 30_000 }, [`${field}: would have waited 60 s, not 30 s`]],
    // The client's own limit ended it.
    [30, 60, { timedOut: true, answeredInMs: 5000, askedSeconds: 5 }, []],
    [60, 30, { timedOut: true, answeredInMs: 60_000 }, []],
    [60, 30, { askedSeconds: 45 }, [`${field}: x-gw-upstream-timeout of 45 s would be cut to 30 s`]],
    [60, 30, { askedSeconds: 30 }, []],
    // Refused either way.
    [60, 30, { askedSeconds: 90, answeredInMs: undefined }, []],
  ])('%i s, %i s, %j', (enforced, shadow, facts, expected) => {
    expect(told(policyOf({}, enforced), policyOf({}, shadow), facts)).toEqual(expected);
  });
});
