import { DocumentFault, type Replacement, type TextUnit } from '#/ports/documents.ts';

/** A place in a document that holds text and can be given another: a run, an attribute, a cell. */
export interface Slot {
  text: string;
}

/** A unit of text and the slots it is spread over, in order: their texts, one after the other, are the unit's. */
export interface SlottedUnit {
  readonly slots: readonly Slot[];
  readonly visibility: TextUnit['visibility'];
  readonly page?: number;
  readonly identifier?: TextUnit['identifier'];
}

/** Something that stands between slots and is read as `text`, such as a tab. It stays. */
export function fixedSlot(text: string): Slot {
  return Object.freeze({
    get text() {
      return text;
    },
    set text(_) {
      // A gap within a name is left as a gap.
    },
  });
}

/** Shown units first, each in the order it was found; an identifier is the place in this order. */
export function inOrder(units: readonly SlottedUnit[]): readonly SlottedUnit[] {
  const told = units.filter(({ slots }) => slots.some(({ text }) => text.trim() !== ''));
  return [
    ...told.filter((unit) => unit.visibility === 'shown'),
    ...told.filter((unit) => unit.visibility === 'hidden'),
  ];
}

/** Units as the port tells them, of what `inOrder` gave. */
export function toTextUnits(units: readonly SlottedUnit[]): readonly TextUnit[] {
  return units.map(({ slots, visibility, page, identifier }, index) => ({
    id: String(index),
    text: textOf(slots),
    visibility,
    ...(page !== undefined && { page }),
    ...(identifier && { identifier }),
  }));
}

/** What `redact` checks the document against: a document that was not read has other units. */
export function layoutOf(units: readonly SlottedUnit[]): string {
  return JSON.stringify({ units: units.length });
}

/** Throws `unreadable` when a layout is not that of these units. */
export function checkLayout(layout: string, units: readonly SlottedUnit[]): void {
  if (layout !== layoutOf(units)) throw foreign();
}

/** Puts tags in the places of originals. Throws `unreadable` for a unit or a span that is not there. */
export function replaceIn(units: readonly SlottedUnit[], replacements: readonly Replacement[]): void {
  for (const [id, spans] of Map.groupBy(replacements, ({ unit }) => unit)) {
    const unit = /^\d+$/.test(id) ? units[Number(id)] : undefined;
    if (!unit) throw foreign();
    const { length } = textOf(unit.slots);
    if (spans.some(({ start, end }) => start >= end || end > length)) throw foreign();
    replaceSpans(unit.slots, spans);
  }
}

/** Where text goes away and what takes its place. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly tag: string;
}

/**
 * Replaces spans of the text that slots make up together: each tag is put where its span begins, and what else the span
 * covers goes. Where spans overlap, the one that begins first takes what both cover.
 */
export function replaceSpans(slots: readonly Slot[], spans: readonly Span[]): void {
  const sorted = withoutOverlap(spans);
  let at = 0;
  let first = 0;
  for (const slot of slots) {
    const { text } = slot;
    const end = at + text.length;
    while (first < sorted.length && (sorted[first]?.end ?? 0) <= at) first++;
    let out = '';
    let done = at;
    for (let index = first; index < sorted.length; index++) {
      const span = sorted[index];
      if (!span || span.start >= end) break;
      out += text.slice(done - at, Math.max(done, span.start) - at);
      if (span.start >= at) out += span.tag;
      done = Math.min(end, span.end);
    }
    if (done > at) slot.text = out + text.slice(done - at);
    at = end;
  }
}

function withoutOverlap(spans: readonly Span[]): readonly Span[] {
  const kept: Span[] = [];
  let last = 0;
  for (const span of spans.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (span.end <= last) continue;
    kept.push({ ...span, start: Math.max(last, span.start) });
    last = span.end;
  }
  return kept;
}

/** The text that slots make up together. */
export function textOf(slots: readonly Slot[]): string {
  return slots.map(({ text }) => text).join('');
}

function foreign(): DocumentFault {
  return new DocumentFault('unreadable', 'the layout does not belong to this document');
}
