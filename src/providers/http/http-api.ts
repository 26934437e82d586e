import type { CredentialConfig, ProviderConfig } from '#/config/snapshot.ts';
import type { Incoming, Outgoing, Passing } from '#/ports/provider.ts';
import type { Family } from '#/wire/document/document.ts';
import type { Transport } from './transport.ts';
import { VENDORS } from '#/vendors/list.ts';

/** Where families are asked for below a base address that speaks OpenAI's or Anthropic's paths. */
export const PATHS: Readonly<Partial<Record<Family, string>>> = {
  chat: '/chat/completions',
  messages: '/messages',
  responses: '/responses',
  completions: '/completions',
  embeddings: '/embeddings',
  moderations: '/moderations',
  rerank: '/rerank',
  ocr: '/ocr',
  images: '/images/generations',
  systemone: '/systemone',
  decisions: '/decisions',
};

export type Headers = Readonly<Record<string, string>>;

/** How an HTTP API is reached. */
export interface HttpApi {
  /** Base address without a trailing slash. */
  readonly base: string;
  /** Headers that prove who asks. Rejects with `UpstreamFault` where they have to be fetched first. */
  authorize(credential: CredentialConfig | undefined): Headers | Promise<Headers>;
  /** Path and query of a call, instead of the one in `PATHS`. */
  path?(outgoing: Outgoing): string;
  /** Headers of the protocol: those of the client's that go on. */
  headers?(client: Outgoing['headers'], dialect?: Outgoing['dialect']): Headers;
  /** Path and query for a passthrough call, instead of the unchanged path. */
  passedPath?(path: string): string;
}

/** The two ways to ask an HTTP API. */
export interface HttpExit {
  readonly send: (outgoing: Outgoing) => Promise<Incoming>;
  readonly pass: (passing: Passing) => Promise<Incoming>;
}

/** Asks an API with JSON, and passes unknown calls on. */
export function httpExit(api: HttpApi, transport: Transport): HttpExit {
  const { origin, pathname } = new URL(api.base);
  const root = pathname.replace(/(?<!\/)\/+$/, '');
  return {
    async send(outgoing) {
      const { family, stream, body, credential, timeoutMs, signal } = outgoing;
      const path = api.path?.(outgoing) ?? PATHS[family];
      if (path === undefined) throw new TypeError(`no path for the family ${family}`);
      const proof = api.authorize(credential);
      const headers = {
        'content-type': 'application/json',
        accept: stream ? 'text/event-stream' : 'application/json',
        ...api.headers?.(outgoing.headers, outgoing.dialect),
        ...(proof instanceof Promise ? await proof : proof),
      };
      return transport.send({
        method: 'POST',
        origin,
        path: root + path,
        headers,
        body,
        timeoutMs,
        idle: stream,
        signal,
      });
    },
    async pass({ method, path, contentType, body, headers: client = {}, credential, timeoutMs, signal }) {
      const headers = {
        accept: '*/*',
        ...(contentType !== undefined && { 'content-type': contentType }),
        ...versionOf(client),
        ...api.headers?.(client),
        ...(await api.authorize(credential)),
      };
      const target = root + (api.passedPath?.(path) ?? path);
      return transport.send({ method, origin, path: target, headers, body, timeoutMs, idle: true, signal });
    },
  };
}

/** Which version of a path that is passed on is meant: vendors serve some by this header alone. */
function versionOf(client: Outgoing['headers']): Headers {
  const { 'openai-beta': version } = client;
  return typeof version === 'string' && /^[a-z0-9_.-]{1,64}=v\d{1,3}$/.test(version) ? { 'openai-beta': version } : {};
}

/** What the configuration says of a model's name and place, the same for every vendor that adds nothing of its own. */
export function configured(config: ProviderConfig): {
  readonly upstreamModel: (model: string) => string;
  readonly jurisdiction: (model: string) => string;
  readonly known: readonly string[];
} {
  return {
    known: VENDORS[config.vendor].models ?? [],
    upstreamModel: (model) => config.models.get(model)?.upstreamId ?? model,
    jurisdiction: (model) => config.models.get(model)?.jurisdiction ?? config.jurisdiction,
  };
}
