import { createServer, type AddressInfo, type Socket } from 'node:net';
import { randomFor, type Random } from '../harness/random.ts';
import { madeAnswer } from './http1-made.ts';

/** What a server does with one request. */
const PLANS = [
  { name: 'answers', weight: 8 },
  { name: 'answers a lot', weight: 1 },
  { name: 'answers and says more', weight: 2 },
  { name: 'answers and says more a moment later', weight: 2 },
  { name: 'answers and says more when nobody asks', weight: 2 },
  { name: 'answers and closes', weight: 1 },
  { name: 'answers and closes a moment later', weight: 1 },
  { name: 'answers, says that it closes, and does not', weight: 1 },
  { name: 'answers in part and closes', weight: 1 },
  { name: 'answers in part and resets', weight: 1 },
  { name: 'answers oddly', weight: 4 },
  { name: 'closes', weight: 1 },
] as const;

type PlanName = (typeof PLANS)[number]['name'];

const POISON = 'POISON';
const POISONED = `HTTP/1.1 200 OK\r\ncontent-length: ${POISON.length}\r\n\r\n${POISON}`;

/** What one request was answered with, as the server knows it. */
export interface Answered {
  readonly plan: PlanName;
  /** The only body that may be told; undefined: none may, or none is known. */
  readonly body: string | undefined;
  /** The answer is good, and the server had not closed before: it must be told. */
  readonly sure: boolean;
}

export interface HostileServer {
  readonly origin: string;
  /** By the number in the request's path. */
  readonly answered: ReadonlyMap<number, Answered>;
  /** Connections that were used although they should not be. */
  readonly misused: readonly string[];
  /** Says more on the connections that wait for it; resolves when the client has closed them. */
  poisonIdle(): Promise<void>;
  stop(): Promise<void>;
}

/** A server that answers by a plan for each request, in pieces of any size; the same for the same seed. */
export async function startHostileServer(seed: number): Promise<HostileServer> {
  const answered = new Map<number, Answered>();
  const misused: string[] = [];
  const sockets = new Set<Socket>();
  const idle = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    let came = '';
    /** Nothing may be asked here any more: why. */
    let over: string | undefined;
    /** This side is closed, or is about to be. */
    let closing = false;
    socket.on('data', (bytes: Buffer) => {
      came += bytes.toString('latin1');
      if (over !== undefined) misused.push(`asked again on a connection that ${over}`);
      const head = came.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/.exec(came)?.[1] ?? 0);
      if (head < 0 || came.length < head + 4 + length) return;
      const number = Number(/^\w+ \/(\d+) /.exec(came)?.[1]);
      if (came.length > head + 4 + length) misused.push('two requests at once');
      came = '';
      const random = randomFor(seed, `request ${number}`);
      const plan = random.weighted(PLANS).name;
      const played = play(plan, number, random);
      answered.set(number, { plan, body: played.body, sure: played.sure && !closing });
      closing ||= plan.includes('closes');
      if (played.last) over = plan;
      if (plan === 'answers and says more when nobody asks') idle.add(socket);
      void write(socket, Buffer.from(played.text, 'latin1'), random).then(() => played.after?.(socket));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answered,
    misused,
    async poisonIdle() {
      const closed = [...idle].map(async (socket) => {
        if (socket.destroyed) return;
        const gone = new Promise((resolve) => socket.once('close', resolve));
        socket.write(POISONED);
        await gone;
      });
      idle.clear();
      await Promise.all(closed);
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Played extends Omit<Answered, 'plan'> {
  readonly text: string;
  /** The client has been told enough to leave this connection alone. */
  readonly last: boolean;
  readonly after?: (socket: Socket) => void;
}

function play(plan: PlanName, number: number, random: Random): Played {
  const body = `answer ${number} ${'x'.repeat(random.pick([0, 10, 3_000]))}`;
  const good = (fields = ''): string =>
    random.chance(0.5)
      ? `HTTP/1.1 200 OK\r\n${fields}content-length: ${body.length}\r\n\r\n${body}`
      : `HTTP/1.1 200 OK\r\n${fields}transfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const sure = { body, sure: true };
  switch (plan) {
    case 'answers':
    case 'answers and says more when nobody asks':
      return { text: good(), last: false, ...sure };
    case 'answers a lot': {
      const much = `answer ${number} ${'y'.repeat(700_000)}`;
      const text = `HTTP/1.1 200 OK\r\ncontent-length: ${much.length}\r\n\r\n${much}`;
      return { text, last: false, body: much, sure: true };
    }
    case 'answers and says more':
      return { text: good() + POISONED, last: true, ...sure };
    case 'answers and says more a moment later':
      return { text: good(), last: true, ...sure, after: (socket) => void socket.write(POISONED) };
    case 'answers and closes':
      return { text: good(), last: false, ...sure, after: (socket) => void socket.end() };
    case 'answers and closes a moment later':
      return { text: good(), last: false, ...sure, after: (socket) => setImmediate(() => socket.end()) };
    case 'answers, says that it closes, and does not':
      return { text: good('connection: close\r\n'), last: true, ...sure };
    case 'answers in part and closes':
    case 'answers in part and resets': {
      const end = (socket: Socket): void => void (plan.endsWith('resets') ? socket.resetAndDestroy() : socket.end());
      return { text: good().slice(0, -random.whole(1, 20)), last: true, body: undefined, sure: false, after: end };
    }
    case 'answers oddly': {
      const odd = madeAnswer(random, 'POST', `answer ${number}`, POISON);
      return {
        text: odd.bytes.toString('latin1'),
        last: true,
        body: undefined,
        sure: false,
        after: (socket) => socket.end(),
      };
    }
    case 'closes':
      return { text: '', last: true, body: undefined, sure: false, after: (socket) => socket.end() };
  }
}

/** Writes bytes in a few pieces, some of them a turn of the event loop later. */
async function write(socket: Socket, bytes: Buffer, random: Random): Promise<void> {
  const longest = random.pick([5, 200, 70_000, 1_000_000]);
  for (let at = 0, pieces = 0; at < bytes.length && !socket.destroyed; pieces++) {
    const end = pieces === 20 ? bytes.length : at + random.whole(1, longest);
    socket.write(bytes.subarray(at, end));
    at = end;
    if (random.chance(0.3)) await new Promise((resolve) => setImmediate(resolve));
  }
}
