import type { Family } from '../document/document.ts';
import type { JsonObject } from '../document/json.ts';
import { says } from '../hub/defined-members.ts';

/**
 * Objects that a provider stores under an id. Any caller who names the id reads it, changes it or pays with it: it
 * belongs to the workload that made it through the gateway.
 */
export type KeptKind =
  | 'file'
  | 'video'
  | 'character'
  | 'voice'
  | 'response'
  | 'item'
  | 'message'
  | 'conversation'
  | 'prompt'
  | 'sound'
  | 'container'
  | 'vector store'
  | 'skill'
  | 'profile'
  | 'cache'
  | 'batch'
  | 'upload'
  | 'thread'
  | 'assistant'
  | 'collection'
  | 'data source'
  /** An object created at a path that is not classified. */
  | 'object';

/** What a passed-on operation does with objects. Ids in its path are objects of this kind. */
export interface OperationObjects {
  readonly kind: KeptKind;
  /** `make`: its answer is a new one. `name`: its path names one. `list`: its answer lists them. */
  readonly act: 'make' | 'name' | 'make from' | 'remove' | 'list';
}

/**
 * Every operation that is passed on, and what it does with objects that the provider keeps. `none`: it answers with what it
 * made and keeps nothing. An operation that is not listed here is not mounted.
 */
export const OPERATION_OBJECTS = {
  'POST /v1/audio/transcriptions': 'none',
  'POST /v1/audio/translations': 'none',
  'POST /v1/audio/speech': 'none',
  'POST /v1/images/edits': 'none',
  'POST /v1/images/variations': 'none',
  'POST /v1/videos': { kind: 'video', act: 'make' },
  'GET /v1/videos': { kind: 'video', act: 'list' },
  'GET /v1/videos/:id': { kind: 'video', act: 'name' },
  'GET /v1/videos/:id/content': { kind: 'video', act: 'name' },
  'POST /v1/videos/:id/remix': { kind: 'video', act: 'make from' },
  'DELETE /v1/videos/:id': { kind: 'video', act: 'remove' },
  'POST /v1/files': { kind: 'file', act: 'make' },
  'GET /v1/files': { kind: 'file', act: 'list' },
  'GET /v1/files/:id': { kind: 'file', act: 'name' },
  'GET /v1/files/:id/content': { kind: 'file', act: 'name' },
  'DELETE /v1/files/:id': { kind: 'file', act: 'remove' },
  'GET /v1/responses/:id': { kind: 'response', act: 'name' },
  'DELETE /v1/responses/:id': { kind: 'response', act: 'remove' },
  'POST /v1/responses/:id/cancel': { kind: 'response', act: 'name' },
  'GET /v1/responses/:id/input_items': { kind: 'response', act: 'name' },
  'POST /v1/fim/completions': 'none',
  'POST /v1/score': 'none',
  'POST /v1/batches': { kind: 'batch', act: 'make' },
  'GET /v1/batches': { kind: 'batch', act: 'list' },
  'GET /v1/batches/:id': { kind: 'batch', act: 'name' },
  'POST /v1/batches/:id/cancel': { kind: 'batch', act: 'name' },
  'POST /v1/uploads': { kind: 'upload', act: 'make' },
  'POST /v1/uploads/:id/parts': { kind: 'upload', act: 'make from' },
  'POST /v1/uploads/:id/complete': { kind: 'upload', act: 'name' },
  'POST /v1/uploads/:id/cancel': { kind: 'upload', act: 'name' },
} as const satisfies Record<string, OperationObjects | 'none'>;

/** A member of a request whose strings are ids of objects. Names are compared without regard to case. */
export interface MemberRule {
  /** Lower-case names of the member. */
  readonly names: readonly string[];
  readonly kind: KeptKind;
  /** Absent: in every family. */
  readonly families?: readonly Family[];
  /** Only in the object that this member holds (lower case; arrays are looked through; '': the request itself). */
  readonly inside?: readonly string[];
  /** Only where the object around it says so. */
  readonly when?: (around: JsonObject) => boolean;
  /**
   * The object around it contains the content stored under the id: the id can be replaced by one that names nothing.
   */
  readonly replaceable?: (around: JsonObject) => boolean;
  /** Any value of it reaches for the object, not only an id. */
  readonly anyValue?: boolean;
}

/** Items of a responses request that say nothing themselves: the provider looks up what it has kept under their id. */
function isReference(item: JsonObject): boolean {
  switch (item['type']) {
    case 'reasoning':
    case 'compaction':
      return !says(item['encrypted_content']);
    case 'image_generation_call':
      return !says(item['result']);
    case 'message':
    case undefined:
    case null:
      return !says(item['content']);
    default:
      return item['type'] === 'item_reference';
  }
}

/** Reasoning in clear text, which clients send back: some providers still look it up by its id. */
const isToldThought = ({ type, content, summary }: JsonObject): boolean =>
  type === 'reasoning' && (says(content) || says(summary));

/** The vendor's own skills belong to no workload. */
const isOwnSkill = ({ type }: JsonObject): boolean => type !== 'anthropic';

/** Every member of a request that names what a provider keeps. The operations' bodies count as family `passthrough`. */
export const MEMBERS: readonly MemberRule[] = [
  { names: ['file_id', 'file_ids', 'fileid', 'fileids', 'input_file_id', 'output_file_id'], kind: 'file' },
  { names: ['previous_response_id', 'comparison_response_id', 'response_id'], kind: 'response' },
  { names: ['previous_message_id'], kind: 'message' },
  { names: ['conversation', 'conversation_id'], kind: 'conversation' },
  { names: ['id'], inside: ['conversation'], kind: 'conversation' },
  { names: ['id'], inside: ['prompt'], families: ['responses'], kind: 'prompt' },
  { names: ['prompt_id', 'prompt_template_id'], kind: 'prompt' },
  {
    names: ['id'],
    inside: ['input'],
    families: ['responses'],
    kind: 'item',
    when: isReference,
    replaceable: isToldThought,
  },
  { names: ['id'], inside: ['audio'], kind: 'sound' },
  { names: ['id'], inside: ['voice'], kind: 'voice' },
  { names: ['voice_id'], kind: 'voice' },
  { names: ['container'], inside: ['', 'tools'], families: ['messages', 'responses'], kind: 'container' },
  { names: ['id'], inside: ['container'], families: ['messages', 'responses'], kind: 'container' },
  { names: ['container_id'], kind: 'container' },
  { names: ['skill_id', 'skill_ids'], kind: 'skill', when: isOwnSkill },
  { names: ['vector_store_id', 'vector_store_ids'], kind: 'vector store' },
  { names: ['id'], inside: ['video', 'videos'], families: ['passthrough'], kind: 'video' },
  { names: ['video_id', 'remix_video_id', 'remixed_from_video_id'], kind: 'video' },
  { names: ['id'], inside: ['character', 'characters'], families: ['passthrough'], kind: 'character' },
  { names: ['character_id', 'character_ids'], kind: 'character' },
  { names: ['user_profile_id'], kind: 'profile' },
  { names: ['cachedcontent', 'cached_content'], kind: 'cache' },
  { names: ['batch_id'], kind: 'batch' },
  { names: ['upload_id', 'part_ids'], kind: 'upload' },
  { names: ['thread_id'], kind: 'thread' },
  { names: ['assistant_id', 'agent_id'], kind: 'assistant' },
  { names: ['library_id', 'library_ids', 'collection_id', 'collection_ids', 'knowledge_base_id'], kind: 'collection' },
  // An index that the account's own identity may read.
  { names: ['data_sources'], inside: [''], kind: 'data source', anyValue: true },
];

/** Members that look like ids and name nothing that a provider keeps. */
export const NOT_KEPT: ReadonlySet<string> = new Set([
  // Pair a call with its result within the request.
  'call_id',
  'tool_call_id',
  'tool_use_id',
  'tool_id',
  'caller_id',
  'approval_request_id',
  'item_id',
  'tab_id',
  'download_id',
  'document_ids',
  'stream_id',
  'segment_id',
  // Who asks, in the client's own words.
  'user_id',
  'session_id',
  'request_id',
  'trace_id',
  // Tool servers that the provider calls: whether it may is not a question of objects.
  'connector_id',
  'tunnel_id',
  // Read from headers only, and not forwarded.
  'workspace_id',
]);

/** Content that providers hand to the model, or back, without looking up what it names. */
export interface Zone {
  readonly names: readonly string[];
  readonly families?: readonly Family[];
  readonly when?: (around: JsonObject) => boolean;
}

const typeOf = ({ type }: JsonObject): string => (typeof type === 'string' ? type : '');

export const ZONES: readonly Zone[] = [
  // The client's own notes, schemas and tool arguments.
  { names: ['metadata', 'client_metadata'] },
  { names: ['parameters', 'schema', 'json_schema', 'input_schema', 'parametersjsonschema'] },
  { names: ['responseschema', 'responsejsonschema', 'inputschema', 'output_schema'] },
  { names: ['arguments', 'logit_bias', 'logprobs'] },
  { names: ['args', 'response'], families: ['gemini'] },
  { names: ['input'], families: ['messages'], when: (around) => typeOf(around).endsWith('tool_use') },
  { names: ['input'], families: ['converse'], when: (around) => 'toolUseId' in around },
  { names: ['json'], families: ['converse'] },
  // What an earlier answer said, sent back for the model to read.
  { names: ['annotations', 'citations'] },
  { names: ['action', 'results', 'outputs'], families: ['responses'] },
  {
    names: ['content'],
    families: ['messages'],
    when: (around) => typeOf(around).endsWith('_tool_result') && typeOf(around) !== 'tool_result',
  },
];
