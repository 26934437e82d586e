import { LLMock, type ChatCompletionRequest } from '@copilotkit/aimock';

/** A stand-in provider on loopback, so that the first request is answered without any vendor's key. */
export interface Sandbox {
  /** Base address of its OpenAI-compatible API. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts the stand-in: it repeats the last user message, which shows what a provider would have been sent. */
export async function startSandbox(): Promise<Sandbox> {
  const mock = new LLMock({
    host: '127.0.0.1',
    port: 0,
    chunkSize: 12,
    latency: 20,
    logLevel: 'silent',
    journalMaxEntries: 1,
  });
  mock.on({ predicate: () => true }, (request: ChatCompletionRequest) => ({
    content: `You said: ${lastUserText(request)}\n(The sandbox provider answers; configure a Provider to reach a model.)`,
  }));
  await mock.start();
  return { url: `${mock.url}/v1`, stop: () => mock.stop() };
}

function lastUserText(request: ChatCompletionRequest): string {
  const content: unknown = request.messages.findLast((message) => message.role === 'user')?.content;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '(nothing)';
  return content.map((part: { text?: unknown }) => (typeof part.text === 'string' ? part.text : '')).join('');
}
