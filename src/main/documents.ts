import { openDocumentEngine } from '#adapters/inference/documents.ts';
import { DocumentFault, type DocumentEngine, type DocumentFaultKind } from '#ports/documents.ts';
import { startEngineChild, type EngineChild } from '../embedded/document-engine.ts';
import type { DocumentsEvent, DocumentVerb } from '../observer.ts';
import type { Settings } from '../settings.ts';

/** The document engine as this process reaches it. */
export interface Documents {
  readonly engine: DocumentEngine;
  /** Whether it answered when it was last asked. */
  readonly answers: () => boolean;
  /** Starts the child, where it is one, and looks from time to time whether it answers. Waits for nothing. */
  start(): void;
  close(): Promise<void>;
}

/** Between two looks: at an engine that is not there yet, and at one that is. */
const LOOK_MS = { absent: 500, there: 15_000 };

/** Opens the engine that settings name; undefined where documents are not processed. */
export function openDocuments(
  { inference, inferenceEnv, logLevel }: Pick<Settings, 'inference' | 'inferenceEnv' | 'logLevel'>,
  onEvent: (event: DocumentsEvent) => void,
): Documents | undefined {
  if (inference === 'off') return undefined;
  let child: EngineChild | undefined;
  const engine = openDocumentEngine({ url: () => (inference === 'child' ? child?.url() : inference.url) });
  let answers = false;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  const look = async (): Promise<void> => {
    answers = await engine.ping().then(
      () => true,
      () => false,
    );
    if (!closed) timer = setTimeout(() => void look(), LOOK_MS[answers ? 'there' : 'absent']).unref();
  };
  const onDone = (verb: DocumentVerb, fault: DocumentFaultKind | undefined): void => {
    if (fault) onEvent({ kind: 'documents.fault', verb, fault });
    answers = fault !== 'unavailable';
  };
  const start = (): void => {
    if (inference === 'child') {
      child = startEngineChild({
        env: { ...inferenceEnv, LOG_LEVEL: logLevel },
        onLine: (line) => process.stdout.write(`${line}\n`),
        onDeath: (exit) => {
          answers = false;
          onEvent({ kind: 'documents.engine_died', ...exit });
        },
      });
    }
    void look();
  };
  return {
    engine: watched(engine, (verb) => onEvent({ kind: 'documents.asked', verb }), onDone),
    answers: () => answers,
    start,
    async close() {
      closed = true;
      clearTimeout(timer);
      await child?.stop();
      await engine.close();
    },
  };
}

/** The engine, with what is asked of it and what comes of it told. */
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
    read: (file, options, signal) => told('read', () => engine.read(file, options, signal)),
    render: (file, options, signal) => told('render', () => engine.render(file, options, signal)),
    recognize: (file, options, signal) => told('recognize', () => engine.recognize(file, options, signal)),
    redact: (file, options, signal) => told('redact', () => engine.redact(file, options, signal)),
    ping: () => engine.ping(),
  };
}
