import http from 'node:http';
import https from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import { ClusterFault } from '#/ports/cluster.ts';

interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  /** With its query. */
  readonly path: string;
  readonly body?: object;
  readonly contentType?: string;
  readonly signal?: AbortSignal;
}

/** An API server: who we are to it, where it is, and connections that are kept. */
export interface ApiClient {
  /** The namespace of the credentials; `default` where they say none. */
  readonly namespace: string;
  /** Asks for JSON. Rejects with `ClusterFault`. */
  ask(request: ApiRequest): Promise<unknown>;
  /** Asks for lines of JSON that come as they happen; resolves at their end. Rejects with `ClusterFault`. */
  follow(path: string, onLine: (value: unknown) => void, signal: AbortSignal): Promise<void>;
  close(): void;
}

const ANSWER_MS = 30_000;
/** Watches send bookmarks about once a minute: a connection that says nothing for so long is dead. */
const SILENCE_MS = 150_000;
const MOST_LINE = 16 * 1024 * 1024;

/** Opens an API server by a kubeconfig file or, without one, as the cluster tells its pods. */
export function openApiClient(kubeconfig: string | undefined): ApiClient {
  const config = loadConfig(kubeconfig);
  const server = config.getCurrentCluster()?.server;
  if (server === undefined) throw new Error('the kubeconfig names no cluster');
  const base = URL.parse(server);
  if (base === null) throw new Error('the kubeconfig names a cluster whose server is not a URL');
  return new ApiServer(config, base);
}

class ApiServer implements ApiClient {
  readonly namespace: string;
  readonly #config: KubeConfig;
  readonly #base: URL;
  /** One for each identity, so that connections are used again. */
  readonly #agents = new Map<string, http.Agent>();

  constructor(config: KubeConfig, base: URL) {
    this.namespace = config.getContextObject(config.getCurrentContext())?.namespace ?? 'default';
    this.#config = config;
    this.#base = base;
  }

  async ask(request: ApiRequest): Promise<unknown> {
    const response = await this.#open(request);
    try {
      return JSON.parse(await readAll(response)) as unknown;
    } catch (error) {
      throw unreachable(error);
    }
  }

  async follow(path: string, onLine: (value: unknown) => void, signal: AbortSignal): Promise<void> {
    const response = await this.#open({ method: 'GET', path, signal });
    // What ends the request when it runs out is there already; another listener would stay with the kept connection.
    response.socket.setTimeout(SILENCE_MS);
    try {
      for await (const line of linesOf(response)) onLine(JSON.parse(line));
    } catch (error) {
      throw unreachable(error);
    }
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
  }

  /** Resolves with an answer that is no fault. */
  async #open(request: ApiRequest): Promise<http.IncomingMessage> {
    let response: http.IncomingMessage;
    try {
      response = await this.#send(request);
    } catch (error) {
      throw unreachable(error);
    }
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) return response;
    const seconds = Number(response.headers['retry-after']);
    const answer = await readAll(response).catch(() => '');
    throw new ClusterFault(
      `${request.method} failed with status ${status}${reasonOf(answer)}`,
      status,
      Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : undefined,
    );
  }

  /** Credentials are read again for each request: tokens of pods change within the hour. */
  async #send({
    method,
    path,
    body,
    contentType = 'application/json',
    signal,
  }: ApiRequest): Promise<http.IncomingMessage> {
    const auth: https.RequestOptions = {};
    await this.#config.applyToHTTPSOptions(auth);
    const { protocol, pathname, hostname, port } = this.#base;
    const secure = protocol === 'https:';
    const text = body === undefined ? undefined : JSON.stringify(body);
    const options: https.RequestOptions = {
      method,
      path: `${pathname.replace(/\/$/, '')}${path}`,
      hostname: hostname.replace(/^\[|\]$/g, ''),
      port: port || (secure ? 443 : 80),
      headers: {
        ...(auth.headers as http.OutgoingHttpHeaders | undefined),
        accept: 'application/json',
        ...(text !== undefined && { 'content-type': contentType, 'content-length': Buffer.byteLength(text) }),
      },
      ...(auth.auth && { auth: auth.auth }),
      ...(signal && { signal }),
      agent: this.#agentFor(auth, secure),
    };
    return new Promise((resolve, reject) => {
      const sent = (secure ? https : http).request(options, resolve);
      sent.setTimeout(ANSWER_MS, () => sent.destroy(new Error('it did not answer in time')));
      sent.once('error', reject);
      sent.end(text);
    });
  }

  #agentFor({ ca, cert, key, servername, rejectUnauthorized }: https.RequestOptions, secure: boolean): http.Agent {
    const identity = JSON.stringify([String(ca), String(cert), servername, rejectUnauthorized]);
    const known = this.#agents.get(identity);
    if (known) return known;
    const tls = Object.entries({ ca, cert, key, servername, rejectUnauthorized });
    const told = Object.fromEntries(tls.filter(([, value]) => value !== undefined));
    const agent = secure ? new https.Agent({ keepAlive: true, ...told }) : new http.Agent({ keepAlive: true });
    this.#agents.set(identity, agent);
    return agent;
  }
}

/** Our own words for faults of the file: the library's messages quote its lines, with tokens and keys. */
function loadConfig(kubeconfig: string | undefined): KubeConfig {
  const config = new KubeConfig();
  try {
    if (kubeconfig === undefined) config.loadFromCluster();
    else config.loadFromFile(kubeconfig);
    return config;
  } catch (error) {
    const { code } = error as { code?: unknown };
    const what = kubeconfig === undefined ? 'the credentials of the pod' : `the kubeconfig ${kubeconfig}`;
    throw new Error(
      `${what} cannot be read: ${typeof code === 'string' ? code : 'it is not a valid kubeconfig (YAML)'}`,
    );
  }
}

async function* linesOf(response: http.IncomingMessage): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MOST_LINE) throw new Error('a line of the answer is too long');
    for (const line of lines) if (line !== '') yield line;
  }
}

async function readAll(response: http.IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) text += chunk;
  return text;
}

/** The API server's reason (`Conflict`), never its message, which quotes objects. */
function reasonOf(answer: string): string {
  const reason = /"reason":\s*"([A-Za-z]{1,40})"/.exec(answer)?.[1];
  return reason === undefined ? '' : ` ${reason}`;
}

function unreachable(error: unknown): ClusterFault {
  if (error instanceof ClusterFault) return error;
  const code = (error as { code?: unknown }).code;
  return new ClusterFault(`the API server cannot be reached: ${typeof code === 'string' ? code : 'connection lost'}`);
}
