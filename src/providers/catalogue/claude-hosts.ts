import type { ProviderConfig } from '#/config/snapshot.ts';
import type { CloudDialect } from '#/wire/request/cloud-dialect.ts';
import type { JsonObject } from '#/wire/document/json.ts';

/** What a cloud that hosts Claude takes of the messages protocol. // wire-formats 1.4, spec 9.3 */
export interface ClaudeHost {
  /** What its own clients speak. */
  readonly dialect: CloudDialect;
  /** Beta flags that are passed on; the host answers 400 to any it does not know. */
  readonly betas: ReadonlySet<string>;
  /** Tools that the model's maker defines, by how their types begin. */
  readonly tools: readonly string[];
  /** Whether `stream` stands in the body; otherwise the address tells it. */
  readonly streamInBody: boolean;
  /** `anthropic_version` of the body. */
  readonly version: string;
}

/** Tools that the client runs itself: the host only needs to know them. */
const CLIENT_TOOLS = ['bash_', 'text_editor_', 'computer_', 'memory_', 'tool_search_tool_'];

const SHARED_BETAS = [
  'compact-2026-01-12',
  'computer-use-2025-01-24',
  'computer-use-2025-11-24',
  'context-1m-2025-08-07',
  'context-management-2025-06-27',
  'effort-2025-11-24',
  'fine-grained-tool-streaming-2025-05-14',
  'interleaved-thinking-2025-05-14',
  'output-128k-2025-02-19',
  'token-efficient-tools-2025-02-19',
  'tool-examples-2025-10-29',
  'tool-search-tool-2025-10-19',
];

/** Claude on Amazon Bedrock. */
export const BEDROCK_CLAUDE: ClaudeHost = {
  dialect: 'bedrock',
  betas: new Set([...SHARED_BETAS, 'dev-full-thinking-2025-05-14']),
  tools: CLIENT_TOOLS,
  streamInBody: false,
  version: 'bedrock-2023-05-31',
};

/** Claude on Google Vertex. */
export const VERTEX_CLAUDE: ClaudeHost = {
  dialect: 'vertex',
  betas: new Set([...SHARED_BETAS, 'web-search-2025-03-05']),
  tools: [...CLIENT_TOOLS, 'web_search_'],
  streamInBody: true,
  version: 'vertex-2023-10-16',
};

/**
 * Whether a request goes on to this host as its own client wrote it: there the client knows what the host takes. What
 * another's account is asked for is on our list.
 */
export function isInOwnWords(
  host: ClaudeHost,
  { keyOwnership }: Pick<ProviderConfig, 'keyOwnership'>,
  dialect: CloudDialect | undefined,
): boolean {
  return dialect === host.dialect && keyOwnership === 'organization';
}

/** The flags of the client's beta header that a host knows, in their order and once each. */
export function betasFor(host: ClaudeHost, header: string | readonly string[] | undefined): readonly string[] {
  const flags = [header ?? []].flat().flatMap((line) => line.split(','));
  return [...new Set(flags.map((flag) => flag.trim()).filter((flag) => host.betas.has(flag)))];
}

/** A JSON object's text with more members before its own. The object has at least one. */
export function withMembers(body: string, members: JsonObject): string {
  return JSON.stringify(members).slice(0, -1) + body.replace(/^\s*\{/, ',');
}
