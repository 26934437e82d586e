import cluster, { type Worker } from 'node:cluster';
import { createServer, type AddressInfo } from 'node:net';
import type { Settings } from '#/settings/gateway-settings.ts';
import { createAdminServer } from '#/telemetry/admin-server.ts';
import type { Log } from '#/telemetry/log.ts';
import { addressOf, listen } from './host.ts';
import { joinScrapes } from './join-scrapes.ts';
import type { Question, Told } from './process-messages.ts';

const BACKOFF_MS = { first: 250, most: 10_000 };
/** One that ran so long was well: its successor starts as soon as the first did. */
const WELL_MS = 30_000;
const ASK_MS = 1000;
/** One that has not answered for so long hangs, and is ended. As patient as the liveness probe of the chart. */
const SILENT_MS = 60_000;

/** One place of the processes, and the process that has it now. */
interface Place {
  readonly number: number;
  worker: Worker | undefined;
  began: number;
  wait: number;
  listens: boolean;
  heard: number;
  state: { readonly notReady: string | null; readonly metrics: string } | undefined;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Starts the processes of a gateway and keeps them running: the first alone, which makes the keys and tables that are
 * missing, then the others. One that dies is started again. Rejects when one ends before all have listened once.
 */
export async function supervise(settings: Settings, log: Log): Promise<void> {
  const supervisor = new Supervisor(settings, log);
  await supervisor.start();
}

/** The port that the processes will share. Rejects where another program has it: the system would let another gateway share it. */
async function freePort({ host, port }: Settings): Promise<number> {
  const probe = createServer();
  await listen(probe, port, host);
  const { port: found } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return found;
}

class Supervisor {
  readonly #settings: Settings;
  readonly #log: Log;
  readonly #places: readonly Place[];
  #isLeaving = false;
  #asked = 0;
  #port = 0;
  #url = '';

  constructor(settings: Settings, log: Log) {
    this.#settings = settings;
    this.#log = log;
    this.#places = Array.from({ length: settings.processes }, (_, index) => ({
      number: index + 1,
      worker: undefined,
      began: 0,
      wait: BACKOFF_MS.first,
      listens: false,
      heard: 0,
      state: undefined,
      timer: undefined,
    }));
  }

  async start(): Promise<void> {
    process.on('SIGTERM', () => void this.#leave(0));
    process.on('SIGINT', () => void this.#leave(0));
    const admin = createAdminServer({ metrics: () => this.#metrics(), notReady: () => this.#notReady() });
    await listen(admin, this.#settings.adminPort, this.#settings.adminHost);
    setInterval(() => this.#look(), ASK_MS);
    const [first, ...others] = this.#places;
    try {
      this.#port = await freePort(this.#settings);
      await this.#first(first!);
      await Promise.all(others.map((place) => this.#first(place)));
    } catch (error) {
      this.#log.fatal({ event: 'start.failed', err: error }, (error as Error).message);
      return this.#leave(1);
    }
    this.#log.info({ event: 'gateway.listening', url: this.#url, admin: addressOf(admin), embedded: false });
  }

  /** Starts a process; resolves when it listens, rejects when it ends before. */
  #first(place: Place): Promise<void> {
    return new Promise((resolve, reject) => this.#fork(place, resolve, reject));
  }

  #fork(place: Place, onListening?: () => void, onEarlyEnd?: (error: Error) => void): void {
    cluster.setupPrimary({ args: [String(place.number), String(this.#port)] });
    const worker = cluster.fork();
    Object.assign(place, { worker, listens: false, state: undefined, began: performance.now() });
    place.heard = performance.now();
    worker.on('message', (told: Told) => {
      place.heard = performance.now();
      if ('answers' in told) place.state = { notReady: told.notReady, metrics: told.metrics };
      if (!('listens' in told)) return;
      place.listens = true;
      this.#url = told.listens;
      this.#ask(place);
      onListening?.();
    });
    worker.on('error', () => {});
    worker.once('exit', (code: number | null, signal: string | null) => {
      const { listens } = place;
      Object.assign(place, { worker: undefined, listens: false, state: undefined });
      if (this.#isLeaving) return;
      if (onEarlyEnd && !listens)
        return onEarlyEnd(new Error(`process ${place.number} could not start and ended with ${signal ?? code}`));
      this.#again(place, code, signal);
    });
  }

  #again(place: Place, code: number | null, signal: string | null): void {
    if (performance.now() - place.began > WELL_MS) place.wait = BACKOFF_MS.first;
    this.#log.error({ event: 'process.died', process: place.number, code, signal, retry_ms: place.wait });
    place.timer = setTimeout(() => this.#fork(place), place.wait);
    place.wait = Math.min(place.wait * 2, BACKOFF_MS.most);
  }

  #look(): void {
    for (const place of this.#places) {
      if (!place.listens) continue;
      if (performance.now() - place.heard > SILENT_MS) place.worker?.process.kill('SIGKILL');
      else this.#ask(place);
    }
  }

  #ask({ worker }: Place): void {
    if (worker?.isConnected()) worker.send({ asked: ++this.#asked } satisfies Question, () => {});
  }

  /** Ready while a process listens, and every one that listens is ready. */
  #notReady(): string | undefined {
    if (this.#isLeaving) return 'draining';
    const listening = this.#places.filter(({ listens, state }) => listens && state !== undefined);
    if (listening.length === 0) return 'starting';
    const not = listening.find(({ state }) => state?.notReady !== null);
    return not && `process ${not.number}: ${not.state?.notReady}`;
  }

  #metrics(): string {
    return joinScrapes(new Map(this.#places.flatMap(({ number, state }) => (state ? [[number, state.metrics]] : []))));
  }

  /** Has every process drain, and ends with 0 only where all of them did so in time. */
  async #leave(status: number): Promise<void> {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    const codes = this.#places.map(({ worker, timer }) => {
      clearTimeout(timer);
      if (!worker || worker.isDead()) return Promise.resolve(0);
      const ended = new Promise<number>((resolve) => worker.once('exit', (code: number | null) => resolve(code ?? 1)));
      worker.process.kill('SIGTERM');
      return ended;
    });
    const failed = (await Promise.all(codes)).some((code) => code !== 0);
    process.exit(status || Number(failed));
  }
}
