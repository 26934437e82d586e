import { setTimeout as sleep } from 'node:timers/promises';
import { openDocumentEngine } from '#/adapters/inference/documents.ts';
import { openLocalModels } from '#/adapters/inference/models.ts';
import { DocumentFault, type DocumentEngine, type DocumentFaultKind } from '#/ports/documents.ts';
import { ModelFault, type LocalModels, type ModelKind } from '#/ports/local-models.ts';
import { startEngineChild, type EngineChild } from '#/embedded/document-engine.ts';
import type { DocumentsEvent, DocumentVerb, ModelsEvent } from '#/telemetry/observe/documents.ts';
import type { Settings } from '#/settings/gateway-settings.ts';

type InferenceSettings = Pick<Settings, 'inference' | 'inferenceEnv' | 'logLevel'>;

/** The inference process as this one reaches it: the document engine, and local models. */
export interface Inference {
  readonly engine: DocumentEngine;
  readonly models: LocalModels;
  /** Its address; undefined: a child that does not listen yet. */
  url(): string | undefined;
  /** Whether documents can be processed, as far as is known. */
  answers(): boolean;
  /** Whether a local model can be asked, as far as is known. */
  has(kind: ModelKind): boolean;
  /** Whether there is such a local model, so that its absence is a fault; until it is known, there is. */
  knows(kind: ModelKind): boolean;
  /** Its weights, as they were last told of. */
  revision(kind: ModelKind): string | undefined;
  /**
   * Starts the child, where it is one, and looks from time to time whether it answers. Resolves once it is known which
   * models there are, or after some seconds.
   */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Between two looks: at a process that is not there yet, and at one that is. */
const LOOK_MS = { absent: 500, there: 5000 };
/** How long a start waits for the first look that succeeds: a child takes a few seconds. */
const FIRST_LOOK_MS = 15_000;

/** Opens what settings name; undefined where there is to be none. */
export function openInference(
  settings: InferenceSettings,
  onEvent: (event: DocumentsEvent | ModelsEvent) => void,
): Inference | undefined {
  return settings.inference === 'off' ? undefined : new InferenceProcess(settings, settings.inference, onEvent);
}

class InferenceProcess implements Inference {
  readonly engine: DocumentEngine;
  readonly models: LocalModels;
  readonly url: () => string | undefined;
  readonly #settings: InferenceSettings;
  readonly #onEvent: (event: DocumentsEvent | ModelsEvent) => void;
  readonly #opened: { close(): void | Promise<void> }[];
  #child: EngineChild | undefined;
  #answers = false;
  #ready: ReadonlySet<ModelKind> = new Set();
  #installed: ReadonlySet<ModelKind> | undefined;
  readonly #revisions = new Map<ModelKind, string>();
  readonly #firstLook = Promise.withResolvers<void>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(
    settings: InferenceSettings,
    place: Exclude<Settings['inference'], 'off'>,
    onEvent: (event: DocumentsEvent | ModelsEvent) => void,
  ) {
    this.#settings = settings;
    this.#onEvent = onEvent;
    this.url = () => (place === 'child' ? this.#child?.url() : place.url);
    const { url } = this;
    const engine = openDocumentEngine({ url });
    const models = openLocalModels({ url });
    this.#opened = [engine, models];
    this.engine = watched(
      engine,
      (verb) => onEvent({ kind: 'documents.asked', verb }),
      (verb, fault) => this.#documentDone(verb, fault),
    );
    this.models = observed(models, (model, fault) => this.#modelFailed(model, fault));
  }

  answers(): boolean {
    return this.#answers;
  }

  has(kind: ModelKind): boolean {
    return this.#ready.has(kind);
  }

  knows(kind: ModelKind): boolean {
    return this.#installed?.has(kind) ?? true;
  }

  revision(kind: ModelKind): string | undefined {
    return this.#revisions.get(kind);
  }

  async start(): Promise<void> {
    if (this.#settings.inference === 'child') this.#child = this.#startChild();
    void this.#look();
    await Promise.race([this.#firstLook.promise, sleep(FIRST_LOOK_MS, undefined, { ref: false })]);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#child?.stop();
    await Promise.all(this.#opened.map(async (one) => one.close()));
  }

  #startChild(): EngineChild {
    const { inferenceEnv, logLevel } = this.#settings;
    return startEngineChild({
      env: { ...inferenceEnv, LOG_LEVEL: logLevel },
      onLine: (line) => process.stdout.write(`${line}\n`),
      onDeath: (exit) => {
        this.#answers = false;
        this.#ready = new Set();
        this.#onEvent({ kind: 'documents.engine_died', ...exit });
      },
    });
  }

  async #look(): Promise<void> {
    this.#answers = await this.engine.ping().then(
      () => true,
      () => false,
    );
    const found = await this.models.there().catch(() => undefined);
    this.#ready = found?.ready ?? new Set();
    if (found) {
      // A model that was installed once is reported when it is missing.
      this.#installed = new Set([...(this.#installed ?? []), ...found.installed]);
      for (const [kind, revision] of found.revisions) this.#revisions.set(kind, revision);
      this.#firstLook.resolve();
    }
    if (this.#closed) return;
    this.#timer = setTimeout(() => void this.#look(), LOOK_MS[this.#answers ? 'there' : 'absent']).unref();
  }

  #documentDone(verb: DocumentVerb, fault: DocumentFaultKind | undefined): void {
    if (fault) this.#onEvent({ kind: 'documents.fault', verb, fault });
    this.#answers = fault !== 'unavailable';
  }

  #modelFailed(model: ModelsEvent['model'], { kind: fault }: ModelFault): void {
    // The caller's fault, and no sign of the model's.
    if (fault === 'too_long') return;
    this.#onEvent({ kind: 'models.fault', model, fault });
    if (fault === 'unavailable') this.#ready = new Set([...this.#ready].filter((one) => one !== model));
  }
}

/** The engine, with its questions and results reported. */
function watched(
  engine: DocumentEngine,
  onAsked: (verb: DocumentVerb) => void,
  onDone: (verb: DocumentVerb, fault: DocumentFaultKind | undefined) => void,
): DocumentEngine {
  const told = async <T>(verb: DocumentVerb, work: () => Promise<T>): Promise<T> => {
    onAsked(verb);
    try {
      const result = await work();
      onDone(verb, undefined);
      return result;
    } catch (thrown) {
      if (thrown instanceof DocumentFault) onDone(verb, thrown.kind);
      throw thrown;
    }
  };
  return {
    read: (file, options, signal, onPages) => told('read', () => engine.read(file, options, signal, onPages)),
    render: (file, options, signal) => told('render', () => engine.render(file, options, signal)),
    recognize: (file, options, signal) => told('recognize', () => engine.recognize(file, options, signal)),
    redact: (file, options, signal, onPages) => told('redact', () => engine.redact(file, options, signal, onPages)),
    ping: () => engine.ping(),
  };
}

/** Local models, with each question that was not answered told. */
function observed(models: LocalModels, onFault: (model: ModelsEvent['model'], fault: ModelFault) => void): LocalModels {
  const told = async <T>(model: ModelsEvent['model'], work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (thrown) {
      if (thrown instanceof ModelFault) onFault(model, thrown);
      throw thrown;
    }
  };
  return {
    names: (texts, signal) => told('names', () => models.names(texts, signal)),
    route: (input, signal) => told('router', () => models.route(input, signal)),
    decide: (state, questions, signal) => told('typed', () => models.decide(state, questions, signal)),
    judge: (state, questions, signal) => told('guard', () => models.judge(state, questions, signal)),
    there: () => models.there(),
  };
}
