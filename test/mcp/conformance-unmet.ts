export type Revision = '2026-07-28' | '2025-11-25';
/** What the server speaks that the suite looks at through the gateway. */
export type ServerEra = 'dual' | 'legacy' | 'modern';

/** Scenarios of the conformance suite that fail through the gateway, and why. */
interface Unmet {
  readonly revisions: readonly Revision[];
  readonly eras: readonly ServerEra[];
  readonly why: string;
  readonly scenarios: readonly string[];
}

const BOTH: readonly Revision[] = ['2026-07-28', '2025-11-25'];
const ALL: readonly ServerEra[] = ['dual', 'legacy', 'modern'];

export const UNMET: readonly Unmet[] = [
  {
    revisions: BOTH,
    eras: ALL,
    why: 'The gateway serves tools only: no resources, prompts and completions.',
    scenarios: [
      'completion-complete',
      'prompts-get-embedded-resource',
      'prompts-get-simple',
      'prompts-get-with-args',
      'prompts-get-with-image',
      'prompts-list',
      'resources-list',
      'resources-read-binary',
      'resources-read-text',
      'resources-templates-read',
    ],
  },
  {
    revisions: ['2026-07-28'],
    eras: ALL,
    why: 'Its lists of resources and prompts, as above.',
    scenarios: ['caching'],
  },
  {
    revisions: ['2025-11-25'],
    eras: ALL,
    why: 'The gateway keeps no session of a client: subscriptions and levels of logs need one.',
    scenarios: ['logging-set-level', 'resources-subscribe', 'resources-unsubscribe', 'tools-call-with-logging'],
  },
  {
    revisions: ['2025-11-25'],
    eras: ALL,
    why: 'Servers ask nothing of clients: the gateway passes on no capability of a client.',
    scenarios: [
      'elicitation-sep1034-defaults',
      'elicitation-sep1330-enums',
      'tools-call-elicitation',
      'tools-call-sampling',
    ],
  },
  {
    revisions: ['2026-07-28'],
    eras: ALL,
    why: 'Servers ask nothing of clients, as above.',
    scenarios: [
      'input-required-result-basic-elicitation',
      'input-required-result-basic-list-roots',
      'input-required-result-basic-sampling',
      'input-required-result-capability-check',
      'input-required-result-multi-round',
      'input-required-result-multiple-input-requests',
      'input-required-result-non-tool-request',
      'input-required-result-request-state',
      'input-required-result-result-type',
      'input-required-result-tampered-state',
    ],
  },
  {
    revisions: ['2026-07-28'],
    eras: ['legacy'],
    why: 'A legacy server has no error for a capability that a client lacks, and its tool answers with a result.',
    scenarios: ['server-stateless'],
  },
  {
    revisions: ['2025-11-25'],
    eras: ['legacy'],
    why: 'A stream that the server ends before its result is not resumed: nothing is kept between requests.',
    scenarios: ['server-sse-polling'],
  },
  {
    revisions: ['2026-07-28'],
    eras: ALL,
    why: 'Tasks are an extension that the gateway drops from both sides; the suite does not score them.',
    scenarios: [
      'tasks-capability-negotiation',
      'tasks-dispatch-and-envelope',
      'tasks-lifecycle',
      'tasks-mrtr-composition',
      'tasks-mrtr-input',
      'tasks-request-headers',
      'tasks-request-state-removal',
      'tasks-required-task-error',
      'tasks-wire-fields',
    ],
  },
];
