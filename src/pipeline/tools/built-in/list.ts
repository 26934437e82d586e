import type { ToolCallRequest } from '#/call/tool-call.ts';
import { BUILT_IN } from '#/route/tools/built-in.ts';
import { federatedName } from '#/wire/mcp/names.ts';
import { anonymizeDocument } from './anonymize-document.ts';
import { anonymizeText } from './anonymize-text.ts';
import { decide } from './decide.ts';
import { ocr } from './ocr.ts';
import type { BuiltInTool } from './tool.ts';

/** Every tool of the gateway's own, in the order in which they are listed. */
export const BUILT_IN_TOOLS: readonly BuiltInTool[] = [anonymizeText, anonymizeDocument, decide, ocr];

const BY_NAME: ReadonlyMap<string, BuiltInTool> = new Map(BUILT_IN_TOOLS.map((tool) => [tool.name, tool]));
const BY_FEDERATED_NAME: ReadonlyMap<string, BuiltInTool> = new Map(
  BUILT_IN_TOOLS.map((tool) => [federatedName(BUILT_IN, tool.name), tool]),
);

/** The tool of the gateway's own that a call names; undefined: it names none of them. */
export function builtInNamed({ server, tool }: Pick<ToolCallRequest, 'server' | 'tool'>): BuiltInTool | undefined {
  if (server === undefined) return BY_FEDERATED_NAME.get(tool);
  return server === BUILT_IN ? BY_NAME.get(tool) : undefined;
}
