import type { CredentialConfig, ProviderConfig } from '#/config/snapshot.ts';
import { UpstreamFault, type Incoming, type Outgoing } from '#/ports/provider.ts';
import { embeddingsDialectOf } from '../catalogue/embedding-models.ts';
import { BEDROCK_CLAUDE, betasFor, isInOwnWords, withMembers } from '../catalogue/claude-hosts.ts';
import { embed, readEmbeddingsAsk } from '../base/embeddings.ts';
import { fitClaudeHost } from '../fit/claude-host.ts';
import { configured } from '../http/http-api.ts';
import { succeeded } from '../http/made-answer.ts';
import { fitRejected } from '../fit/fitting.ts';
import type { Transport } from '../http/transport.ts';
import type { CreateProvider } from '../base/create-provider.ts';
import { bedrockEmbeddings } from './embeddings.ts';
import { converseEvent, messagesEvent, ReframedAnswer } from './event-stream.ts';
import { readBedrockFailure } from './failure.ts';
import { createSigner, type Sign } from './signature.ts';

const EVENT_STREAM = 'application/vnd.amazon.eventstream';

/** Where a profile may process: the first part of its id. // wire-formats 1.3 */
const PROFILES: Readonly<Record<string, string>> = {
  global: 'GLOBAL',
  us: 'US',
  eu: 'EU',
  apac: 'APAC',
  jp: 'JP',
  au: 'AU',
};

/** Amazon Bedrock: every model in the converse family, Claude in its own one too. // wire-formats 1.1 */
export const bedrock: CreateProvider = (config, { transport, traits }) => {
  const named = configured(config);
  const ask = createAsk(config, transport);
  return {
    config,
    ...named,
    jurisdiction: (model) => placeOfProfile(named.upstreamModel(model)) ?? named.jurisdiction(model),
    families(model) {
      if (traits(config, model).claude) return ['messages', 'converse'];
      return embeddingsDialectOf('bedrock', named.upstreamModel(model)) ? ['embeddings'] : ['converse'];
    },
    traits: (model) => traits(config, model),
    fit(document, context, lose) {
      const known = traits(config, context.model);
      if (document.family === 'messages') {
        return fitClaudeHost(document, BEDROCK_CLAUDE, { config, traits: known, context }, lose);
      }
      if (document.family === 'embeddings') readEmbeddingsAsk(document.body);
      return fitRejected(document, known, lose);
    },
    send(outgoing) {
      if (outgoing.family === 'messages') return ask({ ...outgoing, body: claudeBody(outgoing, config) });
      if (outgoing.family !== 'embeddings') return ask(outgoing);
      return embed(outgoing, bedrockEmbeddings(outgoing.model), (body) => ask({ ...outgoing, body }));
    },
    readFailure: readBedrockFailure,
  };
};

type Ask = (outgoing: Outgoing) => Promise<Incoming>;

function createAsk(config: ProviderConfig, transport: Transport): Ask {
  const address = new URL(config.url);
  const root = address.pathname.replace(/(?<!\/)\/+$/, '');
  const authorize = authorization(config, address);
  return async (outgoing) => {
    const { family, model, stream, body, credential, timeoutMs, signal } = outgoing;
    const path = `${root}/model/${encodeURIComponent(model)}${operationOf(outgoing)}`;
    const accept = stream ? EVENT_STREAM : 'application/json';
    const unsigned = { origin: address, path, headers: { 'content-type': 'application/json', accept }, body };
    const headers = await authorize(credential, unsigned);
    const { origin } = address;
    const incoming = await transport.send({
      method: 'POST',
      origin,
      path,
      headers,
      body,
      timeoutMs,
      idle: stream,
      signal,
    });
    if (!stream || !succeeded(incoming)) return incoming;
    return new ReframedAnswer(incoming, family === 'messages' ? messagesEvent : converseEvent);
  };
}

function operationOf({ family, stream }: Outgoing): string {
  if (family === 'converse') return stream ? '/converse-stream' : '/converse';
  return stream ? '/invoke-with-response-stream' : '/invoke';
}

/** The protocol's version and the client's beta flags stand in the body here. */
function claudeBody({ body, headers, dialect }: Outgoing, config: ProviderConfig): string {
  if (isInOwnWords(BEDROCK_CLAUDE, config, dialect)) return body;
  const betas = betasFor(BEDROCK_CLAUDE, headers['anthropic-beta']);
  const version = { anthropic_version: BEDROCK_CLAUDE.version };
  return withMembers(body, betas.length > 0 ? { ...version, anthropic_beta: betas } : version);
}

/** Signs with an access key, or shows a Bedrock API key. */
function authorization(
  config: ProviderConfig,
  address: URL,
): (credential: CredentialConfig | undefined, ...request: Parameters<Sign>) => ReturnType<Sign> {
  const region = config.region ?? /^bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\./.exec(address.hostname)?.[1];
  const signers = new Map<string, Sign>();
  for (const credential of config.credentials) {
    if (credential.type !== 'aws_sigv4') continue;
    if (region === undefined) throw new TypeError('bedrock needs a region to sign for');
    signers.set(credential.name, createSigner(credential.secret, region));
  }
  return async (credential, request) => {
    if (!credential) throw new UpstreamFault('connect', 'the provider has no credential');
    const sign = signers.get(credential.name);
    return sign ? sign(request) : { ...request.headers, authorization: `Bearer ${credential.secret}` };
  };
}

/** Where an inference profile may process; undefined for a plain model, which stays in its region. */
function placeOfProfile(model: string): string | undefined {
  const id = model.slice(model.lastIndexOf('/') + 1);
  const prefix = id.slice(0, id.indexOf('.'));
  return Object.hasOwn(PROFILES, prefix) ? PROFILES[prefix] : undefined;
}
