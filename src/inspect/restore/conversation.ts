import { domainToUnicode } from 'node:url';
import type { WireDocument } from '#/wire/document/document.ts';
import type { JsonNode } from '#/wire/document/scan.ts';
import type { Speaker, UserText } from '#/wire/request/speakers.ts';

const CALLER: Speaker = { by: 'user' };

/** Where a text stands that is of an attached file. */
export const IN_A_FILE = -1;

/**
 * Who said what in a request: what an answer may be restored for depends on it. Read only when it is asked, which is when
 * an answer has a tag where it matters.
 */
export class Conversation {
  readonly #request: () => WireDocument;
  readonly #spoken: (request: WireDocument) => readonly UserText[];
  #places: readonly Place[] | undefined;
  #texts: Texts | undefined;
  #searched = 0;

  /** `spoken`: who says what; what it leaves out is the caller's. */
  constructor(request: () => WireDocument, spoken: (request: WireDocument) => readonly UserText[]) {
    this.#request = request;
    this.#spoken = spoken;
  }

  /** Who says what stands at this offset of the request. */
  speakerAt(place: number): Speaker {
    if (place === IN_A_FILE) return { by: 'document' };
    const places = (this.#places ??= placesOf(this.#spoken(this.#request())));
    let low = 0;
    let high = places.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (places[middle]!.from <= place) low = middle + 1;
      else high = middle;
    }
    return places[low - 1]?.speaker ?? CALLER;
  }

  /** Whether the caller, or who defines this tool, names a host. */
  namesHost(host: string, tool: string | undefined): boolean {
    const bare = withoutWww(host);
    const unicode = domainToUnicode(bare);
    const spelt = unicode === '' || unicode === bare ? [bare] : [bare, unicode];
    return this.#anyTrusted(tool, (text) => spelt.some((name) => holdsHost(text, name)));
  }

  /** Whether the caller, or who defines this tool, says a text, in any case of its letters. */
  says(text: string, tool: string | undefined): boolean {
    const wanted = text.toLowerCase();
    return this.#anyTrusted(tool, (said) => said.includes(wanted));
  }

  /** Whether anybody has said a text before, to the letter. */
  holds(text: string): boolean {
    return this.#any(this.#read().all, (said) => said.includes(text));
  }

  #anyTrusted(tool: string | undefined, holds: (text: string) => boolean): boolean {
    const { trusted, definitions } = this.#read();
    return this.#any(trusted, holds) || this.#any(definitions.get(tool ?? '') ?? [], holds);
  }

  /** Texts are searched again for each question: up to a bound, behind which nothing is known. */
  #any(texts: readonly string[], holds: (text: string) => boolean): boolean {
    for (const text of texts) {
      this.#searched += text.length;
      if (this.#searched > MOST_SEARCHED) return false;
      if (holds(text)) return true;
    }
    return false;
  }

  #read(): Texts {
    if (!this.#texts) {
      const request = this.#request();
      this.#texts = textsOf(request, this.#spoken(request));
    }
    return this.#texts;
  }
}

const MOST_SEARCHED = 64 * 1024 * 1024;

/** From this offset on, up to the next place, it is said by somebody. */
interface Place {
  readonly from: number;
  readonly speaker: Speaker;
}

function placesOf(spoken: readonly UserText[]): readonly Place[] {
  const places: Place[] = [];
  const open: UserText[] = [];
  const close = (upTo: number): void => {
    for (let last = open.at(-1); last && last.node.end <= upTo; last = open.at(-1)) {
      open.pop();
      places.push({ from: last.node.end, speaker: open.at(-1)?.speaker ?? CALLER });
    }
  };
  for (const one of [...spoken].sort((a, b) => a.node.start - b.node.start || b.node.end - a.node.end)) {
    close(one.node.start);
    places.push({ from: one.node.start, speaker: one.speaker });
    open.push(one);
  }
  close(Infinity);
  return places;
}

interface Texts {
  /** The caller's own, in lower case. */
  readonly trusted: readonly string[];
  /** By tool, in lower case. */
  readonly definitions: ReadonlyMap<string, readonly string[]>;
  readonly all: readonly string[];
}

function textsOf({ root }: WireDocument, spoken: readonly UserText[]): Texts {
  const speakers = new Map(spoken.map(({ node, speaker }) => [node, speaker]));
  const trusted: string[] = [];
  const definitions = new Map<string, string[]>();
  const all: string[] = [];
  const visit = (node: JsonNode, around: Speaker): void => {
    const speaker = speakers.get(node) ?? around;
    if (node.kind === 'string') {
      all.push(node.value);
      if (speaker.by === 'user') trusted.push(node.value.toLowerCase());
      else if (speaker.by === 'definition') {
        const tool = speaker.tool ?? '';
        const texts = definitions.get(tool);
        if (texts) texts.push(node.value.toLowerCase());
        else definitions.set(tool, [node.value.toLowerCase()]);
      }
    } else if (node.kind === 'array') for (const item of node.items) visit(item, speaker);
    else if (node.kind === 'object') for (const { value } of node.members) visit(value, speaker);
  };
  visit(root, CALLER);
  return { trusted, definitions, all };
}

function withoutWww(host: string): string {
  return host.startsWith('www.') ? host.slice(4) : host;
}

/** Whether a text has a host, not as a part of another one. */
function holdsHost(text: string, host: string): boolean {
  for (let at = text.indexOf(host); at >= 0; at = text.indexOf(host, at + 1)) {
    const before = text.slice(Math.max(0, at - 5), at);
    const after = text.slice(at + host.length, at + host.length + 2);
    const begins = !/[\p{L}\p{N}_.-]$/u.test(before) || /(?:^|[^\p{L}\p{N}_.-])www\.$/u.test(before);
    if (begins && !/^(?:[\p{L}\p{N}_-]|\.[\p{L}\p{N}])/u.test(after)) return true;
  }
  return false;
}
