import type { ToolCallRequest } from './tool-call.ts';

/** Requests that read of an MCP server. */
export type ReadMethod = 'resources/read' | 'prompts/get' | 'completion/complete';

/** A prompt or a resource, as the client knows it. */
export type ReadOf =
  | { readonly kind: 'prompts'; readonly name: string }
  /** `uri`: the address, or the template of addresses. */
  | { readonly kind: 'resources'; readonly uri: string };

/** A request to read a resource, to fill in a prompt, or to complete an argument of either. */
export interface ServerReadRequest extends Omit<ToolCallRequest, 'tool'> {
  readonly method: ReadMethod;
  readonly of: ReadOf;
  /** The name of the argument to complete. */
  readonly completes?: string;
  /** Arguments of a prompt; of completions `{value, arguments}`: the beginning of the value, and arguments given before. */
  readonly arguments: ToolCallRequest['arguments'];
}
