import type { RestoreMode, RestorePolicy } from '#/config/snapshot.ts';
import { AnswerOutOfBounds } from '#/wire/answer/answer-bounds.ts';
import type { AddressAround } from './address-tracker.ts';
import { hostsIn, isLoopback, NO_HOST } from './addresses.ts';
import type { Conversation } from './conversation.ts';
import type { TagTable } from '../tags.ts';
import { isFileName, publishes } from './tool-words.ts';

/** What a tag stands in. */
export interface Standing {
  readonly around: AddressAround | undefined;
  /** What follows it at once, up to a blank or a sign that no address has. */
  readonly tail: string;
  /** The tool that it would be given to; undefined: it is for the client's eyes. */
  readonly tool?: string | undefined;
}

const BUILT_IN: RestorePolicy = { tools: [], hosts: [] };
/** Most characters of addresses that are looked at for one answer. What goes beyond keeps its tags. */
const MOST_EXAMINED = 1024 * 1024;
/** Most tags of one answer that are restored: more than any model writes. */
const MOST_TAGS = 20_000;
/** Most characters that the tools of one streamed answer are told in pieces. */
const MOST_TOLD = 8 * 1024 * 1024;
const TAG = /«[A-Z][A-Z0-9_]{0,63}_[0-9]{1,9}»/g;
/** An address of a person that is a tag and nothing else: it goes to whom it names. */
const TO_ITSELF = /^(?:mailto|tel|sms|callto|facetime|skype|sips?|xmpp):$/i;
/** What follows would make a tag a part of an address, or of a host. */
const MAILBOX = /^[\p{L}\p{N}._%+«»-]{0,200}@((?:[\p{L}\p{N}_-]{1,63}\.){1,10}[\p{L}\p{N}-]{2,63})/u;
const SUBDOMAIN = /^((?:\.[\p{L}\p{N}_-]{1,63}){2,10})/u;

/** Most characters that restoring may add to one answer: a tag of ten characters may stand for a thousand. */
const MAX_GROWTH = 4 * 1024 * 1024;

/** By how much restoring has made an answer longer, over all its texts. */
class Growth {
  #added = 0;

  /** A tag of so many characters became a text of so many. Throws `AnswerOutOfBounds`. */
  add(tag: number, original: number): void {
    this.#added += Math.max(0, original - tag);
    if (this.#added <= MAX_GROWTH) return;
    throw new AnswerOutOfBounds(`restoring its tags would make the answer more than ${MAX_GROWTH} characters longer`);
  }
}

/** What may be put back into one answer, and whether anything was not. */
export class Restoration {
  readonly tags: TagTable;
  readonly growth = new Growth();
  /** A tag stayed one that stands for an original. */
  withheld = false;
  readonly #conversation: Conversation;
  readonly #policy: RestorePolicy;
  readonly #known = new Map<string, boolean>();
  #examined = 0;
  #room = MOST_TOLD;
  #tags = 0;

  constructor(tags: TagTable, conversation: Conversation, policy: RestorePolicy | undefined) {
    this.tags = tags;
    this.#conversation = conversation;
    this.#policy = policy ?? BUILT_IN;
  }

  get conversation(): Conversation {
    return this.#conversation;
  }

  /** Takes room for what tools are told in pieces: false where there is no more, so that tags stay. */
  takeRoom(characters: number): boolean {
    this.#room -= characters;
    return this.#room >= 0;
  }

  /** Whether one more tag is restored at all: false where there are more than any honest answer has. */
  takeTag(): boolean {
    if (++this.#tags <= MOST_TAGS) return true;
    this.withheld = true;
    return false;
  }

  /** Which values calls of a tool get: by its exact name, else by the longest pattern that fits it. */
  modeOf(tool: string): RestoreMode {
    let best: RestorePolicy['tools'][number] | undefined;
    for (const rule of this.#policy.tools) {
      if (rule.tool === tool) return rule.mode;
      if (matches(rule.tool, tool) && rule.tool.length > (best?.tool.length ?? -1)) best = rule;
    }
    return best?.mode ?? (publishes(tool) ? 'supplied_only' : 'known_targets');
  }

  /** Whether the caller named what a tag stands for, or who defines this tool. */
  isNamed(tag: string, tool: string): boolean {
    return this.tags.placesOf(tag).some((place) => {
      const speaker = this.#conversation.speakerAt(place);
      return speaker.by === 'user' || (speaker.by === 'definition' && speaker.tool === tool);
    });
  }

  /** Whether a tool has returned what a tag stands for. */
  isReturned(tag: string, tool: string): boolean {
    if (tool === '') return false;
    return this.tags.placesOf(tag).some((place) => {
      const speaker = this.#conversation.speakerAt(place);
      return speaker.by === 'tool' && speaker.tool === tool;
    });
  }

  /** Whether everybody may be told what is sent to a host: it is here, or the caller, the tool's definition or policy names it. */
  knows(host: string, tool: string | undefined): boolean {
    if (host === NO_HOST) return false;
    const key = `${host} ${tool ?? ''}`;
    let known = this.#known.get(key);
    if (known === undefined) {
      known =
        isLoopback(host) ||
        this.#policy.hosts.some((one) => (one.startsWith('*.') ? host.endsWith(one.slice(1)) : host === one)) ||
        this.#conversation.namesHost(host, tool);
      this.#known.set(key, known);
    }
    return known;
  }

  /** Whether all hosts of a text are known; of one without any, it is. */
  knowsAll(text: string, tool: string | undefined): boolean {
    this.#examined += text.length;
    if (this.#examined > MOST_EXAMINED) return false;
    return [...hostsIn(text)].every((host) => this.knows(host, tool));
  }

  /** Whether a tag may be restored where it stands. `permitted`: the call around it may have it. */
  allows(original: string, standing: Standing, permitted = true): boolean {
    const allowed = permitted && this.#staysHome(original, standing);
    this.withheld ||= !allowed;
    return allowed;
  }

  #staysHome(original: string, { around, tail, tool }: Standing): boolean {
    if (around) return this.#mayBeIn(around, original, tail, tool);
    return tool === undefined || this.#joinsKnown(tail, tool);
  }

  #mayBeIn(around: AddressAround, original: string, tail: string, tool: string | undefined): boolean {
    const { hosts, text, inHost } = around;
    if (this.#examined > MOST_EXAMINED) return false;
    if (TO_ITSELF.test(text) && !/^[^?)"'>\s\]]/.test(tail)) return true;
    const whole = inHost ? text + original + tail : text;
    if ([...hosts].every((host) => this.knows(host, tool)) && this.knowsAll(whole, tool)) return true;
    // Somebody has written this very address, and so knew what is in it.
    const said = text.replace(TAG, (tag) => this.tags.originalOf(tag) ?? tag) + original + (inHost ? tail : '');
    return hosts.size === 0 && this.#conversation.holds(said);
  }

  /** Whether a tag becomes no part of somebody's mailbox or sub-domain by what follows it. */
  #joinsKnown(tail: string, tool: string): boolean {
    const mailbox = MAILBOX.exec(tail)?.[1];
    if (mailbox !== undefined) return this.knows(mailbox.toLowerCase(), tool);
    const domain = SUBDOMAIN.exec(tail)?.[1]?.slice(1);
    return domain === undefined || isFileName(`.${domain}`) || this.knows(domain.toLowerCase(), tool);
  }
}

/** Whether a pattern with `*` fits a name. Linear: what stands between stars is looked for once. */
function matches(pattern: string, name: string): boolean {
  const parts = pattern.split('*');
  const last = parts.pop()!;
  if (parts.length === 0) return false;
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const found = index === 0 ? (name.startsWith(part) ? 0 : -1) : name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}
