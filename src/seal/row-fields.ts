import { boolean, exampleOf, list, nullOr, number, text, version, words, type Form, type Member } from './row-forms.ts';
import { attempt, protection, tokens, tool, units } from './row-parts.ts';

/** A field of the audit row. */
export interface Field<T = unknown> extends Member<T> {
  /** The step of a call that states it; `seal`: the end of the call. */
  readonly by: 'admit' | 'inspect' | 'route' | 'dispatch' | 'meter' | 'seal';
  /** The value for a call that no process worked on. */
  readonly nothing?: T;
  /** The ledger repeats it in a column, for queries: its name in `RowFacts`. */
  readonly column?: string;
}

const field = <T, const F extends Omit<Field<T>, 'form'>>(form: Form<T>, rest: F) => ({ form, ...rest });

/**
 * Every field of the audit row. The type, the canonical text, the reader, the row of a call that no process worked on,
 * test data and the reference page follow from it. A new field has a `when`, because existing rows lack it.
 */
export const ROW_FIELDS = {
  at: field(text('RFC 3339, milliseconds, UTC'), {
    by: 'admit',
    column: 'at',
    meaning: 'When the call began.',
    example: '2026-11-21T09:00:00.001Z',
  }),
  attempts: field(list(attempt), {
    by: 'dispatch',
    nothing: [],
    meaning: 'Every attempt on a provider, in order. Empty: no provider was asked, or the gateway did the work itself.',
    example: [exampleOf(attempt)],
  }),
  cache_hit: field(words('none', 'exact'), {
    by: 'dispatch',
    nothing: 'none',
    meaning: 'Whether the answer to an identical request was served from the cache.',
    example: 'none',
  }),
  call_id: field(text('UUIDv7'), {
    by: 'admit',
    column: 'callId',
    meaning: 'The id of the call, which the client reads in `x-request-id`.',
    example: '019aa58a-3a01-7000-8000-00000000002a',
  }),
  code: field(nullOr(text()), {
    by: 'seal',
    nothing: null,
    meaning: 'The error code of a call that was refused or failed, else null.',
    example: null,
  }),
  config_revision: field(text('64 hexadecimal digits'), {
    by: 'admit',
    meaning: 'The revision of the configuration in force.',
    example: 'a1'.repeat(32),
  }),
  cost_nano_eur: field(text('decimal'), {
    by: 'seal',
    nothing: '0',
    column: 'cost',
    meaning: 'Cost of the call, in nano-euro. `0`: nothing is billed.',
    example: '1234000',
  }),
  dlp: field(protection, { by: 'inspect', meaning: 'Result of data protection.', example: exampleOf(protection) }),
  duration_ms: field(number, {
    by: 'seal',
    nothing: 0,
    meaning: 'Time from the beginning of the call to its end, in milliseconds.',
    example: 415,
  }),
  held_nano_eur: field(text('decimal'), {
    by: 'meter',
    nothing: '0',
    meaning: 'Amount reserved before dispatch, in nano-euro. `0`: nothing.',
    example: '2000000',
  }),
  jurisdiction: field(nullOr(text()), {
    by: 'dispatch',
    nothing: null,
    meaning:
      'Where the prompt was sent, or may have been: every jurisdiction, in alphabetical order with commas between. ' +
      'Null: nowhere.',
    example: 'EU,US',
  }),
  key: field(text(), { by: 'admit', meaning: 'The virtual key of the caller.', example: 'team/production' }),
  losses: field(list(text()), {
    by: 'dispatch',
    nothing: [],
    meaning: 'Parameters and content that translation dropped, with the names of `x-gw-losses`.',
    example: ['seed'],
  }),
  model: field(nullOr(text()), {
    by: 'admit',
    nothing: null,
    meaning: 'The model as the caller named it. Null: none was named, or the request was not read.',
    example: 'openai/gpt-6-luna',
  }),
  organization: field(text(), {
    by: 'admit',
    column: 'organization',
    meaning: 'The organization that pays.',
    example: 'team/acme',
  }),
  outcome: field(words('served', 'refused', 'failed', 'hung_up', 'abandoned'), {
    by: 'seal',
    meaning:
      'How the call ended. `hung_up`: the client left. `abandoned`: the process that served it crashed, and another sealed it.',
    example: 'served',
  }),
  parent: field(text('UUIDv7'), {
    by: 'admit',
    when: 'the gateway made the call itself, for a request that has it run tools',
    meaning: 'The id of that request, which is the `call_id` of its first round.',
    example: '019aa58a-3a01-7000-8000-000000000029',
  }),
  person: field(text('base64url'), {
    by: 'admit',
    when: 'the caller came with an access token that names a person',
    meaning:
      'HMAC-SHA256 of the issuer and the subject of the access token, under a key of the organization: the same person has the same value.',
    example: 'c3ViamVjdF9vZl9hbl9hY2Nlc3NfdG9rZW5fZXhhbXBsZQ',
  }),
  price: field(nullOr(text()), {
    by: 'meter',
    nothing: null,
    meaning: 'The source of the price. Null: nothing is billed.',
    example: 'genai-prices',
  }),
  provider: field(nullOr(text()), {
    by: 'dispatch',
    nothing: null,
    meaning: 'The provider of the last attempt. Null: there was no attempt.',
    example: 'openai',
  }),
  provider_model: field(nullOr(text()), {
    by: 'dispatch',
    nothing: null,
    meaning: 'The id of the model in the request to that provider.',
    example: 'gpt-6-luna',
  }),
  provider_response_id: field(nullOr(text()), {
    by: 'dispatch',
    nothing: null,
    meaning: 'The id of the answer, if the provider sent one.',
    example: 'chatcmpl-1',
  }),
  reason: field(nullOr(text()), {
    by: 'seal',
    nothing: null,
    meaning:
      'Why the call was refused or failed. If a provider failed, only the cause: its message may quote content. `cancelled`: the client cancelled a call of a tool.',
    example: null,
  }),
  route: field(list(text()), {
    by: 'route',
    when: 'the call is not `abandoned`; rows of early builds lack it',
    meaning: 'How the route was decided: a line for each model considered, at most 16.',
    example: ['openai/gpt-6-luna: selected: chat, verbatim, in EU'],
  }),
  scope: field(text(), {
    by: 'inspect',
    when: 'the workload has a scope guard that was asked',
    meaning: 'Verdict of the scope guard: `inside` or `outside` with its probability, or `no verdict` with the reason.',
    example: 'inside: 0.93',
  }),
  sequence: field(number, {
    by: 'seal',
    column: 'sequence',
    meaning: 'The position in the strand, from 1 without gaps.',
    example: 42,
  }),
  service_tier: field(text(), {
    by: 'dispatch',
    when: "the provider reports a tier other than its vendor's standard tier",
    meaning: 'The service tier that is billed.',
    example: 'priority',
  }),
  shadow: field(list(text()), {
    by: 'seal',
    when: 'a policy in shadow mode would have decided differently',
    meaning: 'What the policy in shadow mode would have decided differently: a line for each difference, at most 16.',
    example: ['dlp.mode: EMAIL 2 would be masked, not tokenized'],
  }),
  status: field(number, {
    by: 'seal',
    meaning: 'The HTTP status of the answer to the client. 499: the client had left. 0: `abandoned`.',
    example: 200,
  }),
  step: field(nullOr(words('admit', 'inspect', 'route', 'meter', 'dispatch', 'door')), {
    by: 'seal',
    meaning: 'Where the call ended. Null: it was served. `door`: `admit`, in rows of early builds.',
    example: null,
  }),
  strand: field(text('UUID'), {
    by: 'seal',
    column: 'strand',
    meaning: 'The chain that the row belongs to: each gateway process has one.',
    example: '019aa58a-0000-7000-8000-000000000001',
  }),
  stream: field(boolean, {
    by: 'admit',
    nothing: false,
    meaning: 'Whether the caller asked for a stream.',
    example: false,
  }),
  surface: field(text(), { by: 'admit', meaning: 'The endpoint that was called.', example: 'chat' }),
  tool: field(tool, {
    by: 'dispatch',
    when: 'a tool of an MCP server was called',
    meaning: 'The call of a tool. `dlp` is of its arguments, but for `dlp.unscanned`, which is of its result, too.',
    example: exampleOf(tool),
  }),
  tool_servers: field(list(text()), {
    by: 'admit',
    when: 'there are any',
    meaning: 'Tool servers that the provider may call directly: name and host of each, at most 16.',
    example: ['docs at mcp.example.com'],
  }),
  units: field(units, {
    by: 'dispatch',
    when: 'there are any',
    meaning: 'Units that are billed besides tokens.',
    example: exampleOf(units),
  }),
  usage: field(nullOr(tokens), {
    by: 'dispatch',
    nothing: null,
    meaning: 'The tokens that are billed, each in one bucket. Null: none are.',
    example: exampleOf(tokens),
  }),
  usage_source: field(nullOr(words('provider', 'estimated', 'implausible', 'held')), {
    by: 'dispatch',
    nothing: null,
    meaning:
      '`provider`: the usage is as reported. `estimated`: counted by the gateway, as none was reported. `implausible`: counted ' +
      'by the gateway, because the reported usage is implausible. `held`: billed as it was held. Null: nothing is billed.',
    example: 'provider',
  }),
  v: field(version(1), { by: 'seal', nothing: 1, meaning: 'The version of the form of the row.', example: 1 }),
  wire_format: field(text(), {
    by: 'dispatch',
    meaning: 'The wire family in which the provider was asked; of a call that asked none, the one of its endpoint.',
    example: 'chat',
  }),
  workload: field(text(), {
    by: 'admit',
    column: 'workload',
    meaning: 'The workload of the caller.',
    example: 'team/support',
  }),
} as const;
