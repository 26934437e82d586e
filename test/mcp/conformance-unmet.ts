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

const ALL: readonly ServerEra[] = ['dual', 'legacy', 'modern'];

export const UNMET: readonly Unmet[] = [
  {
    revisions: ['2026-07-28'],
    eras: ALL,
    why: 'Only tools may ask for input: a prompt is read with its arguments.',
    scenarios: ['input-required-result-non-tool-request'],
  },
  {
    revisions: ['2025-11-25'],
    eras: ALL,
    why: 'The gateway passes on no subscriptions to resources.',
    scenarios: ['resources-subscribe', 'resources-unsubscribe'],
  },
  {
    revisions: ['2025-11-25'],
    eras: ['dual', 'modern'],
    why: 'The gateway speaks the new era with such a server: it asks for input and sends logs as a legacy client cannot take.',
    scenarios: [
      'elicitation-sep1034-defaults',
      'elicitation-sep1330-enums',
      'logging-set-level',
      'tools-call-elicitation',
      'tools-call-sampling',
      'tools-call-with-logging',
    ],
  },
  {
    revisions: ['2026-07-28'],
    eras: ['legacy'],
    why: 'A legacy server asks for input within the session of a client, and clients of the new era have none.',
    scenarios: [
      'input-required-result-basic-elicitation',
      'input-required-result-basic-list-roots',
      'input-required-result-basic-sampling',
      'input-required-result-capability-check',
      'input-required-result-multi-round',
      'input-required-result-multiple-input-requests',
      'input-required-result-request-state',
      'input-required-result-result-type',
      'input-required-result-tampered-state',
    ],
  },
  {
    revisions: ['2025-11-25'],
    eras: ALL,
    why: 'The id of a session holds all that there is of it: a request that no server is asked is answered after DELETE, too.',
    scenarios: ['server-session-lifecycle'],
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
