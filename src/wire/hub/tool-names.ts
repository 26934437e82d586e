import type { ModelAnswer, ModelRequest, Part, StreamEvent } from './canonical.ts';
import type { StreamDecoder, UpstreamCodec } from './codec.ts';
import type { HubFamily } from '../document/document.ts';
import { mintedId } from './tool-ids.ts';

/** How a family's providers want tools to be called. // wire-formats 2.1 */
interface Rule {
  readonly most: number;
  readonly begins: RegExp;
}

const ANY = /^[A-Za-z0-9_-]/;
const RULES: Readonly<Record<HubFamily, Rule>> = {
  chat: { most: 64, begins: ANY },
  responses: { most: 64, begins: ANY },
  converse: { most: 64, begins: ANY },
  messages: { most: 128, begins: ANY },
  gemini: { most: 128, begins: /^[A-Za-z_]/ },
};

const PLAIN = /^[A-Za-z0-9_-]+$/;
const DIGEST_LENGTH = 8;

/** The tools of a request by the names that a family's providers take, and the way back. */
export interface Renamed {
  readonly request: ModelRequest;
  /** The names as sent -> as the client wrote them, of those that differ. */
  readonly originals: ReadonlyMap<string, string>;
}

/**
 * Gives tools whose names a family does not take others, everywhere in the request; the same name always becomes the
 * same, so that every turn tells the same story.
 */
export function renameTools(request: ModelRequest, family: HubFamily): Renamed {
  const originals = new Map<string, string>();
  const taken = (name: string): string => {
    const spelt = spell(name, RULES[family]);
    if (spelt !== name) originals.set(spelt, name);
    return spelt;
  };
  const tools = request.tools.map((tool) => ({ ...tool, name: taken(tool.name) }));
  const turns = request.turns.map((turn) => ({ ...turn, parts: turn.parts.map((part) => renamed(part, taken)) }));
  if (originals.size === 0) return { request, originals };
  const { toolChoice: choice } = request;
  const toolChoice = choice?.type === 'tool' ? { toolChoice: { ...choice, name: taken(choice.name) } } : {};
  return { request: { ...request, tools, turns, ...toolChoice }, originals };
}

/** The codec of providers with the names of the tools in its answers as the client wrote them. */
export function restoringNames(codec: UpstreamCodec, originals: Renamed['originals']): UpstreamCodec {
  if (originals.size === 0) return codec;
  const back = (name: string): string => originals.get(name) ?? name;
  return {
    ...codec,
    decodeAnswer(body) {
      const answer = codec.decodeAnswer(body);
      return answer && restored(answer, back);
    },
    streamDecoder: () => restoringDecoder(codec.streamDecoder(), back),
  };
}

function restored(answer: ModelAnswer, back: (name: string) => string): ModelAnswer {
  return { ...answer, parts: answer.parts.map((part) => renamed(part, back)) };
}

function restoringDecoder(decoder: StreamDecoder, back: (name: string) => string): StreamDecoder {
  const restore = (event: StreamEvent): StreamEvent =>
    event.type === 'part-start' ? { ...event, part: renamed(event.part, back) } : event;
  return {
    decode: (event) => decoder.decode(event).map(restore),
    end: () => decoder.end().map(restore),
    get finished() {
      return decoder.finished;
    },
  };
}

function renamed(part: Part, rename: (name: string) => string): Part {
  if (part.type === 'tool-call') return { ...part, name: rename(part.name) };
  if (part.type === 'tool-result' && part.name !== undefined) return { ...part, name: rename(part.name) };
  return part;
}

/** The name itself where it is taken, else what can be kept of it and a digest that tells it apart. */
function spell(name: string, { most, begins }: Rule): string {
  if (name.length <= most && PLAIN.test(name) && begins.test(name)) return name;
  const letters = name.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  const kept = (begins.test(letters) ? letters : `_${letters}`).slice(0, most - DIGEST_LENGTH - 1);
  return `${kept}_${mintedId(name).slice(-DIGEST_LENGTH)}`;
}
