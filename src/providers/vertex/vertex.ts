import type { ProviderConfig } from '#/config/snapshot.ts';
import { UpstreamFault, type Incoming, type Outgoing } from '#/ports/provider.ts';
import { embeddingsDialectOf } from '../catalogue/embedding-models.ts';
import { betasFor, isInOwnWords, VERTEX_CLAUDE, withMembers } from '../catalogue/claude-hosts.ts';
import { embed, readEmbeddingsAsk } from '../base/embeddings.ts';
import { readFailure } from '../http/failure.ts';
import { fitClaudeHost } from '../fit/claude-host.ts';
import { configured, httpExit, type Headers, type HttpApi, type HttpExit } from '../http/http-api.ts';
import { madeFailure } from '../http/made-answer.ts';
import { fitRejected } from '../fit/fitting.ts';
import type { Transport } from '../http/transport.ts';
import type { CreateProvider } from '../base/create-provider.ts';
import { CredentialRefused, readServiceAccount, serviceAccountToken, type AccessToken } from './access-token.ts';
import { vertexEmbeddings } from './embeddings.ts';

/** Requests to Claude on Vertex are at most this long. */
const MAX_CLAUDE_BYTES = 30_000_000;

/** Locations that are more than a region, and where they may process. // wire-formats 1.3 */
const WIDE_LOCATIONS: Readonly<Record<string, string>> = { global: 'GLOBAL', us: 'US', eu: 'EU' };

/** Google's Vertex AI: Gemini, and Claude in the messages family. // wire-formats 1.1 */
export const vertex: CreateProvider = (config, { transport, traits }) => {
  const { region } = config;
  const named = configured(config);
  const ask = createAsk(config, transport);
  return {
    config,
    ...named,
    jurisdiction: (model) => WIDE_LOCATIONS[region ?? ''] ?? named.jurisdiction(model),
    families(model) {
      if (traits(config, model).claude) return ['messages'];
      return embeddingsDialectOf('vertex', named.upstreamModel(model)) ? ['embeddings'] : ['gemini'];
    },
    traits: (model) => traits(config, model),
    fit(document, context, lose) {
      const known = traits(config, context.model);
      if (document.family === 'messages') {
        return fitClaudeHost(document, VERTEX_CLAUDE, { config, traits: known, context }, lose);
      }
      if (document.family === 'embeddings') readEmbeddingsAsk(document.body);
      return fitRejected(document, known, lose);
    },
    async send(outgoing) {
      try {
        return await ask(outgoing);
      } catch (thrown) {
        if (!(thrown instanceof CredentialRefused)) throw thrown;
        return madeFailure(401, thrown.message, 'credential_refused');
      }
    },
    readFailure,
  };
};

type Ask = (outgoing: Outgoing) => Promise<Incoming>;

function createAsk(config: ProviderConfig, transport: Transport): Ask {
  const { project, region, url } = config;
  if (project === undefined || region === undefined) throw new TypeError('vertex needs a project and a region');
  const version = /\/v\d[a-z0-9]*$/.test(url) ? '' : '/v1';
  const location = `projects/${encodeURIComponent(project)}/locations/${encodeURIComponent(region)}`;
  const publishers = `${url}${version}/${location}/publishers`;
  const authorize = authorization(config, transport);
  const google = httpExit({ base: `${publishers}/google/models`, authorize, path: googlePath }, transport);
  const anthropic = httpExit(
    {
      base: `${publishers}/anthropic/models`,
      authorize,
      path: claudePath,
      headers: (client, dialect) => protocolHeaders(client, isInOwnWords(VERTEX_CLAUDE, config, dialect)),
    },
    transport,
  );
  return (outgoing) => {
    if (outgoing.family === 'messages')
      return askClaude(outgoing, isInOwnWords(VERTEX_CLAUDE, config, outgoing.dialect), anthropic);
    if (outgoing.family !== 'embeddings') return google.send(outgoing);
    return embed(outgoing, vertexEmbeddings(outgoing.model).dialect, (body) => google.send({ ...outgoing, body }));
  };
}

function askClaude(outgoing: Outgoing, isOwn: boolean, exit: HttpExit): Promise<Incoming> {
  const body = isOwn ? outgoing.body : withMembers(outgoing.body, { anthropic_version: VERTEX_CLAUDE.version });
  // Bytes are counted only where there can be too many of them.
  if (body.length > MAX_CLAUDE_BYTES / 3 && Buffer.byteLength(body) > MAX_CLAUDE_BYTES) {
    return Promise.resolve(madeFailure(413, 'The provider takes requests of at most 30 MB.', 'request_too_large'));
  }
  return exit.send({ ...outgoing, body });
}

function googlePath({ family, model, stream }: Outgoing): string {
  if (family === 'embeddings') return `/${segment(model)}:${vertexEmbeddings(model).method}`;
  return `/${segment(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`;
}

function claudePath({ model, stream }: Outgoing): string {
  return `/${segment(model)}:${stream ? 'streamRawPredict' : 'rawPredict'}`;
}

/** A model id in an address; versions follow an `@`, which stands for itself there. */
function segment(model: string): string {
  return encodeURIComponent(model).replaceAll('%40', '@');
}

function protocolHeaders(client: Outgoing['headers'], isOwn: boolean): Headers {
  if (isOwn) {
    const told = ['anthropic-beta', 'anthropic-version'].map(
      (name) => [name, [client[name]].flat().join(',')] as const,
    );
    return Object.fromEntries(told.filter(([, value]) => value !== ''));
  }
  const betas = betasFor(VERTEX_CLAUDE, client['anthropic-beta']);
  return betas.length > 0 ? { 'anthropic-beta': betas.join(',') } : {};
}

/** Bearer tokens: those of a service account, or a key that is one already. */
function authorization(config: ProviderConfig, transport: Transport): HttpApi['authorize'] {
  const tokens = new Map<string, AccessToken>();
  for (const { name, type, secret } of config.credentials) {
    if (type === 'gcp_service_account') tokens.set(name, serviceAccountToken(readServiceAccount(secret), transport));
    else tokens.set(name, () => Promise.resolve(secret));
  }
  return async (credential) => {
    const token = tokens.get(credential?.name ?? '');
    if (!token) throw new UpstreamFault('connect', 'the provider has no credential');
    return { authorization: `Bearer ${await token()}` };
  };
}
