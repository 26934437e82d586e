import type { CallContext } from '#/call/call.ts';
import type { ClientAsk, ClientSession } from '#/call/client-session.ts';
import type { McpServerConfig } from '#/config/snapshot.ts';
import type { ToSession } from '#/ports/mcp-servers.ts';
import type { WireDocument } from '#/wire/document/document.ts';
import type { ClientEra } from '#/wire/mcp/eras.ts';
import { passedLog } from '../notices.ts';
import { keyFor } from '../protected-key.ts';
import { ClientAsks } from './client-asks.ts';
import type { AskParts } from '../tool-parts.ts';
import type { SessionCaller } from './client-sessions.ts';

/** A client that listens to its servers. */
export interface Listener extends CallContext, SessionCaller {
  readonly era: ClientEra;
  /** The caller as it is configured now; undefined: it is no longer good. */
  readonly current: () => Pick<CallContext, 'key' | 'snapshot'> | undefined;
  /** Takes a whole message. */
  readonly write: (message: string) => void;
  /** As of a call. */
  readonly onAsk: (ask: ClientAsk) => void;
}

/** Notices that say that something changed, and nothing else. */
const CHANGES: ReadonlyMap<string, 'tools' | 'prompts' | 'resources'> = new Map([
  ['notifications/tools/list_changed', 'tools'],
  ['notifications/prompts/list_changed', 'prompts'],
  ['notifications/resources/list_changed', 'resources'],
]);

/**
 * Passes on what the servers of a session say besides their answers, until one of them ends its stream, the client
 * leaves or its configuration changes. Log messages are looked through like results.
 */
export async function listenToServers(listener: Listener, session: ClientSession, parts: AskParts): Promise<void> {
  const stop = new AbortController();
  const signal = AbortSignal.any([listener.signal, stop.signal]);
  const left = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  const listening = parts.tools.clients.at(listener, session).map(async ([server, to]) => {
    const one = { ...listener, session, signal, end: () => stop.abort() };
    const hasStream = await listenToOne(one, server, to, parts).catch(() => true);
    if (!hasStream) await left;
  });
  try {
    await (listening.length === 0 ? left : Promise.race(listening));
  } finally {
    stop.abort();
    await Promise.all(listening);
  }
}

async function listenToOne(
  listener: Listener & { readonly session: ClientSession; readonly end: () => void },
  server: McpServerConfig,
  to: ToSession,
  parts: AskParts,
): Promise<boolean> {
  const request = { ...listener, key: keyFor(listener.key, server.trust) };
  const nothing = { arguments: undefined, answers: [], sent: { arguments: '{}', answers: [] } };
  using asks = new ClientAsks({ request, server, tool: undefined, said: nothing, inspection: undefined }, parts);
  // Policy, keys and servers are those of the beginning: with others, the client begins again.
  const isOver = (): boolean => {
    if (listener.current()?.key.workload === listener.key.workload) return false;
    listener.end();
    return true;
  };
  const write = (message: string | undefined): void => {
    if (message !== undefined && !isOver() && !request.signal.aborted) listener.write(message);
  };
  const changes = new Map<unknown, () => void>();
  for (const [method, feature] of CHANGES) {
    if (server.offer.has(feature))
      changes.set(
        method,
        merged(async () => write(await changed(method, server, parts))),
      );
  }
  const onNotice = async (notice: WireDocument): Promise<void> => {
    if (isOver()) return;
    const change = changes.get(notice.body['method']);
    if (change) return change();
    // A notice that cannot be looked through is not passed on.
    write(await passedLog(notice, request, parts).catch(() => undefined));
  };
  // Questions wait as long as the stream is open.
  return await parts.tools.servers.listen(server, to, {
    onNotice,
    onAsk: (ask) => (isOver() ? undefined : asks.take(ask)),
    signal: request.signal,
  });
}

/** Does work once at a time; all wishes that come meanwhile are one more time. */
function merged(work: () => Promise<void>): () => void {
  let isAsked = false;
  let isRunning = false;
  const run = async (): Promise<void> => {
    isRunning = true;
    while (isAsked) {
      isAsked = false;
      await work().catch(() => undefined);
    }
    isRunning = false;
  };
  return () => {
    isAsked = true;
    if (!isRunning) void run();
  };
}

/** A client that learns of a changed list finds the new one. Gives the message for it. */
async function changed(method: string, server: McpServerConfig, parts: AskParts): Promise<string> {
  const feature = CHANGES.get(method);
  const { offered, prompts, lists } = parts.tools;
  if (feature === 'tools') await offered.changed(server);
  else if (feature === 'prompts') await prompts.changed(server);
  else await Promise.all([lists.resources.renewed(server), lists.templates.renewed(server)]);
  return `{"jsonrpc":"2.0","method":${JSON.stringify(method)}}`;
}
