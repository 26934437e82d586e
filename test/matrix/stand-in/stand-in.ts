import { LLMock } from '@copilotkit/aimock';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MARK, type Case } from '../cases.ts';
import type { ExitFamily } from '../exits/read-asked.ts';
import type { Kind } from '../kinds/kind.ts';
import { at, type Body } from '../vocabulary.ts';
import { dressBody, dressFrames, finishWord } from './dress.ts';
import { errorAnswer, errorFrame } from './failures.ts';
import { mediaType, readFrames, writeFrame, type Frame } from './framing.ts';

/** What one cell of the matrix has the stand-in play. */
interface Part {
  readonly kind: Kind;
  readonly one: Case;
  readonly stream: boolean;
}

/** A request as a provider got it. */
export interface Arrival {
  readonly method: string;
  /** Path and query behind the kind's name. */
  readonly path: string;
  readonly family: ExitFamily;
  readonly headers: IncomingHttpHeaders;
  readonly body: Body;
  /** Whether the answer was taken to its end, or the gateway left before. */
  readonly ended: Promise<'answered' | 'left'>;
}

/** Every provider at once: aimock, dressed as the vendors are, behind a proxy that keeps what was asked. */
export interface StandIn {
  readonly url: string;
  /** Plays this part for requests with this mark. */
  cast(mark: string, part: Part): void;
  /** Requests with this mark so far. */
  arrivals(mark: string): readonly Arrival[];
  /** The first request with this mark, once it is there. */
  arrival(mark: string): Promise<Arrival>;
  close(): Promise<void>;
}

interface Scene {
  readonly part: Part;
  readonly arrivals: Arrival[];
  readonly first: PromiseWithResolvers<Arrival>;
}

/** Letters of an answer's first piece. */
const CHUNK = 12;

/** Starts it on a free port. */
export async function startStandIn(): Promise<StandIn> {
  const scenes = new Map<string, Scene>();
  const mock = new LLMock({ port: 0, chunkSize: CHUNK, logLevel: 'silent', journalMaxEntries: 10 });
  mock.on({ predicate: () => true }, (request) =>
    fixtureFor(sceneOf(JSON.stringify(request.messages), scenes).part, request),
  );
  const mockUrl = await mock.start();
  const server = createServer({ keepAliveTimeout: 0 }, (incoming, response) => {
    void receive(incoming, response, scenes, mockUrl).catch((error: unknown) => {
      response.writeHead(599, { 'content-type': 'text/plain' });
      response.end(String(error));
    });
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    cast: (mark, part) => void scenes.set(mark, { part, arrivals: [], first: Promise.withResolvers() }),
    arrivals: (mark) => scenes.get(mark)?.arrivals ?? [],
    arrival: (mark) => sceneOf(mark, scenes).first.promise,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await mock.stop();
    },
  };
}

function sceneOf(said: string, scenes: ReadonlyMap<string, Scene>): Scene {
  const mark = MARK.exec(said)?.[0];
  const scene = mark === undefined ? undefined : scenes.get(mark);
  if (!scene) throw new Error('a request without the mark of a cell');
  return scene;
}

/** aimock knows a request by what it made of it: a chat request, whichever family it came in. */
function fixtureFor({ one, kind }: Part, request: Body) {
  const family = FAMILY_OF_FIXTURE.get(request['model'] as string) ?? kind.exit;
  const { text = '', reasoning, calls } = one.answer;
  const finishReason = finishWord(one, family);
  const more = {
    ...(reasoning !== undefined && { reasoning, reasoningSignature: 'c2lnbmF0dXJl' }),
    ...(finishReason !== undefined && { finishReason }),
    // aimock tells usage only where it is given some; what the vendor tells takes its place.
    usage: { prompt_tokens: 1, completion_tokens: 1, input_tokens: 1, output_tokens: 1 },
  };
  if (!calls) return { content: text, ...more };
  return { toolCalls: calls.map(({ id, name, input }) => ({ id, name, arguments: JSON.stringify(input) })), ...more };
}

/** Requests are passed on under a model that names the family they were asked in. */
const FAMILY_OF_FIXTURE: ReadonlyMap<string, ExitFamily> = new Map([
  ['gpt-5-chat', 'chat'],
  ['gpt-5-responses', 'responses'],
]);

async function receive(
  incoming: IncomingMessage,
  response: ServerResponse,
  scenes: ReadonlyMap<string, Scene>,
  mockUrl: string,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const source = Buffer.concat(chunks).toString('utf8');
  const url = incoming.url ?? '';
  if (url === '/token') return giveToken(source, response);
  const scene = sceneOf(source, scenes);
  const { part } = scene;
  const path = url.slice(`/${part.kind.name}`.length);
  const family = familyOf(path);
  const body = JSON.parse(source) as Body;
  const ended = new Promise<'answered' | 'left'>((resolve) => {
    response.once('close', () => resolve(response.writableFinished ? 'answered' : 'left'));
  });
  const arrival = { method: incoming.method ?? '', path, family, headers: incoming.headers, body, ended };
  scene.arrivals.push(arrival);
  scene.first.resolve(arrival);
  response.on('error', () => {});
  if (part.stream) await answerStream(part, arrival, response, mockUrl);
  else await answerWhole(part, arrival, response, mockUrl);
}

/** Google gives tokens for a signed assertion, Microsoft for a client's secret. */
function giveToken(form: string, response: ServerResponse): void {
  const grant = new URLSearchParams(form).get('grant_type');
  const token = grant === 'client_credentials' ? 'token-of-azure' : 'token-of-google';
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: 3600 }));
}

function familyOf(path: string): ExitFamily {
  if (/enerateContent/.test(path)) return 'gemini';
  if (/\/converse(?:-stream)?$/.test(path)) return 'converse';
  if (/\/responses(?:\?|$)/.test(path)) return 'responses';
  return /\/chat\/completions(?:\?|$)/.test(path) ? 'chat' : 'messages';
}

async function answerWhole(
  { kind, one }: Part,
  { family, path, body }: Arrival,
  response: ServerResponse,
  mockUrl: string,
): Promise<void> {
  if (one.ending === 'hang-up') return;
  if (one.ending === 'error') {
    const { body: error, headers } = errorAnswer(family, kind);
    response.writeHead(500, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(error));
    return;
  }
  const answer: unknown = JSON.parse((await ask(mockUrl, family, path, body)).toString('utf8'));
  const bytes = Buffer.from(JSON.stringify(dressBody(answer, kind, one, family)));
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length });
  if (one.ending !== 'truncated') return void response.end(bytes);
  response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
}

async function answerStream(
  { kind, one }: Part,
  { family, path, body }: Arrival,
  response: ServerResponse,
  mockUrl: string,
): Promise<void> {
  const framing = kind.framing === 'sse' ? 'sse' : 'event-stream';
  const bytes = await ask(mockUrl, family, path, body);
  const asked = at(body, 'stream_options', 'include_usage') === true;
  const frames = dressFrames(readFrames(bytes, framing), kind, one, family, asked);
  const first = frames.findIndex(({ data }) => JSON.stringify(data).includes(one.answer.text?.slice(0, CHUNK) ?? ''));
  const send = (some: readonly Frame[]): void =>
    some.forEach((frame) => response.write(writeFrame(frame, kind.framing)));
  response.writeHead(200, { 'content-type': mediaType(kind.framing) });
  if (one.ending !== 'error' && one.ending !== 'truncated' && one.ending !== 'hang-up') {
    send(frames);
    response.end();
    return;
  }
  if (first < 0) throw new Error('no frame of the stream says anything');
  send(frames.slice(0, first + 1));
  if (one.ending === 'error') send([errorFrame(family, kind, first + 1)]);
  if (one.ending !== 'hang-up') response.end();
}

/** aimock's answer in this family. It knows Claude on Vertex only as Claude. */
async function ask(mockUrl: string, family: ExitFamily, path: string, body: Body): Promise<Buffer> {
  const isVertex = path.includes('awPredict');
  const own = family === 'messages' && path.endsWith('/messages');
  const target =
    isVertex || own
      ? '/v1/messages'
      : family === 'chat'
        ? '/v1/chat/completions'
        : family === 'responses'
          ? '/v1/responses'
          : path;
  const model = family === 'chat' || family === 'responses' ? `gpt-5-${family}` : 'claude-opus-4-6';
  const named = family === 'chat' || family === 'responses' || isVertex || own ? { ...body, model } : body;
  const usage = family === 'chat' && body['stream'] === true ? { stream_options: { include_usage: true } } : {};
  const answer = await fetch(mockUrl + target, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...named, ...usage }),
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (answer.status !== 200) throw new Error(`aimock answered ${answer.status}: ${bytes.toString('utf8')}`);
  return bytes;
}
