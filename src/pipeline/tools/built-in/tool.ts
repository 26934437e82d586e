import type { ToolArguments } from '#/call/tool-call.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import type { AnonymizeOptions } from '#/inspect/attachments/anonymize-options.ts';
import type { DocumentFile } from '#/ports/documents.ts';
import type { RoutedFeature } from '#/route/tools/built-in.ts';
import type { Anonymized } from '#/wire/documents/anonymized.ts';
import type { Codec } from '#/wire/hub/codec.ts';
import type { JsonObject } from '#/wire/document/json.ts';

/** What a tool returns, before it has the form of a client's era. */
export interface BuiltInResult {
  /** For clients that read no structured results: JSON source of blocks of content. */
  readonly content: readonly string[];
  /** JSON source of what the endpoint of the feature answers. */
  readonly structured: string;
}

interface Described extends RoutedFeature {
  /** As it is listed, `name` included. */
  readonly definition: JsonObject;
}

/** A tool that asks a model of the gateway's own, as the endpoint of its family does. */
export interface ModelTool extends Described {
  readonly kind: 'model';
  readonly codec: Codec;
  /** The body that the endpoint would be sent. Throws `invalid_request`. */
  bodyOf(args: ToolArguments): string;
  /** `body`: the endpoint's answer. */
  resultOf(body: string): BuiltInResult;
}

/** A tool that anonymizes, as the endpoint for documents does. */
export interface DocumentTool extends Described {
  readonly kind: 'document';
  /** What the endpoint would be sent. Throws `invalid_request`. */
  uploadOf(args: ToolArguments): { readonly file: DocumentFile; readonly options: AnonymizeOptions };
  /** `unscanned`: kinds that were not searched for. */
  resultOf(document: Anonymized, unscanned: readonly string[]): BuiltInResult;
}

/** A tool of the gateway's own. */
export type BuiltInTool = ModelTool | DocumentTool;

/** A block of content. `source`: JSON source of its text. */
export function textBlock(source: string): string {
  return `{"type":"text","text":${source}}`;
}

/** JSON source of an object with one more member. `json`: its source, so that a long text is not written twice. */
export function withMember(object: JsonObject, name: string, json: string): string {
  const source = JSON.stringify(object);
  return `${source.slice(0, -1)}${source === '{}' ? '' : ','}${JSON.stringify(name)}:${json}}`;
}

/** Arguments of a call that has none. */
export const NO_ARGUMENTS: ToolArguments = { source: '{}', value: {} };

/** A member that is not known might be one that was meant to protect something. Throws `invalid_request`. */
export function refuseUnknown(args: JsonObject, known: readonly string[]): void {
  if (Object.keys(args).every((name) => known.includes(name))) return;
  throw invalidArgument(`params.arguments may have only ${known.join(', ')}.`, 'params.arguments');
}

export function invalidArgument(message: string, param: string): GatewayError {
  return new GatewayError('invalid_request', message, { param });
}

/** What all of them are: they read what they are given, change nothing, and reach nothing outside. */
export const ANNOTATIONS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;
