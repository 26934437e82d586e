import { generateKeyPairSync } from 'node:crypto';
import { BUDGET } from '../surfaces/messages.ts';
import type { Kind } from './kind.ts';

/** What holds for Claude wherever it is hosted. */
const CLAUDE = {
  exit: 'messages',
  native: ['messages'],
  images: true,
  documents: true,
  stops: true,
  systemRole: 'system',
  ceiling: 'max_tokens',
  json: 'schema',
  usage: 'openai',
  refusal: 'filter',
  effort: { thinking: { type: 'adaptive', display: 'summarized' }, effort: 'high' },
  nativeEffort: { thinking: { type: 'adaptive' }, effort: 'high' },
  inBody: ['model', 'stream'],
  framing: 'sse',
  never: ['max_completion_tokens', 'stream_options', 'tool_calls', 'response_format'],
} as const;

const GEMINI = {
  exit: 'gemini',
  native: [],
  inBody: [],
  framing: 'sse',
  json: 'schema',
  images: true,
  documents: true,
  stops: true,
  systemRole: 'system',
  ceiling: 'max_tokens',
  never: ['model', 'stream', 'messages'],
  usage: 'openai',
} as const;

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});
const SERVICE_ACCOUNT = JSON.stringify({
  type: 'service_account',
  client_email: 'gateway@matrix.iam.gserviceaccount.com',
  private_key: privateKey,
  token_uri: 'TOKENS',
});
const VERTEX = {
  base: '',
  credential: { type: 'GCPServiceAccount', secret: SERVICE_ACCOUNT },
  auth: ['authorization', /^Bearer token-of-google$/] as [string, RegExp],
};

const NOVA = 'eu.amazon.nova-2-lite-v1:0';
const HAIKU = 'eu.anthropic.claude-haiku-4-5-20251001-v1:0';
const SONNET = 'claude-sonnet-4-6';

/** Vendors with protocols of their own, and the clouds. */
export const CLOUDS: readonly Kind[] = [
  {
    ...CLAUDE,
    name: 'anthropic',
    base: '/v1',
    spec: { vendor: 'anthropic' },
    credential: { type: 'APIKey', secret: 'sk-ant-matrix' },
    model: 'claude-opus-4-6',
    upstream: 'claude-opus-4-6',
    path: () => '/v1/messages',
    auth: ['x-api-key', /^sk-ant-matrix$/],
  },
  {
    ...CLAUDE,
    name: 'custom-messages',
    base: '/v1',
    spec: { vendor: 'custom', protocol: 'Messages' },
    credential: { type: 'APIKey', secret: 'house-key' },
    model: 'claude-sonnet-4-6',
    upstream: 'claude-sonnet-4-6',
    path: () => '/v1/messages',
    auth: ['x-api-key', /^house-key$/],
  },
  {
    ...CLAUDE,
    name: 'bedrock-claude',
    base: '',
    spec: {
      vendor: 'bedrock',
      region: 'eu-central-1',
      models: [{ id: 'claude-haiku-4-5', upstreamId: HAIKU }],
    },
    credential: { type: 'APIKey', secret: 'bedrock-key' },
    model: 'claude-haiku-4-5',
    upstream: HAIKU,
    path: (_family, stream) =>
      `/model/${encodeURIComponent(HAIKU)}/${stream ? 'invoke-with-response-stream' : 'invoke'}`,
    auth: ['authorization', /^Bearer bedrock-key$/],
    inBody: [],
    framing: 'chunks',
    version: 'bedrock-2023-05-31',
    budget: true,
    // Six tenths of the answer's ceiling. // wire-formats 2.3
    effort: { thinking: { type: 'enabled', budget_tokens: 4800 } },
    nativeEffort: { thinking: { type: 'enabled', budget_tokens: BUDGET } },
    never: [...CLAUDE.never, 'model', 'stream'],
  },
  {
    ...CLAUDE,
    ...VERTEX,
    name: 'vertex-claude',
    spec: { vendor: 'vertex', project: 'p-one', region: 'europe-west1' },
    model: SONNET,
    upstream: SONNET,
    path: (_family, stream) =>
      `/v1/projects/p-one/locations/europe-west1/publishers/anthropic/models/${SONNET}:${stream ? 'streamRawPredict' : 'rawPredict'}`,
    inBody: ['stream'],
    version: 'vertex-2023-10-16',
    never: [...CLAUDE.never, 'model'],
  },
  {
    name: 'bedrock',
    base: '',
    spec: { vendor: 'bedrock', region: 'eu-central-1', models: [{ id: 'nova-2-lite', upstreamId: NOVA }] },
    credential: { type: 'AWSSigV4', secret: '{"accessKeyId":"AKIDMATRIX","secretAccessKey":"secret"}' },
    model: 'nova-2-lite',
    upstream: NOVA,
    exit: 'converse',
    native: [],
    path: (_family, stream) => `/model/${encodeURIComponent(NOVA)}/${stream ? 'converse-stream' : 'converse'}`,
    framing: 'event-stream',
    auth: ['authorization', /^AWS4-HMAC-SHA256 Credential=AKIDMATRIX\/\d{8}\/eu-central-1\/bedrock\/aws4_request, /],
    inBody: [],
    effort: { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } },
    uncapped: true,
    json: 'words',
    images: true,
    documents: true,
    stops: true,
    systemRole: 'system',
    ceiling: 'max_tokens',
    never: ['model', 'stream', 'max_tokens'],
    usage: 'openai',
    refusal: 'filter',
  },
  {
    ...GEMINI,
    name: 'gemini',
    base: '/v1beta',
    spec: { vendor: 'gemini' },
    credential: { type: 'APIKey', secret: 'gemini-key' },
    model: 'gemini-3-flash',
    upstream: 'gemini-3-flash',
    path: (_family, stream) =>
      `/v1beta/models/gemini-3-flash:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    auth: ['x-goog-api-key', /^gemini-key$/],
    effort: { thinkingLevel: 'HIGH', includeThoughts: true },
    refusal: 'filter',
  },
  {
    ...GEMINI,
    ...VERTEX,
    name: 'vertex-gemini',
    spec: { vendor: 'vertex', project: 'p-one', region: 'europe-west4' },
    model: 'gemini-2.5-flash',
    upstream: 'gemini-2.5-flash',
    path: (_family, stream) =>
      `/v1/projects/p-one/locations/europe-west4/publishers/google/models/gemini-2.5-flash:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    // Six tenths of 65 536, but no more than the model takes. // wire-formats 2.3
    effort: { thinkingBudget: 24_576, includeThoughts: true },
    callsHaveNoIds: true,
    refusal: 'blocked',
  },
  {
    ...GEMINI,
    name: 'typesafe',
    base: '/v1',
    spec: { vendor: 'typesafe' },
    credential: { type: 'APIKey', secret: 'typesafe-key' },
    model: 'jev-latest',
    upstream: 'jev-latest',
    path: () => '/v1/systemone',
    auth: ['authorization', /^Bearer typesafe-key$/],
    effort: undefined,
    refusal: 'words',
    refused: 'it answers typed questions, which no conversation can be turned into',
  },
];
