import type { Call } from '#/call/call.ts';
import { isObject } from '#/wire/document/json.ts';
import { madeIn, MAKING, type KeptMade, type Keeps } from '#/wire/kept/find-made.ts';
import type { Ownership } from './ownership.ts';
import type { Candidate } from '#/call/target.ts';

/** What an answer may say that the provider keeps, to be recorded before the client reads its id. */
export interface MadeObjects {
  readonly key: Call['key'];
  readonly config: Candidate['provider']['config'];
  readonly family: Candidate['family'];
  readonly credential: string;
  readonly ownership: Ownership;
  readonly keeps: Keeps;
  /** Finds in a text of the answer that something may be made there: ask it before `recordMade`. */
  readonly pattern: RegExp;
  /** Ids that were recorded; absent: none yet. */
  known?: Set<string>;
}

/** Undefined where nothing is made that the client could name: a translated answer has no ids of the provider's. */
export function madeObjectsOf(
  call: Call,
  { translation, family, provider }: Candidate,
  credential: string | undefined,
  ownership: Ownership,
): MadeObjects | undefined {
  const making = MAKING[family];
  if (translation || !making) return undefined;
  const { config } = provider;
  // On a managed account no response is stored, whatever was asked for.
  const stores = !(config.keyOwnership === 'managed' && family === 'responses');
  const answer = stores && making.keepsAnswer?.(call.document.body) === true;
  const pattern = answer ? making.ofKept : making.ofOthers;
  return { key: call.key, config, family, credential: credential ?? '', ownership, keeps: { answer }, pattern };
}

/** Records what texts say that was made, each a JSON object. Undefined: nothing new is in them, and they need not wait. */
export function recordMade(objects: MadeObjects, texts: readonly string[]): Promise<void> | undefined {
  const known = (objects.known ??= new Set());
  const made = texts.flatMap((text) => madeInText(text, objects));
  const fresh = made.filter(({ id }) => !known.has(id) && known.add(id));
  if (fresh.length === 0) return undefined;
  return objects.ownership.made({ key: objects.key }, objects.config, objects.credential, fresh);
}

/** The data of those events in which something may be made. */
export function dataIn(events: string, pattern: RegExp): readonly string[] {
  const lines = events.split(/\r\n?|\n/).filter((line) => line.startsWith('data:') && pattern.test(line));
  return lines.map((line) => line.slice('data:'.length));
}

function madeInText(text: string, { family, keeps }: MadeObjects): readonly KeptMade[] {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // Unreadable objects are not recorded, so no workload can use them.
    return [];
  }
  return isObject(body) ? madeIn(family, body, keeps) : [];
}
