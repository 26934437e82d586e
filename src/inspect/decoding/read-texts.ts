import type { Leaf } from '#/wire/hub/codec.ts';
import { isAlphanumeric, isDigit } from '../detectors/characters.ts';

/** Members whose values are words of the format and not read as text. */
const FORMAT: ReadonlySet<string> = new Set([
  ...['role', 'type', 'name', 'id', 'user', 'model', 'status', 'object', 'detail', 'format', 'effort', 'ttl', 'voice'],
  ...['mime_type', 'mimeType', 'media_type', 'mediaType', 'service_tier', 'tool_choice', 'reasoning_effort'],
  // Addresses of media, which stand between texts.
  ...['url', 'image_url', 'file_url'],
]);
/** Beyond ASCII, what readers pass by where a text ends or begins: no letter and no digit. */
const PASSED = /[^\p{L}\p{M}\p{N}]|\p{Default_Ignorable_Code_Point}/u;
/** Markers of list items, and dots that stand for omissions. */
const MARKER = /^(?:[-*+•] |\d{1,2}[.)] |\.{2,})/;
/** Readers pass by no more than this at either end of a text. */
const MOST_PASSED = 512;
/** What a reader passes by: a text of nothing else stands between no two others. */
const UNSEEN = /^[\s\p{Default_Ignorable_Code_Point}]*$/u;
const LONGEST_UNSEEN = 96;

/** A text that a model reads, and its index among the leaves. */
export interface ReadText {
  readonly text: string;
  readonly leaf: number;
}

/** Texts that a model reads as such, in order. `source`: the document, which tells names of members from texts. */
export function textsOf(leaves: readonly Leaf[], source: string): readonly ReadText[] {
  const read: ReadText[] = [];
  let isRead = true;
  for (let index = 0; index < leaves.length; index += 1) {
    const { node, text, signed, inJson } = leaves[index]!;
    if (node.kind !== 'string' || signed || inJson) continue;
    if (isName(source, node.end)) isRead = isTextCalled(text);
    else if (isRead && !isUnseen(text)) read.push({ text, leaf: index });
  }
  return read;
}

/** The same of values in JSON within texts, such as arguments of tools. */
export function textsInJson(leaves: readonly Leaf[]): readonly ReadText[] {
  const read: ReadText[] = [];
  let isRead = true;
  for (let index = 0; index < leaves.length; index += 1) {
    const { node, text, signed, inJson } = leaves[index]!;
    if (inJson === undefined || signed || node.kind !== 'string') continue;
    if (inJson === 'name') isRead = isTextCalled(text);
    else if (isRead && !isUnseen(text)) read.push({ text, leaf: index });
  }
  return read;
}

function isTextCalled(name: string): boolean {
  return !FORMAT.has(name) && !name.endsWith('_id');
}

function isUnseen(text: string): boolean {
  return text.length <= LONGEST_UNSEEN && UNSEEN.test(text);
}

function isName(source: string, end: number): boolean {
  let at = end;
  while (source.charCodeAt(at) <= 32) at += 1;
  return source.charCodeAt(at) === 58;
}

/**
 * Where a text ends for who reads on behind it. `plain`: without the signs that readers pass by there, such as quotation
 * marks and brackets.
 */
export function endOf(text: string, plain: boolean): number {
  let end = text.length;
  const least = end - MOST_PASSED;
  while (end > 0 && end > least && (isBlank(text, end - 1) || (plain && isPassed(text, end - 1)))) end -= 1;
  if (plain && text.startsWith('...', end - 3)) return endOf(text.slice(0, end - 3).trimEnd(), false);
  return end;
}

/** Where a text begins. `plain`: without the signs that readers pass by there, such as the marker of a list item. */
export function beginOf(text: string, plain: boolean): number {
  const most = Math.min(text.length, MOST_PASSED);
  let at = 0;
  while (at < most) {
    if (isBlank(text, at)) at += 1;
    else if (!plain) break;
    else {
      const [marker] = MARKER.exec(text.slice(at, at + 4)) ?? [];
      if (marker !== undefined) at += marker.length;
      else if (isPassed(text, at)) at += 1;
      else break;
    }
  }
  return at;
}

/** Whether readers may pass by the signs that stand before `end`, where the text ends but for blanks. */
export function mayEndPassed(text: string, end: number): boolean {
  return end > 0 && (isPassed(text, end - 1) || text.startsWith('...', end - 3));
}

/** Whether readers may pass by the signs that stand at `from`, where the text begins but for blanks. */
export function mayBeginPassed(text: string, from: number): boolean {
  const code = text.charCodeAt(from);
  return from < text.length && (code === 46 || isDigit(code) || isPassed(text, from));
}

function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code <= 32 || (code > 127 && text.charAt(at).trim() === '');
}

function isPassed(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code < 128) return !isAlphanumeric(code) && code !== 64 && code !== 46 && code !== 43;
  return PASSED.test(text.charAt(at)) && (code & 0xf800) !== 0xd800;
}
