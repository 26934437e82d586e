import { InferenceSession } from 'onnxruntime-node';
import { ModelFault } from './manifest.ts';

/** What models run on. */
export type Device = 'cpu' | 'cuda';

/** Opens a graph. Rejects where the runtime has no support for the device: nothing falls back in silence. */
export function openSession(weights: Uint8Array, device: Device = 'cpu'): Promise<InferenceSession> {
  const threads = { intraOpNumThreads: 1, interOpNumThreads: 1 };
  return InferenceSession.create(weights, device === 'cuda' ? { ...threads, executionProviders: ['cuda'] } : threads);
}

/** Throws `ModelFault` where a graph lacks an output, or has an input that nobody fills. */
export function checkGraph(
  { inputNames, outputNames }: InferenceSession,
  inputs: readonly string[],
  outputs: readonly string[],
): void {
  const missing = outputs.find((name) => !outputNames.includes(name));
  if (missing !== undefined) throw new ModelFault(`the graph has no output ${missing}`);
  const strange = inputNames.find((name) => !inputs.includes(name));
  if (strange !== undefined) throw new ModelFault(`nothing is known of the graph's input ${strange}`);
}

/** The sizes that an input of a graph has, undefined where they are not fixed. Throws `ModelFault` where it has no such input. */
export function inputShape(
  session: InferenceSession,
  name: string,
  dimensions: number,
): readonly (number | undefined)[] {
  const found = session.inputMetadata.find((input) => input.name === name);
  const shape = found?.isTensor === true ? found.shape : undefined;
  if (shape?.length !== dimensions) throw new ModelFault(`the graph has no input ${name} of ${dimensions} dimensions`);
  return shape.map((size) => (typeof size === 'number' && size > 0 ? size : undefined));
}

/** The same, of a size that must be fixed. */
export function fixedSize(session: InferenceSession, name: string, dimensions: number, at: number): number {
  const size = inputShape(session, name, dimensions).at(at);
  if (size === undefined) throw new ModelFault(`the graph does not say how large its input ${name} is`);
  return size;
}
