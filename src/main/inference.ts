import { setTimeout as sleep } from 'node:timers/promises';
import { openDocumentEngine } from '#/adapters/inference/documents.ts';
import { openLocalModels } from '#/adapters/inference/models.ts';
import { DocumentFault, type DocumentEngine, type DocumentFaultKind } from '#/ports/documents.ts';
import { ModelFault, type LocalModels, type ModelKind } from '#/ports/local-models.ts';
import { startEngineChild, type EngineChild, type EngineChildOptions } from '#/embedded/document-engine.ts';
import type { DocumentsEvent, DocumentVerb, ModelsEvent } from '#/telemetry/observe/documents.ts';
import type { Settings } from '#/settings/gateway-settings.ts';

/** The inference process as this one reaches it: the document engine, and local models. */
export interface Inference {
  readonly engine: DocumentEngine;
  readonly models: LocalModels;
  /** Whether documents can be processed, as far as is known. */
  readonly answers: () => boolean;
  /** Whether a local model can be asked, as far as is known. */
  readonly has: (kind: ModelKind) => boolean;
  /** Whether there is such a local model, so that its absence is a fault; until it is known, there is. */
  readonly knows: (kind: ModelKind) => boolean;
  /** Its weights, as they were last told of. */
  readonly revision: (kind: ModelKind) => string | undefined;
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
  { inference, inferenceEnv, logLevel }: Pick<Settings, 'inference' | 'inferenceEnv' | 'logLevel'>,
  onEvent: (event: DocumentsEvent | ModelsEvent) => void,
): Inference | undefined {
  if (inference === 'off') return undefined;
  let child: EngineChild | undefined;
  const url = (): string | undefined => (inference === 'child' ? child?.url() : inference.url);
  const engine = openDocumentEngine({ url });
  const models = openLocalModels({ url });
  const known = new Known();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  const look = async (): Promise<void> => {
    await known.look(engine, models);
    if (!closed) timer = setTimeout(() => void look(), LOOK_MS[known.answers ? 'there' : 'absent']).unref();
  };
  const onDone = (verb: DocumentVerb, fault: DocumentFaultKind | undefined): void => {
    if (fault) onEvent({ kind: 'documents.fault', verb, fault });
    known.answers = fault !== 'unavailable';
  };
  const onFault = (model: ModelsEvent['model'], { kind: fault }: ModelFault): void => {
    // The caller's fault, and no sign of the model's.
    if (fault === 'too_long') return;
    onEvent({ kind: 'models.fault', model, fault });
    if (fault === 'unavailable') known.ready = new Set([...known.ready].filter((one) => one !== model));
  };
  const onDeath: EngineChildOptions['onDeath'] = (exit) => {
    known.answers = false;
    known.ready = new Set();
    onEvent({ kind: 'documents.engine_died', ...exit });
  };
  return {
    engine: watched(engine, (verb) => onEvent({ kind: 'documents.asked', verb }), onDone),
    models: observed(models, onFault),
    answers: () => known.answers,
    has: (kind) => known.ready.has(kind),
    revision: (kind) => known.revisions.get(kind),
    knows: (kind) => known.installed?.has(kind) ?? true,
    async start() {
      const onLine = (line: string): void => void process.stdout.write(`${line}\n`);
      if (inference === 'child')
        child = startEngineChild({ env: { ...inferenceEnv, LOG_LEVEL: logLevel }, onLine, onDeath });
      void look();
      await Promise.race([known.models.promise, sleep(FIRST_LOOK_MS, undefined, { ref: false })]);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await child?.stop();
      await Promise.all([engine.close(), models.close()]);
    },
  };
}

/** The state of the inference process, as far as it is known. */
class Known {
  answers = false;
  ready: ReadonlySet<ModelKind> = new Set();
  /** Models that were there once: they are reported when they are missing. Undefined: not known yet. */
  installed: ReadonlySet<ModelKind> | undefined;
  readonly revisions = new Map<ModelKind, string>();
  /** Resolved once it is known which models there are. */
  readonly models = Promise.withResolvers<void>();

  async look(engine: DocumentEngine, models: LocalModels): Promise<void> {
    this.answers = await engine.ping().then(
      () => true,
      () => false,
    );
    const found = await models.there().catch(() => undefined);
    this.ready = found?.ready ?? new Set();
    if (!found) return;
    this.installed = new Set([...(this.installed ?? []), ...found.installed]);
    for (const [kind, revision] of found.revisions) this.revisions.set(kind, revision);
    this.models.resolve();
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
