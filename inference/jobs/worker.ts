import { parentPort } from 'node:worker_threads';
import { DocumentFault } from '#/ports/documents.ts';
import { check, perform } from '../engine/engine.ts';
import type { Tools } from '../formats/format.ts';
import type { TaskMessage, ThreadMessage } from './messages.ts';
import { createRecognizer, newReading } from '../ocr/recognizer.ts';

/** A thread: one task at a time, until it is ended from outside. It reads no file that is not its own and no environment. */

const STEP_MS = 200;

const recognizer = createRecognizer();

parentPort?.on('message', (message: TaskMessage) => void run(message));

async function run({ task, givenUp }: TaskMessage): Promise<void> {
  const tools = toolsFor(new Int32Array(givenUp));
  try {
    const json = new TextEncoder().encode(
      JSON.stringify(task.verb === 'check' ? await check(tools) : await perform(task, tools)),
    );
    tell({ kind: 'done', json, heapBytes: heapBytes() }, [json.buffer]);
  } catch (error) {
    tell(faultMessage(error));
  }
}

function toolsFor(givenUp: Int32Array): Tools {
  let told = 0;
  const checkTime = (): void => {
    if (Atomics.load(givenUp, 0) === 1) throw new DocumentFault('too_large', 'the job was cancelled');
    if (performance.now() - told < STEP_MS) return;
    told = performance.now();
    tell({ kind: 'step' });
  };
  const reading = newReading(checkTime);
  return {
    checkTime,
    recognize: (picture, languages) => recognizer.recognize(picture, languages, reading),
    onPages: (...pages) => tell({ kind: 'step', pages }),
  };
}

/** Libraries fail in their own words on hostile files; those words may quote them and stay here. */
function faultMessage(error: unknown): ThreadMessage {
  if (error instanceof DocumentFault)
    return { kind: 'fault', fault: error.kind, message: error.message, heapBytes: heapBytes() };
  const cause = error instanceof Error ? error.name : typeof error;
  return {
    kind: 'fault',
    fault: 'unreadable',
    message: 'the document could not be processed',
    cause,
    heapBytes: heapBytes(),
  };
}

function heapBytes(): number {
  const { heapTotal, external } = process.memoryUsage();
  return heapTotal + external;
}

function tell(message: ThreadMessage, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer);
}
