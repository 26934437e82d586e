import type { LookupAddress } from 'node:dns';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MediaUnavailable } from '#/ports/media.ts';
import { isPublicAddress } from './media-address.ts';
import { createMediaFetcher, type ClosableMediaFetcher, type MediaFetcherOptions } from './media.ts';

describe('addresses of the public internet', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '93.184.216.34',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.0.1',
    '100.128.0.1',
    '198.17.0.1',
  ])('%s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
  it.each(['2606:4700::1111', '2a00:1450:4001::8a', '2001:4860:4860::8888', '2a02::1'])('%s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

describe('addresses that are not', () => {
  it.each([
    ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.100.100.200', '100.127.255.255'],
    ...['127.0.0.1', '127.255.255.254', '169.254.0.1', '169.254.169.254', '172.16.0.1', '172.31.255.255'],
    ...['192.0.0.8', '192.0.2.1', '192.88.99.1', '192.168.0.1', '198.18.0.1', '198.19.255.255', '198.51.100.1'],
    ...['203.0.113.9', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', '168.63.129.16'],
    ...['::', '::1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:7f00:1', '::127.0.0.1', '64:ff9b::7f00:1'],
    ...['64:ff9b:1::1', '100::1', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'fc00::1', 'fd00:ec2::254', 'ff02::1'],
    ...['2001::1', '2001:db8::1', '2002:7f00:1::', '2002:808:808::1', '3fff::1', '4000::1', '2606:4700::1111%1'],
    ...['localhost', '', '1.2.3', '0x7f.1', '2130706433'],
  ])('%s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

/** Loopback has a whole network: here its first address stands for the public internet, the others for a private one. */
const PUBLIC = '127.0.0.1';
const PRIVATE = '127.0.0.2';

const PNG = Buffer.from('iVBORw0KGgo=', 'base64');
const signal = new AbortController().signal;

let respond: RequestListener;
let asked: string[];
let port: number;
let fetcher: ClosableMediaFetcher;
let stop: () => Promise<void>;

function fetcherWith(options: MediaFetcherOptions = {}): ClosableMediaFetcher {
  return createMediaFetcher({ allowHttp: true, mayConnect: (address) => address === PUBLIC, ...options });
}

/** A resolver that gives these addresses, one list after the other, the last from there on. */
function resolving(...answers: readonly (readonly string[])[]): NonNullable<MediaFetcherOptions['resolve']> {
  let at = 0;
  const resolve = (_name: string, _options: unknown, callback: (error: null, found: LookupAddress[]) => void): void => {
    const addresses = answers[Math.min(at++, answers.length - 1)] ?? [];
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return resolve as unknown as NonNullable<MediaFetcherOptions['resolve']>;
}

async function reasonOf(promise: Promise<unknown>): Promise<string> {
  const thrown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(MediaUnavailable);
  const { message } = thrown as MediaUnavailable;
  expect(message).not.toMatch(/127\.|ECONN|localhost/);
  return message;
}

beforeEach(async () => {
  asked = [];
  respond = (_request, response) => response.writeHead(200, { 'content-type': 'image/png' }).end(PNG);
  const server = createServer((request, response) => {
    asked.push(`${request.headers.host?.split(':')[0]}${request.url}`);
    respond(request, response);
  });
  // Listens on all of loopback, so that a connection to the private address would succeed.
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  port = (server.address() as AddressInfo).port;
  fetcher = fetcherWith({ resolve: resolving([PUBLIC]) });
  stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
});

afterEach(async () => {
  await fetcher.close();
  await stop();
});

async function replace(options: MediaFetcherOptions): Promise<void> {
  await fetcher.close();
  fetcher = fetcherWith(options);
}

describe('what is fetched', () => {
  it.each([
    ['image/png', 'image/png'],
    ['IMAGE/JPEG; charset=binary', 'image/jpeg'],
    ['application/pdf', 'application/pdf'],
    ['text/plain;charset=utf-8', 'text/plain'],
  ])('%s', async (sent, mediaType) => {
    respond = (_request, response) => response.writeHead(200, { 'content-type': sent }).end(PNG);
    const media = await fetcher.fetchMedia(`http://files.example:${port}/a?b=c`, signal);
    expect(media).toEqual({ mediaType, data: PNG.toString('base64') });
    expect(asked).toEqual(['files.example/a?b=c']);
  });

  it('a file behind three redirects, relative and absolute', async () => {
    const steps = ['/2', `http://other.example:${port}/3`, '4'];
    respond = (_request, response) => {
      const location = steps[asked.length - 1];
      if (location) response.writeHead(302, { location }).end();
      else response.writeHead(200, { 'content-type': 'image/png' }).end(PNG);
    };
    await fetcher.fetchMedia(`http://files.example:${port}/1`, signal);
    expect(asked).toEqual(['files.example/1', 'files.example/2', 'other.example/3', 'other.example/4']);
  });
});

describe('what is not', () => {
  it.each([
    ['http', () => 'http://files.example/a'],
    ['a file', () => 'file:///etc/passwd'],
    ['data', () => 'data:image/png;base64,AAAA'],
    ['nonsense', () => 'nonsense'],
    ['credentials', () => 'https://user:pass@files.example/'],
    ['a very long address', () => `https://files.example/${'a'.repeat(9000)}`],
  ])('%s, by default', async (_name, url) => {
    await replace({ allowHttp: false });
    await reasonOf(fetcher.fetchMedia(url(), signal));
    expect(asked).toEqual([]);
  });

  it.each([
    '127.0.0.2',
    '2130706434',
    '0x7f.2',
    '0177.0.0.2',
    '127.2',
    '[::1]',
    '[::ffff:127.0.0.2]',
    '[::ffff:7f00:2]',
    '[fd00::1]',
  ])('the number %s of a private address', async (host) => {
    expect(await reasonOf(fetcher.fetchMedia(`http://${host}:${port}/`, signal))).toContain('public');
    expect(asked).toEqual([]);
  });

  it.each([
    ['private', [PRIVATE]],
    ['both', [PUBLIC, PRIVATE]],
    ['both, the other way round', [PRIVATE, PUBLIC]],
    ['private by IPv6', ['::1']],
    ['mapped', ['::ffff:127.0.0.1']],
    ['none', []],
  ])('a name whose addresses are %s', async (_name, addresses) => {
    await replace({ resolve: resolving(addresses) });
    expect(await reasonOf(fetcher.fetchMedia(`http://files.example:${port}/`, signal))).toContain('public');
    expect(asked).toEqual([]);
  });

  it('a name that is public when checked and private when connected to', async () => {
    await replace({ resolve: resolving([PUBLIC], [PRIVATE]) });
    respond = (_request, response) =>
      response.writeHead(302, { location: `http://again.example:${port}/`, connection: 'close' }).end();
    expect(await reasonOf(fetcher.fetchMedia(`http://files.example:${port}/`, signal))).toContain('public');
    expect(asked).toEqual(['files.example/']);
  });

  it.each(['http://127.0.0.2/', 'http://[::1]/', 'file:///etc/passwd', 'gopher://files.example/'])(
    'a redirect to %s',
    async (location) => {
      respond = (_request, response) => response.writeHead(301, { location }).end();
      await reasonOf(fetcher.fetchMedia(`http://files.example:${port}/`, signal));
      expect(asked).toHaveLength(1);
    },
  );

  it('a fourth redirect', async () => {
    respond = (_request, response) => response.writeHead(302, { location: '/again' }).end();
    expect(await reasonOf(fetcher.fetchMedia(`http://files.example:${port}/`, signal))).toContain('more than 3');
    expect(asked).toHaveLength(4);
  });

  it.each(['text', 'application/json', 'application/octet-stream', 'video/mp4', 'image/', ''])(
    'the type %j',
    async (type) => {
      respond = (_request, response) => response.writeHead(200, type ? { 'content-type': type } : {}).end(PNG);
      await reasonOf(fetcher.fetchMedia(`http://files.example:${port}/`, signal));
    },
  );

  it('what is compressed, or another status', async () => {
    respond = (_request, response) =>
      response.writeHead(200, { 'content-type': 'image/png', 'content-encoding': 'gzip' }).end(PNG);
    expect(await reasonOf(fetcher.fetchMedia(`http://files.example:${port}/`, signal))).toContain('compressed');
    respond = (_request, response) => response.writeHead(404, { 'content-type': 'image/png' }).end(PNG);
    expect(await reasonOf(fetcher.fetchMedia(`http://files.example:${port}/`, signal))).toContain('404');
  });

  it.each([
    ['by its announced length', { 'content-length': '11' }],
    ['by its bytes', {}],
  ])('too large a file, %s', async (_name, headers) => {
    await replace({ resolve: resolving([PUBLIC]), maxBytes: 10 });
    respond = (_request, response) => {
      response.writeHead(200, { 'content-type': 'image/png', ...headers });
      response.write('12345');
      response.end('678901');
    };
    expect(await reasonOf(fetcher.fetchMedia(`http://files.example:${port}/`, signal))).toContain('larger than 10');
  });

  it('a file that does not come in time, or that nobody waits for any more', async () => {
    await replace({ resolve: resolving([PUBLIC]), timeoutMs: 50 });
    respond = (_request, response) => void response.writeHead(200, { 'content-type': 'image/png' }).write('a');
    expect(await reasonOf(fetcher.fetchMedia(`http://files.example:${port}/`, signal))).toContain('too long');
    const gone = fetcher.fetchMedia(`http://files.example:${port}/`, AbortSignal.abort());
    expect(await reasonOf(gone)).toContain('aborted');
  });

  it('a server that is not there', async () => {
    await stop();
    expect(await reasonOf(fetcher.fetchMedia(`http://files.example:${port}/`, signal))).toContain('reached');
    stop = () => Promise.resolve();
  });
});
