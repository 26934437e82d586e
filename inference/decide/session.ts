import { InferenceSession } from 'onnxruntime-node';

/** What models run on. */
export type Device = 'cpu' | 'cuda';

/** Opens a graph. Rejects where the runtime has no support for the device: nothing falls back in silence. */
export function openSession(weights: Uint8Array, device: Device = 'cpu'): Promise<InferenceSession> {
  const threads = { intraOpNumThreads: 1, interOpNumThreads: 1 };
  return InferenceSession.create(weights, device === 'cuda' ? { ...threads, executionProviders: ['cuda'] } : threads);
}
