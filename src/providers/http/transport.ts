import type { Incoming } from '#/ports/provider.ts';
import { guardedConnector } from './guarded-connector.ts';
import { Http1Client } from './http1/client.ts';
import type { Pool } from './http1/pool.ts';
import { requestHead, type RequestHead } from './http1/request-head.ts';
import { TransportExchange } from './transport-exchange.ts';
import { classify } from './transport-fault.ts';
import type { TransportRequest } from './transport-request.ts';

/** Sends requests over kept-alive connections. */
export interface Transport {
  /** Resolves when the answer's head is there, whatever its status. Rejects with `UpstreamFault`. */
  send(request: TransportRequest): Promise<Incoming>;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 10_000;

export interface TransportOptions {
  /** How long an answer that comes in pieces may take to its end; by default an hour. */
  readonly streamSeconds?: number;
}

/** A transport of its own pool per origin; no pipelining, no redirects, no retries. */
export function createTransport({ streamSeconds = 3600 }: TransportOptions = {}): Transport {
  // Ours are the only timeouts but that of connecting: they know streams from buffered answers.
  const client = new Http1Client(guardedConnector({ allowH2: false, timeout: CONNECT_TIMEOUT_MS }));
  return {
    send(request) {
      let pool: Pool;
      let head: RequestHead;
      try {
        pool = client.pool(request.origin);
        head = requestHead(request, pool.authority);
      } catch (error) {
        const fault = classify(error as Error, false);
        fault.sent = false;
        return Promise.reject(fault);
      }
      const exchange = new TransportExchange(request, head, streamSeconds);
      pool.ask(exchange);
      return exchange.head;
    },
    close: () => client.close(),
  };
}
