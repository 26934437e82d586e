import { InferenceSession } from 'onnxruntime-node';
import { ModelFault } from './manifest.ts';

/** What models run on. */
export type Device = 'cpu' | 'cuda';

/** Opens a graph. Rejects where the runtime has no support for the device: nothing falls back in silence. */
export function openSession(weights: Uint8Array, device: Device = 'cpu'): Promise<InferenceSession> {
  const threads = { intraOpNumThreads: 1, interOpNumThreads: 1 };
  return InferenceSession.create(weights, device === 'cuda' ? { ...threads, executionProviders: ['cuda'] } : threads);
}

/** Throws `ModelFault` if a graph lacks an output, or has an unknown input. */
export function checkGraph(
  { inputNames, outputNames }: InferenceSession,
  inputs: readonly string[],
  outputs: readonly string[],
): void {
  const missing = outputs.find((name) => !outputNames.includes(name));
  if (missing !== undefined) throw new ModelFault(`the graph has no output ${missing}`);
  const strange = inputNames.find((name) => !inputs.includes(name));
  if (strange !== undefined) throw new ModelFault(`the graph's input ${strange} is unknown`);
}

/** The size of one dimension of a graph's input. Throws `ModelFault` if it is not fixed, or the input is missing. */
export function fixedSize(session: InferenceSession, name: string, dimensions: number, at: number): number {
  const found = session.inputMetadata.find((input) => input.name === name);
  const shape = found?.isTensor === true ? found.shape : [];
  if (shape.length !== dimensions) throw new ModelFault(`the graph has no input ${name} of ${dimensions} dimensions`);
  const size = shape.at(at);
  if (typeof size === 'number' && size > 0) return size;
  throw new ModelFault(`the size of the graph's input ${name} is not fixed`);
}
