import { sse, text } from '../harness/answers.ts';
import type { Answer } from '../harness/exchange.ts';
import { mediaType, readFrames, writeFrame } from '../matrix/stand-in/framing.ts';

export const HAIKU = 'us.anthropic.claude-haiku-4-5-20251001-v1:0';
export const OPUS = 'claude-opus-4-8';

/** How one format's clients ask for a model, and what its own vendor is asked. */
export interface Format {
  readonly name: string;
  readonly model: string;
  path(stream: boolean, model?: string): string;
  sentTo(stream: boolean): string;
  /** Members of the body that the address takes the place of. */
  readonly version: string | undefined;
  readonly streamInBody: boolean;
  readonly framing: 'sse' | 'chunks';
}

export const messages: Format = {
  name: 'messages',
  model: OPUS,
  path: () => '/v1/messages?beta=true',
  sentTo: () => '/v1/messages',
  version: undefined,
  streamInBody: true,
  framing: 'sse',
};

export const bedrock: Format = {
  name: 'bedrock',
  model: HAIKU,
  path: (stream, model = HAIKU) => `/model/${encodeURIComponent(model)}/invoke${stream ? '-with-response-stream' : ''}`,
  sentTo: (stream) => `/model/${encodeURIComponent(HAIKU)}/invoke${stream ? '-with-response-stream' : ''}`,
  version: 'bedrock-2023-05-31',
  streamInBody: false,
  framing: 'chunks',
};

export const vertex: Format = {
  name: 'vertex',
  model: OPUS,
  path: (stream, model = OPUS) =>
    `/v1/projects/any/locations/any/publishers/anthropic/models/${encodeURIComponent(model)}:${stream ? 'streamRawPredict' : 'rawPredict'}`,
  sentTo: (stream) =>
    `/v1/projects/p-one/locations/europe-west1/publishers/anthropic/models/${OPUS}:${stream ? 'streamRawPredict' : 'rawPredict'}`,
  version: 'vertex-2023-10-16',
  streamInBody: true,
  framing: 'sse',
};

export const FORMATS = [messages, bedrock, vertex] as const;
const BLOCK = 'x-anthropic-billing-header: cc_version=2.1.330.4f1; cc_entrypoint=cli; cch=00000;';

/** Every member that the guide names, and one of years to come. The values are such that any rewriting shows. */
const MEMBERS = `"system":[{"type":"text","text":"${BLOCK}"},{"type":"text","text":"You are Claude Code.","cache_control":{"type":"ephemeral","ttl":"1h"}}],
 "thinking":{"type":"adaptive","display":"summarized"},"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},
 "output_config":{"effort":"high","format":{"type":"json_schema","schema":{"type":"object"}},"task_budget":{"type":"tokens","total":20000}},
 "metadata":{"user_id":"user_0_session_1"},"safeguards":{"review":1.0},"future_member":{"n":9007199254740993},
 "tools":[{"name":"Read","description":"r","input_schema":{"type":"object","properties":{"stream":{"type":"string"}}},"strict":true,"defer_loading":true,"eager_input_streaming":true,"cache_control":{"type":"ephemeral"}}],
 "messages":[{"role":"user","content":[{"type":"text","text":"Hi","cache_control":{"type":"ephemeral"}}]},
 {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln+/=="},{"type":"tool_use","id":"toolu_1","name":"Read","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"x"}]},
 {"role":"system","content":[{"type":"text","text":"Mind the time.","cache_control":{"type":"ephemeral"}}]}],
 "max_tokens":32000`;

export const BETAS = [
  'claude-code-20250219',
  'interleaved-thinking-2025-05-14',
  'context-management-2025-06-27',
  'effort-2025-11-24',
  'some-flag-of-2031-01-01',
];

/** The request as this format's client writes it; the members at the front are what its formats differ by. */
export function bodyOf({ version, streamInBody, name, model }: Format, stream: boolean): string {
  const front = [
    ...(name === 'messages' ? [`"model":"${model}"`] : []),
    ...(version === undefined ? [] : [`"anthropic_version":"${version}"`]),
    ...(name === 'bedrock' ? [`"anthropic_beta":${JSON.stringify(BETAS)}`] : []),
    ...(streamInBody ? [`"stream":${stream}`] : []),
  ];
  return `{${front.join(',')},${MEMBERS}}`;
}

export const CLIENT = {
  'anthropic-version': '2023-06-01',
  'anthropic-beta': BETAS.join(','),
  'anthropic-next-thing': 'level-2',
  'x-claude-code-session-id': '0b7f9c0e-52d4-4a8e-9e07-5a5b1f6f6a01',
  'x-claude-code-agent-id': 'agent-1',
  'x-claude-code-parent-agent-id': 'agent-0',
  'x-claude-code-request-class': 'main',
  'x-claude-code-agent-type': 'Explore',
  'x-claude-code-compaction': 'auto',
  'x-claude-code-context-compacted': 'auto',
  'x-claude-code-prev-tool-durations': 'Bash=742;Read=9',
  'x-claude-code-prompt-id': '1b7f9c0e-52d4-4a8e-9e07-5a5b1f6f6a01',
  'x-app': 'cli',
  'user-agent': 'claude-cli/2.1.330 (external, cli)',
  'x-stainless-lang': 'js',
};

export const ANSWER =
  '{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":5},"novel":1.50}';

export const EVENTS = [
  '{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":1},"novel":1.0}}',
  '{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}',
  '{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2lnbmVk"}}',
  '{"type":"content_block_stop","index":0}',
  '{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}',
  '{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"ok"}}',
  '{"type":"weather","sky":"grey"}',
  '{"type":"content_block_stop","index":1}',
  '{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}',
  '{"type":"message_stop"}',
];

export const typeOf = (event: string): string => (JSON.parse(event) as { type: string }).type;

export function streamed({ framing }: Format): Answer {
  if (framing === 'sse') return sse(EVENTS.map((data) => ({ raw: `event: ${typeOf(data)}\ndata: ${data}\n\n` })));
  const bytes = Buffer.concat(EVENTS.map((data) => writeFrame({ event: 'chunk', data }, 'chunks')));
  return text(bytes, { headers: { 'content-type': mediaType('chunks') } });
}

/** The events of a stream, each as the text that was sent. */
export async function eventsOf(answer: Response, { framing }: Format): Promise<string[]> {
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (framing === 'sse') return [...bytes.toString('utf8').matchAll(/^data: (.*)$/gm)].map(([, data]) => data!);
  const chunks = readFrames(bytes, 'event-stream').filter(({ event }) => event === 'chunk');
  return chunks.map(({ data }) => Buffer.from((data as { bytes: string }).bytes, 'base64').toString('utf8'));
}
