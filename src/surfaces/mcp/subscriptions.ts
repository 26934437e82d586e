import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { ListedOffer } from '#/pipeline/tools/built-in/offer-built-in.ts';
import type { VirtualKeyConfig } from '#/config/snapshot.ts';
import { isObject, type JsonObject } from '#/wire/document/json.ts';
import { resultMessage, RPC, RpcFault } from '#/wire/mcp/message.ts';
import type { LastingStreams } from './lasting-stream.ts';

/** How often the lists of a listening client are compared; servers are asked no more often for it than their lists last. */
const COMPARE_MS = 5000;
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

/** A modern client that wants to know of changes. */
export interface Listening {
  readonly key: VirtualKeyConfig;
  /** JSON source of the id of its request. */
  readonly idSource: string;
  /** Whether it may still listen. */
  readonly isGood: () => boolean;
  /** What it is offered now. */
  readonly offer: () => Promise<Pick<ListedOffer, 'tools'>>;
}

/**
 * Opens a stream that says when the list of tools has changed. It is acknowledged first, with what of the wishes is met.
 * Throws `RpcFault`, or the client's error where there are too many.
 */
export function listen(
  params: JsonObject | undefined,
  reply: FastifyReply,
  streams: LastingStreams,
  { key, idSource, isGood, offer }: Listening,
): void {
  const wished = params?.['notifications'];
  if (!isObject(wished))
    throw new RpcFault(RPC.invalidParams, 400, 'params.notifications must be an object that says what to listen to.');
  const meta = `"_meta":{"${SUBSCRIPTION}":${idSource}}`;
  const end = (): string => resultMessage(idSource, `{"resultType":"complete",${meta}}`);
  const stream = streams.open(reply, key, isGood, end);
  const wantsTools = wished['toolsListChanged'] === true;
  const met = JSON.stringify(wantsTools ? { toolsListChanged: true } : {});
  const notice = (name: string, rest = ''): string =>
    `{"jsonrpc":"2.0","method":"notifications/${name}","params":{${meta}${rest}}}`;
  stream.write(notice('subscriptions/acknowledged', `,"notifications":${met}`));
  if (!wantsTools) return;
  let last: string | undefined;
  const compare = async (): Promise<void> => {
    const now = digestOf(await offer());
    if (last !== undefined && now !== last) stream.write(notice('tools/list_changed'));
    last = now;
  };
  let isComparing = false;
  const tick = (): void => {
    if (isComparing) return;
    isComparing = true;
    // A server that does not answer now has changed nothing.
    void compare()
      .catch(() => undefined)
      .finally(() => (isComparing = false));
  };
  tick();
  const timer = setInterval(tick, COMPARE_MS).unref();
  stream.onEnd(() => clearInterval(timer));
}

const DIGESTS = new WeakMap<readonly unknown[], string>();

/** Of the tools' names and definitions. */
function digestOf({ tools }: Pick<ListedOffer, 'tools'>): string {
  let digest = DIGESTS.get(tools);
  if (digest === undefined) {
    const text = JSON.stringify(tools.map(({ federated, listed }) => [federated, listed.definition]));
    DIGESTS.set(tools, (digest = hash('sha256', text, 'base64url')));
  }
  return digest;
}
