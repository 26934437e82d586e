import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';

/** An object as the stand-in stores it. */
export interface StoredObject {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    resourceVersion: string;
    generation: number;
    uid: string;
    creationTimestamp: string;
    deletionTimestamp?: string;
    finalizers?: string[];
  };
  spec?: unknown;
  status?: {
    conditions?: { type: string; status: string; reason: string; message: string; observedGeneration: number }[];
  };
  [part: string]: unknown;
}

/**
 * A stand-in for an API server: lists by pages, watches with bookmarks, states that it forgets, status and finalizers,
 * leases and events, as far as the controller uses them. No authorization, no schemas.
 */
export interface FakeCluster extends AsyncDisposable {
  readonly url: string;
  /** Requests so far: method and path. */
  readonly requests: readonly string[];
  readonly events: readonly { readonly reason: string; readonly note: string }[];
  /** Creates or replaces, as `kubectl apply` does. */
  apply(...objects: readonly object[]): void;
  /** Asks for removal: at once, or when the finalizers are gone. */
  delete(kind: string, name: string, namespace?: string): void;
  get(kind: string, name: string, namespace?: string): StoredObject | undefined;
  condition(kind: string, name: string, type: string): string | undefined;
  /** Cuts all watches. */
  cutWatches(): void;
  /** Forgets all states before now: whoever asks for one is answered 410. */
  compact(): void;
  /** Answers like this, before anything else, while it says so. */
  answerWith(
    answer:
      | ((request: IncomingMessage) => { status: number; headers?: Record<string, string> } | undefined)
      | undefined,
  ): void;
  /** Writes a kubeconfig for it. */
  kubeconfig(file: string): string;
}

interface Watcher {
  readonly plural: string;
  readonly namespace: string | undefined;
  readonly response: ServerResponse;
}

const PATH = /^\/(?:api\/v1|apis\/[^/]+\/[^/]+)(?:\/namespaces\/([^/]+))?\/([a-z]+)(?:\/([^/]+))?(\/status)?$/;
const pluralOf = (kind: string): string =>
  (kind.endsWith('y') && kind !== 'VirtualKey'
    ? `${kind.slice(0, -1)}ies`
    : kind === 'ModelAlias'
      ? 'modelaliases'
      : `${kind}s`
  ).toLowerCase();

export async function startFakeCluster(pageSize = 3): Promise<FakeCluster> {
  const objects = new Map<string, StoredObject>();
  const log: { version: number; plural: string; type: string; object: StoredObject }[] = [];
  const watchers = new Set<Watcher>();
  const requests: string[] = [];
  const events: { reason: string; note: string }[] = [];
  let version = 100;
  let oldest = 0;
  let override: Parameters<FakeCluster['answerWith']>[0];

  const idOf = (plural: string, namespace: string, name: string): string => `${plural} ${namespace}/${name}`;
  const send = (response: ServerResponse, status: number, body: object, headers = {}): void =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  const fail = (response: ServerResponse, code: number, reason: string): void =>
    send(response, code, { kind: 'Status', code, reason, message: `${reason} of canary-content` });
  const tell = ({ response, plural, namespace }: Watcher, entry: (typeof log)[number]): void => {
    if (entry.plural !== plural || (namespace && entry.object.metadata.namespace !== namespace)) return;
    response.write(`${JSON.stringify({ type: entry.type, object: entry.object })}\n`);
  };
  const record = (type: string, plural: string, object: StoredObject): void => {
    const entry = { version, plural, type, object: structuredClone(object) };
    log.push(entry);
    for (const watcher of watchers) tell(watcher, entry);
  };
  const store = (plural: string, object: StoredObject, type: string): void => {
    object.metadata.resourceVersion = String(++version);
    objects.set(idOf(plural, object.metadata.namespace ?? '', object.metadata.name), object);
    record(type, plural, object);
  };
  const drop = (plural: string, object: StoredObject): void => {
    objects.delete(idOf(plural, object.metadata.namespace ?? '', object.metadata.name));
    object.metadata.resourceVersion = String(++version);
    record('DELETED', plural, object);
  };

  const list = (
    response: ServerResponse,
    plural: string,
    namespace: string | undefined,
    query: URLSearchParams,
  ): void => {
    const all = [...objects.values()].filter(
      (one) => pluralOf(one.kind) === plural && (!namespace || one.metadata.namespace === namespace),
    );
    const from = Number(query.get('continue') ?? 0);
    const size = Math.min(Number(query.get('limit') ?? pageSize), pageSize);
    const more = from + size < all.length ? { continue: String(from + size) } : {};
    send(response, 200, {
      metadata: { resourceVersion: String(version), ...more },
      items: all.slice(from, from + size),
    });
  };
  const watch = (
    response: ServerResponse,
    plural: string,
    namespace: string | undefined,
    query: URLSearchParams,
  ): void => {
    const since = Number(query.get('resourceVersion'));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    if (since < oldest) {
      response.end(`${JSON.stringify({ type: 'ERROR', object: { code: 410, reason: 'Expired' } })}\n`);
      return;
    }
    const watcher = { plural, namespace, response };
    watchers.add(watcher);
    response.once('close', () => watchers.delete(watcher));
    for (const entry of log) if (entry.version > since) tell(watcher, entry);
    const bookmark = { metadata: { name: '', resourceVersion: String(version) } };
    response.write(`${JSON.stringify({ type: 'BOOKMARK', object: bookmark })}\n`);
  };
  const patch = (response: ServerResponse, id: string, plural: string, body: StoredObject, isStatus: boolean): void => {
    const object = objects.get(id);
    if (!object) return fail(response, 404, 'NotFound');
    const asked = body.metadata.resourceVersion;
    if (!isStatus && asked !== undefined && asked !== object.metadata.resourceVersion)
      return fail(response, 409, 'Conflict');
    const next = structuredClone(object);
    if (isStatus && body.status) next.status = body.status;
    else next.metadata.finalizers = body.metadata.finalizers ?? [];
    if (next.metadata.deletionTimestamp && (next.metadata.finalizers ?? []).length === 0) drop(plural, next);
    else store(plural, next, 'MODIFIED');
    send(response, 200, next);
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://cluster');
    requests.push(`${request.method} ${url.pathname}${url.searchParams.has('watch') ? '?watch' : ''}`);
    let text = '';
    for await (const chunk of request.setEncoding('utf8') as AsyncIterable<string>) text += chunk;
    const instead = override?.(request);
    if (instead) return send(response, instead.status, { kind: 'Status', code: instead.status }, instead.headers);
    const [, namespace, plural = '', name, status] = PATH.exec(url.pathname) ?? [];
    const body = text === '' ? undefined : (JSON.parse(text) as StoredObject);
    if (plural === 'events') {
      const { generateName = '' } = body!.metadata as { readonly generateName?: string };
      if (!/^[a-z0-9][-a-z0-9]*-$/.test(generateName)) return fail(response, 422, 'Invalid');
      events.push(body as unknown as { reason: string; note: string });
      return send(response, 201, body!);
    }
    if (name === undefined && request.method === 'GET') {
      const answerList = url.searchParams.has('watch') ? watch : list;
      return answerList(response, plural, namespace, url.searchParams);
    }
    const id = idOf(plural, namespace ?? '', name ?? body?.metadata.name ?? '');
    const object = objects.get(id);
    if (request.method === 'PATCH') return patch(response, id, plural, body!, status !== undefined);
    if (request.method === 'GET') return object ? send(response, 200, object) : fail(response, 404, 'NotFound');
    const stale =
      request.method === 'POST' ? object : object?.metadata.resourceVersion !== body!.metadata.resourceVersion;
    if (stale) return fail(response, 409, request.method === 'POST' ? 'AlreadyExists' : 'Conflict');
    store(plural, body!, object ? 'MODIFIED' : 'ADDED');
    send(response, 200, body!);
  };
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const get = (kind: string, name: string, namespace = 'default') => objects.get(idOf(pluralOf(kind), namespace, name));
  return {
    url,
    requests,
    events,
    get,
    apply(...given) {
      for (const one of given as StoredObject[]) {
        const plural = pluralOf(one.kind);
        const old = objects.get(idOf(plural, one.metadata.namespace ?? '', one.metadata.name));
        if (old && JSON.stringify([old.spec, old['data']]) === JSON.stringify([one.spec, one['data']])) continue;
        const created = {
          uid: `uid-${version}`,
          creationTimestamp: new Date(version * 1000).toISOString(),
          generation: 0,
          resourceVersion: '',
        };
        const metadata = { ...created, ...old?.metadata, ...one.metadata };
        const next = { ...structuredClone(one), ...(old?.status && { status: old.status }) };
        store(
          plural,
          { ...next, metadata: { ...metadata, generation: (old?.metadata.generation ?? 0) + 1 } },
          old ? 'MODIFIED' : 'ADDED',
        );
      }
    },
    delete(kind, name, namespace) {
      const object = structuredClone(get(kind, name, namespace));
      if (!object) return;
      if ((object.metadata.finalizers ?? []).length === 0) return drop(pluralOf(kind), object);
      object.metadata.deletionTimestamp = new Date().toISOString();
      object.metadata.generation++;
      store(pluralOf(kind), object, 'MODIFIED');
    },
    condition(kind, name, type) {
      const found = get(kind, name)?.status?.conditions?.find((one) => one.type === type);
      return found && `${found.status} ${found.reason}`;
    },
    cutWatches: () => watchers.forEach(({ response }) => response.destroy()),
    compact: () => void (oldest = ++version),
    answerWith: (next) => void (override = next),
    kubeconfig(file) {
      const config = {
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'fake', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
        users: [{ name: 'fake', user: { token: 'token-canary' } }],
        contexts: [{ name: 'fake', context: { cluster: 'fake', user: 'fake', namespace: 'default' } }],
        'current-context': 'fake',
      };
      writeFileSync(file, JSON.stringify(config));
      return file;
    },
    async [Symbol.asyncDispose]() {
      watchers.forEach(({ response }) => response.destroy());
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
