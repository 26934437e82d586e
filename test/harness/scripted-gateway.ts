import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { afterEach, beforeEach, expect } from 'vitest';
import { make, sha256, snapshotOf } from '#/config/testing/resources.ts';
import type { GatewayError } from '#/errors/gateway-error.ts';
import { createPriceBook } from '#/meter/pricing/price-book.ts';
import type { Answer, CallRequest } from '#/call/call.ts';
import { createProviders } from '#/providers/registry.ts';
import { createTransport } from '#/providers/http/transport.ts';
import { BodyRoom } from '#/surfaces/body/body-room.ts';
import type { Stranger } from '#/surfaces/stranger.ts';
import { OpenCalls } from '#/surfaces/endpoint/open-calls.ts';
import { buildGateway } from '../../src/gateway.ts';

/** The key that `send` uses. */
export const KEY = 'gw_test_door';
const snapshot = snapshotOf([
  make('Organization', 'acme', { priceBookRef: { name: 'prices' } }),
  make('PriceBook', 'prices', { prices: [{ model: 'vendor/*', input: '1' }] }),
  make('Workload', 'bot'),
  make('VirtualKey', 'key', { hash: { value: sha256(KEY) } }),
  make('Provider', 'vendor', {
    models: ['one', 'two', 'org/three', 'four', 'five'].map((id) => ({ id })),
    onlyListedModels: true,
  }),
]);

export interface Sent {
  readonly method?: 'GET' | 'POST' | 'HEAD' | 'PUT' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The endpoints over a pipeline that each test scripts. */
export interface ScriptedGateway {
  /** What the pipeline answers; `{"ok":true}` unless a test sets it. */
  serve: (request: CallRequest) => AsyncGenerator<Answer>;
  /** Requests that reached the pipeline. */
  served: (CallRequest & { readonly text: string })[];
  /** Refusals that were sealed: id, family and code. */
  sealed: string[];
  strangers: Stranger[];
  calls: OpenCalls;
  turnedAway: GatewayError | undefined;
  app: FastifyInstance;
  /** Sends a request with the key. */
  send(url: string, sent?: Sent): Promise<LightMyRequestResponse>;
}

/** Opens and closes a gateway for each test of the file that calls it. */
export function scriptedGateway(): ScriptedGateway {
  const scripted = {
    send: (url, { method = 'POST', headers, body = '{}' } = {}) => {
      const type = method === 'POST' ? { 'content-type': 'application/json' } : {};
      return scripted.app.inject({
        method,
        url,
        headers: { 'x-api-key': KEY, ...type, ...headers },
        ...(method === 'POST' && { payload: body }),
      });
    },
  } as ScriptedGateway;

  beforeEach(() => {
    Object.assign(scripted, {
      serve: () => answer('{"ok":true}'),
      served: [],
      sealed: [],
      strangers: [],
      turnedAway: undefined,
    });
    scripted.calls = new OpenCalls();
    scripted.app = buildGateway({
      calls: scripted.calls,
      pipeline: {
        serve: async (request, text, emit) => {
          scripted.served.push({ ...request, text });
          for await (const part of scripted.serve(request)) if (!(await emit(part))) return;
        },
        refuse: ({ id }, family, { code }) => void scripted.sealed.push(`${id} ${family} ${code}`),
        pass: () => {
          throw new Error('nothing here is passed on');
        },
        anonymize: () => Promise.reject(new Error('no document is worked on here')),
        callTool: () => Promise.reject(new Error('no tool is called here')),
        read: () => Promise.reject(new Error('nothing is read here')),
        get listed(): never {
          throw new Error('nothing is listed here');
        },
        offerResources: () => Promise.reject(new Error('no resources are offered here')),
        lookThroughList: () => Promise.reject(new Error('no list is looked through here')),
        offerTools: () => Promise.reject(new Error('no tools are offered here')),
        turnAway: () => scripted.turnedAway,
        whyUnlisted: () => {
          throw new Error('no tools are listed here');
        },
        leave: () => {},
        get clients(): never {
          throw new Error('no client has a session here');
        },
        listenToServers: () => Promise.reject(new Error('no server is listened to here')),
        personOf: () => '',
      },
      onError: () => {},
      onStranger: (stranger) => void scripted.strangers.push(stranger),
      authDelayMs: 0,
      keys: { current: () => snapshot, mayHold: () => false, mayHoldId: () => false },
      providers: createProviders(createTransport()),
      prices: createPriceBook({ usdToEur: '0.92' }),
      jobs: {
        submit: () => Promise.reject(new Error('no job is taken here')),
        find: () => Promise.reject(new Error('no job is known here')),
        cancel: () => Promise.reject(new Error('no job is known here')),
        fetch: () => Promise.reject(new Error('no job is known here')),
      },
      publicUrl: undefined,
      docsUrl: 'https://docs.test/',
      mcpOrigins: [],
      implementation: { name: 'gatewarden', version: '0' },
      bodyLimitBytes: 65_536,
      room: new BodyRoom(1024 * 1024, 65_536),
    });
  });

  afterEach(() => scripted.app.close());
  return scripted;
}

export async function* answer(text: string): AsyncGenerator<Answer> {
  yield { kind: 'accepted', stream: false, headers: { 'x-extra': '1' }, limits: {} };
  yield { kind: 'head' };
  yield { kind: 'body', text };
}

export async function* stream(texts: readonly string[], error?: GatewayError): AsyncGenerator<Answer> {
  yield { kind: 'accepted', stream: true, headers: {}, limits: {} };
  yield { kind: 'head' };
  for (const text of texts) yield { kind: 'body', text };
  if (error) throw error;
}

export async function* refuse(error: unknown): AsyncGenerator<Answer> {
  yield* [];
  throw error;
}

/** That an answer says its id wherever the protocol has a place for it; returns it. */
export function idOf(reply: LightMyRequestResponse): string {
  const id = reply.headers['request-id'];
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  expect(reply.headers['x-request-id']).toBe(id);
  if (reply.statusCode >= 400) {
    expect(reply.json()).toEqual({
      type: 'error',
      error: {
        type: expect.stringMatching(/_error$|^request_too_large$/) as string,
        message: expect.any(String) as string,
      },
      request_id: id,
    });
  }
  return String(id);
}
