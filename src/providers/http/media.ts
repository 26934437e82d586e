import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, request, type Dispatcher } from 'undici';
import { MediaUnavailable, type FetchedMedia, type MediaFetcher } from '#/ports/media.ts';
import { isPublicAddress } from './media-address.ts';

/** How addresses are fetched; the defaults are meant for everything but tests and closed networks. */
export interface MediaFetcherOptions {
  /** Permits `http:` addresses. */
  readonly allowHttp?: boolean;
  /** Which IP addresses may be connected to; default: those of the public internet. */
  readonly mayConnect?: (address: string) => boolean;
  /** How names are resolved; default: as the system does. */
  readonly resolve?: typeof lookup;
  /** Milliseconds for one address, redirects included. */
  readonly timeoutMs?: number;
  /** Bytes that a file may have. */
  readonly maxBytes?: number;
}

/** A fetcher that holds connections of its own. */
export interface ClosableMediaFetcher extends MediaFetcher {
  close(): Promise<void>;
}

const MAX_REDIRECTS = 3;
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 20 * 1024 * 1024;
const MAX_URL = 8192;
const FETCHED_TYPES = /^(?:image\/[a-z0-9.+-]+|text\/[a-z0-9.+-]+|application\/pdf)$/;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

const NOT_PUBLIC = 'it is not at a public address';

/** A name that resolves to an address which may not be connected to. */
class ForbiddenAddress extends Error {
  override readonly name = 'ForbiddenAddress';
}

/**
 * Fetches images and documents from public servers. A name is resolved once for each connection, and the address that
 * was checked is the one connected to; every redirect is checked like the first address.
 */
export function createMediaFetcher(options: MediaFetcherOptions = {}): ClosableMediaFetcher {
  const { mayConnect = isPublicAddress, resolve = lookup, timeoutMs = TIMEOUT_MS } = options;
  const agent = new Agent({
    allowH2: false,
    pipelining: 1,
    connect: { lookup: checkedLookup(resolve, mayConnect), timeout: timeoutMs },
    // A connection is kept for a redirect, not for the next client.
    keepAliveTimeout: 1000,
    maxHeaderSize: 32 * 1024,
  });
  const rules = { allowHttp: options.allowHttp ?? false, mayConnect, maxBytes: options.maxBytes ?? MAX_BYTES };
  return {
    async fetchMedia(url, signal) {
      const stop = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      try {
        return await follow(url, agent, rules, stop);
      } catch (thrown) {
        throw explain(thrown, signal);
      }
    },
    close: () => agent.destroy(),
  };
}

interface Rules {
  readonly allowHttp: boolean;
  readonly mayConnect: (address: string) => boolean;
  readonly maxBytes: number;
}

async function follow(first: string, agent: Agent, rules: Rules, signal: AbortSignal): Promise<FetchedMedia> {
  let url = checkedUrl(first, undefined, rules);
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const answer = await request(url, {
      dispatcher: agent,
      method: 'GET',
      headers: { accept: 'image/*, application/pdf, text/*;q=0.5', 'user-agent': 'gatewarden' },
      signal,
    });
    const { location } = answer.headers;
    if (!REDIRECTS.has(answer.statusCode)) return readMedia(answer, rules);
    drop(answer);
    if (typeof location !== 'string') throw unavailable('it redirects to nowhere');
    url = checkedUrl(location, url, rules);
  }
  throw unavailable(`it redirects more than ${MAX_REDIRECTS} times`);
}

/** An address that may be asked. Names are checked when they are resolved, numbers here. */
function checkedUrl(text: string, base: URL | undefined, { allowHttp, mayConnect }: Rules): URL {
  const url = text.length <= MAX_URL ? URL.parse(text, base?.href) : null;
  if (!url) throw unavailable('it is not a valid address');
  if (url.protocol !== 'https:' && !(allowHttp && url.protocol === 'http:'))
    throw unavailable('it is not an https address');
  if (url.username !== '' || url.password !== '') throw unavailable('it holds credentials');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !mayConnect(host)) throw unavailable(NOT_PUBLIC);
  return url;
}

/** Resolves a name and gives its addresses to the connection only if all of them may be connected to. */
function checkedLookup(resolve: typeof lookup, mayConnect: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '');
      const [first] = addresses;
      if (!first || !addresses.every(({ address }) => mayConnect(address))) {
        return callback(new ForbiddenAddress('the name does not resolve to public addresses'), '');
      }
      return options.all === true ? callback(null, addresses) : callback(null, first.address, first.family);
    });
  };
}

async function readMedia(answer: Dispatcher.ResponseData, { maxBytes }: Rules): Promise<FetchedMedia> {
  const mediaType = mediaTypeOf(answer);
  const refusal = refusalOf(answer, mediaType, maxBytes);
  if (refusal !== undefined) {
    drop(answer);
    throw unavailable(refusal);
  }
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of answer.body as AsyncIterable<Uint8Array>) {
    size += part.length;
    // Leaving the loop closes the connection.
    if (size > maxBytes) throw unavailable(tooLarge(maxBytes));
    parts.push(part);
  }
  return { mediaType, data: Buffer.concat(parts, size).toString('base64') };
}

/** Closes the connection of an answer whose body is not read. */
function drop({ body }: Dispatcher.ResponseData): void {
  // The body tells that it was cut off as an error.
  body.on('error', () => {}).destroy();
}

function mediaTypeOf({ headers }: Dispatcher.ResponseData): string {
  const [type = ''] = String(headers['content-type'] ?? '').split(';', 1);
  return type.trim().toLowerCase();
}

function refusalOf(
  { statusCode, headers }: Dispatcher.ResponseData,
  type: string,
  maxBytes: number,
): string | undefined {
  if (statusCode !== 200) return `its server answered with status ${statusCode}`;
  if (!FETCHED_TYPES.test(type)) return 'it is neither an image nor a PDF nor text';
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') return 'it is compressed, which was not asked for';
  return Number(headers['content-length'] ?? 0) > maxBytes ? tooLarge(maxBytes) : undefined;
}

function tooLarge(maxBytes: number): string {
  return `it is larger than ${maxBytes} bytes`;
}

function unavailable(reason: string): MediaUnavailable {
  return new MediaUnavailable(`A file could not be fetched: ${reason}.`);
}

/** The client's error: it never reveals anything about our network, nor whether a server is there. */
function explain(thrown: unknown, signal: AbortSignal): unknown {
  if (thrown instanceof MediaUnavailable) return thrown;
  if (signal.aborted) return unavailable('the request was aborted');
  if (thrown instanceof ForbiddenAddress) return unavailable(NOT_PUBLIC);
  if (thrown instanceof Error && thrown.name === 'TimeoutError') return unavailable('its server took too long');
  return unavailable('its server could not be reached');
}
