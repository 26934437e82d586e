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
  const agents = new Map<string, http.Agent>();

  /** Credentials are read again for each request: tokens of pods change within the hour. */
  const send = async (request: ApiRequest): Promise<http.IncomingMessage> => {
    const { method, path, body, contentType = 'application/json', signal } = request;
    const auth: https.RequestOptions = {};
    await config.applyToHTTPSOptions(auth);
    const { ca, cert, key, servername, rejectUnauthorized } = auth;
    const secure = base.protocol === 'https:';
    const text = body === undefined ? undefined : JSON.stringify(body);
    const options: https.RequestOptions = {
      method,
      path: `${base.pathname.replace(/\/$/, '')}${path}`,
      hostname: base.hostname.replace(/^\[|\]$/g, ''),
      port: base.port || (secure ? 443 : 80),
      headers: {
        ...(auth.headers as http.OutgoingHttpHeaders | undefined),
        accept: 'application/json',
        ...(text !== undefined && { 'content-type': contentType, 'content-length': Buffer.byteLength(text) }),
      },
      ...(auth.auth && { auth: auth.auth }),
      ...(signal && { signal }),
    };
    // One agent for each identity, so that connections are used again.
    const identity = JSON.stringify([String(ca), String(cert), servername, rejectUnauthorized]);
    let agent = agents.get(identity);
    if (!agent) {
      const tls = { ca, cert, key, servername, rejectUnauthorized };
      const known = Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined));
      agent = secure ? new https.Agent({ keepAlive: true, ...known }) : new http.Agent({ keepAlive: true });
      agents.set(identity, agent);
    }
    return new Promise((resolve, reject) => {
      const sent = (secure ? https : http).request({ ...options, agent }, resolve);
      sent.setTimeout(ANSWER_MS, () => sent.destroy(new Error('it did not answer in time')));
      sent.once('error', reject);
      sent.end(text);
    });
  };
  const open = async (request: ApiRequest): Promise<http.IncomingMessage> => {
    let response: http.IncomingMessage;
    try {
      response = await send(request);
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
  };

  return {
    namespace: config.getContextObject(config.getCurrentContext())?.namespace ?? 'default',
    async ask(request) {
      const response = await open(request);
      try {
        return JSON.parse(await readAll(response)) as unknown;
      } catch (error) {
        throw unreachable(error);
      }
    },
    async follow(path, onLine, signal) {
      const response = await open({ method: 'GET', path, signal });
      // What ends the request when it runs out is there already; another listener would stay with the kept connection.
      response.socket.setTimeout(SILENCE_MS);
      try {
        for await (const line of linesOf(response)) onLine(JSON.parse(line));
      } catch (error) {
        throw unreachable(error);
      }
    },
    close() {
      for (const agent of agents.values()) agent.destroy();
    },
  };
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
