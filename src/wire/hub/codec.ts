import type { StreamReader } from '../answer/frame.ts';
import type { Usage } from '../answer/usage.ts';
import type { CloudDialect } from '../request/cloud-dialect.ts';
import type { Lose, ModelAnswer, ModelRequest, StreamEvent } from './canonical.ts';
import type { Edit, Family, HubFamily, WireDocument } from '../document/document.ts';
import type { JsonObject } from '../document/json.ts';
import type { JsonNode, ObjectNode, StringNode } from '../document/scan.ts';
import type { UserText } from '../request/speakers.ts';
import type { SseEvent } from '../answer/sse.ts';
import type { Traits } from './traits.ts';

/**
 * One place in a document that can hold text. Inspection is deny-by-default: every string of a document is a leaf
 * (member names too, and numbers long enough to be an account), save the few a codec lists as structural.
 */
export interface Leaf {
  readonly node: JsonNode;
  readonly text: string;
  /** `json`: the text is JSON of its own (tool-call arguments); its leaves count, not its source. */
  readonly kind: 'text' | 'json';
  /**
   * The signed block this text belongs to (an item of a content array): it is never rewritten. When something is found
   * in it, the whole block is dropped. // spec 4.5.4
   */
  readonly signed?: JsonNode;
  /** It is said of a file: its name, its title. */
  readonly ofFile?: true;
  /** It is called an id. */
  readonly ofId?: true;
  /** It stands in JSON within a text, and its node in that JSON: as the name of a member, or as a value. */
  readonly inJson?: 'name' | 'value';
  /** Characters (`g`) that its reader leaves out: what they part is one for it. */
  readonly skipped?: RegExp;
  /** Of an answer: it is within what a tool is told. */
  readonly called?: Called;
}

/** What an answer tells a tool, whose name is empty where nothing names it. */
export interface Called {
  readonly tool: string;
  /** What the tool is told: JSON text, a text of the tool's own, or a value. */
  readonly told: JsonNode;
  /** What that is called. */
  readonly name: string;
}

/** Content that cannot be read as text. */
export interface Media {
  readonly kind: 'image' | 'audio' | 'file';
  /** `inline`: its bytes are in the document; `remote`: a URL the provider fetches. */
  readonly source: 'inline' | 'remote';
  /** UTF-16 code units it takes in the document: its base64 text, or its URL. */
  readonly length: number;
  /** Where it stands; absent where nobody may put anything in its place. */
  readonly place?: MediaPlace;
}

/** Where content that is not text stands in a document. */
export interface MediaPlace {
  /** Its bytes or its address. */
  readonly node: StringNode;
  /** The content part around it. */
  readonly part: ObjectNode;
  /** The part is an item of an array: others may take its place. */
  readonly listed: boolean;
  /** How many leaves come before it. */
  readonly leaves: number;
}

/** A string that is no text: an id, or sealed bytes. */
export interface IdLeaf {
  readonly node: StringNode;
  /**
   * `pair`: the client may call it otherwise, at both ends. `kept`: a provider knows something by it. `sealed`: bytes that
   * only their maker reads. `model`: it is written down, and found by nobody under another name.
   */
  readonly role: IdRole;
  /** As of `Leaf`. */
  readonly signed?: JsonNode;
}

export type IdRole = 'pair' | 'kept' | 'sealed' | 'model';

/** A text as numbers of a model's vocabulary. */
export interface TokenList {
  readonly node: JsonNode;
  readonly tokens: readonly number[];
  /** How many leaves come before it. */
  readonly leaves: number;
}

/** What inspection needs of a document. */
export interface Contents {
  /** In prompt order (tools, system, messages, the rest), so that tags numbered along it are stable from turn to turn. */
  readonly leaves: readonly Leaf[];
  readonly media: readonly Media[];
  /** In the same order; absent where there are none. */
  readonly ids?: readonly IdLeaf[];
  /** Texts in another spelling; absent where there are none. */
  readonly tokens?: readonly TokenList[];
  /** The conversation began in earlier requests, which the provider has kept and this one does not repeat. */
  readonly keptBefore?: boolean;
}

/** What routing and metering need to know of a request. */
export interface Ask {
  /** Model id as written. */
  readonly model: string;
  readonly modelNode: StringNode;
  readonly stream: boolean;
  /** The client asked for the usage frame of a stream. */
  readonly includeUsage: boolean;
  /** Output ceiling the client named, for all answers together (`n` × tokens). */
  readonly maxOutputTokens: number | undefined;
  /** Answers asked for at once. */
  readonly answers: number;
  /** The answer is one JSON value, so text put into it must be escaped as in a JSON string. */
  readonly jsonAnswer: boolean;
  /** The answer must be of a schema that the request names. */
  readonly jsonSchema: boolean;
  /** The answer may come later, by its id. */
  readonly background?: boolean;
  readonly dialect?: CloudDialect;
  /** Bounds of what is billed beside tokens, where the request names them. */
  readonly units?: AnswerUnits;
}

/** What an answer is billed by beside its tokens. */
type AnswerUnits = { readonly [U in 'pages' | 'images' | 'searches']?: number };

/**
 * A member of the body that has the wrong shape, told to the client: as 400, unless a surface promises 422 for what is
 * missing or 413 for what is too large. // spec 4.4.4
 */
export class BadRequestShape extends Error {
  override readonly name = 'BadRequestShape';
  readonly param: string;
  readonly status: 400 | 413 | 422;

  constructor(message: string, param: string, status: BadRequestShape['status'] = 400) {
    super(message);
    this.param = param;
    this.status = status;
  }
}

/** A request for a conversation that the provider keeps, so that later requests send only what is new. */
export class KeptThread extends BadRequestShape {
  constructor() {
    super('Threads are not stored: send the whole conversation without thread', 'thread');
  }
}

/** What a buffered answer says about itself. */
export interface AnswerFacts {
  readonly id: string | undefined;
  readonly usage: Usage | undefined;
  readonly units?: AnswerUnits;
  /** Whether it says something, and how many answers it holds. Absent: it is not known. */
  readonly says?: boolean;
  readonly choices?: number;
  /** It has its content in a form that the family's clients do not know: see `flatAnswer`. */
  readonly inChunks?: boolean;
  /** Whether it is an answer of this family at all. */
  readonly complete: boolean;
}

/** A string in a stream frame that continues earlier ones of the same channel. */
export interface Delta {
  /** Frames with the same channel add up to one text. */
  readonly channel: string;
  readonly node: StringNode;
  readonly kind: 'text' | 'json';
  /** It is within what a tool is told: which one of the stream's calls (`Codec.calls` names its tool), or all of a call. */
  readonly call?: string;
  readonly called?: Called;
}

/** A wire family: how to read its requests and answers, and how to edit them in place. Pure, no I/O. */
export interface Codec {
  readonly family: Family;
  contents(document: WireDocument): Contents;
  /** Who says what in a request; what it leaves out is the caller's. Absent: all of it is. */
  speakers?(document: WireDocument): readonly UserText[];
  /** Throws `BadRequestShape`. */
  ask(document: WireDocument): Ask;
  /** Where local models are asked in this family: throws `BadRequestShape` for what this one cannot be asked. */
  checkLocal?(document: WireDocument, model: string): void;
  readAnswer(body: JsonObject): AnswerFacts;
  streamReader(answersAsked?: number): StreamReader;
  /** What a surface of this family writes when a stream is over. */
  readonly streamEnd: string;
  /** Every string of a buffered answer. `jsonAnswer`: the model was asked to answer in JSON. */
  answerLeaves(answer: WireDocument, jsonAnswer: boolean): readonly Leaf[];
  /** UTF-8 bytes of output text in a frame: what a hung-up call is billed by when no usage frame came. */
  outputBytes(frame: JsonObject): number;
  /** Where a frame holds streamed text. */
  deltas(frame: WireDocument, jsonAnswer: boolean): readonly Delta[];
  /** Channels that end with a frame, by prefix (`0/` is choice 0). */
  ends(frame: JsonObject): readonly string[];
  /** Tools that a frame says are called: `call` is as in `Delta`. */
  calls?(frame: JsonObject): readonly { readonly call: string; readonly tool: string }[];
  /** A frame like `like` that says only `text` on `channel`: for text held back until its channel ended. */
  deltaFrame(like: JsonObject, channel: string, text: string): JsonObject;
  /** The `event:` line of a frame; absent where events have no name. */
  eventName?(frame: JsonObject): string | undefined;
  /** The frame that tells usage, in this family's words; undefined where a family has none of its own. */
  usageFrame(like: JsonObject, usage: Usage): JsonObject | undefined;
  /** Edits that tell this usage in the place of the one that an answer or a frame tells; absent where it tells none. */
  tellUsage?(document: WireDocument, usage: Usage): readonly Edit[];
  /** Edits that make a streaming request ask for the usage frame. */
  askForUsage(document: WireDocument): readonly Edit[];
  /** Edits that show cached input as fresh input in an answer or a frame, totals unchanged. // spec 4.3.3 */
  hideCacheCounts(document: WireDocument): readonly Edit[];
  /** Edits that drop signed blocks: those given (of `Leaf.signed`), and those whose signature is empty. // spec 4.5.4 */
  dropSigned?(document: WireDocument, flagged: ReadonlySet<JsonNode>): readonly Edit[];
  /** An answer or a frame of a vendor with a form of its own as clients know it; undefined where it is in theirs. */
  flatAnswer?(body: JsonObject): JsonObject | undefined;
  /**
   * Where parts of a request must differ from each other: the edits of data protection, with what they would make alike
   * told apart. Throws `BadRequestShape` where that would change what is asked.
   */
  tellApart?(document: WireDocument, edits: readonly Edit[]): readonly Edit[];
  /**
   * Edits that give a buffered answer the form the client asked for and the provider may lack (base64 embeddings), or the
   * client's own names for things. `sent`: the request as the provider got it.
   */
  fitAnswer?(answer: WireDocument, request: WireDocument, sent: string): readonly Edit[];
}

/** What an answer in the client's own family needs to know beside the answer. */
export interface AnswerContext {
  /** The call's id (a UUID): families mint their own ids from it. */
  readonly callId: string;
  /** The model's name as the client sees it, without the provider. */
  readonly model: string;
  /** Seconds since the epoch. */
  readonly createdAt: number;
  /** The request but its conversation: some answers repeat its settings. */
  readonly request: Pick<WireDocument, 'body'>;
  /** The client asked for the usage frame of a stream. */
  readonly includeUsage: boolean;
  /** Our own count of the input, for what must be said before the provider has said it. // spec 6.2 */
  readonly estimatedInput: number;
}

/** Writes one answer's stream in a family's words; keeps the state of that stream. */
export interface StreamEncoder {
  /**
   * Server-sent events for this event, or an empty string. `finish` and `usage` are held until `end`, which the relay
   * sends exactly once and last, after the final usage; never after an `error`, which is the surface's to write.
   */
  encode(event: StreamEvent): string;
}

/** A family that clients speak: what a request and an answer in it are to the hub. */
export interface ClientCodec extends Codec {
  /** Throws `BadRequestShape` where a member that crosses families has the wrong shape. Unknown members are losses. */
  decodeRequest(document: WireDocument, lose: Lose): ModelRequest;
  encodeAnswer(answer: ModelAnswer, context: AnswerContext): JsonObject;
  streamEncoder(context: AnswerContext): StreamEncoder;
}

/** Makes events of the hub of what the family's `StreamReader` reads; keeps the state of that stream. */
export interface StreamDecoder {
  /** Throws `SyntaxError` when the data is not JSON. */
  decode(event: SseEvent): readonly StreamEvent[];
  /** Closes what is open when the bytes have ended, wherever they ended. */
  end(): readonly StreamEvent[];
  /** Whether the stream has said that it is over: an end without it is a broken stream. */
  readonly finished: boolean;
}

/** A family that providers speak: how the hub asks in it and understands the answer. */
export interface UpstreamCodec {
  readonly family: HubFamily;
  /**
   * The body, with `model` and `stream` where the family has them. Drops what the family or the model cannot express,
   * naming each. Throws `BadRequestShape` for what must not be dropped in silence: audio for a model that cannot hear,
   * a file id.
   */
  encodeRequest(request: ModelRequest, traits: Traits, lose: Lose): JsonObject;
  /** Undefined: no answer of this family at all. */
  decodeAnswer(body: JsonObject): ModelAnswer | undefined;
  streamDecoder(): StreamDecoder;
}
