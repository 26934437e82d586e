import { canonicalJson } from '#/wire/document/canonical-json.ts';

/** What the text of a row says about the columns that are kept beside it. */
export interface RowFacts {
  readonly callId: string;
  readonly strand: string;
  readonly sequence: number;
  /** RFC 3339. */
  readonly at: string;
  readonly organization: string;
  readonly workload: string;
  /** Nano-euro in decimal. */
  readonly cost: string;
  /** Whether the text is RFC 8785. */
  readonly canonical: boolean;
}

/** Reads a row's text; undefined when it is not JSON or lacks a member. */
export function readRowText(text: string): RowFacts | undefined {
  return readPlainRowText(text) ?? parseRowText(text);
}

/**
 * Reads a row as this gateway writes it, where what is read has no escapes: matched against its whole canonical layout,
 * which takes an eighth of the time of parsing and writing it again. Undefined for any other text.
 */
export function readPlainRowText(text: string): RowFacts | undefined {
  const match = LAYOUT.exec(text);
  if (!match || !inOrder(match[FINDINGS]!)) return undefined;
  return {
    at: match[1]!,
    callId: match[2]!,
    cost: match[3]!,
    organization: match[5]!,
    sequence: Number(match[6]),
    strand: match[7]!,
    workload: match[8]!,
    canonical: true,
  };
}

/** As readRowText, for any text. */
export function parseRowText(text: string): RowFacts | undefined {
  let row: Record<string, unknown>;
  let canonical: boolean;
  try {
    row = JSON.parse(text) as Record<string, unknown>;
    canonical = canonicalJson(row) === text;
  } catch {
    return undefined;
  }
  if (typeof row !== 'object' || row === null) return undefined;
  const { call_id: callId, strand, sequence, at, organization, workload, cost_nano_eur: cost } = row;
  const texts = [callId, strand, at, organization, workload, cost];
  if (!texts.every((value) => typeof value === 'string') || typeof sequence !== 'number') return undefined;
  return { callId, strand, sequence, at, organization, workload, cost, canonical } as RowFacts;
}

// Strings without escapes (nor surrogates, which might be lone), and whole numbers that a double holds exactly.
const CHARACTERS = String.raw`[^"\\\x00-\x1f\ud800-\udfff]*`;
// The escapes that RFC 8785 writes, but for those of rare control characters.
const TEXT = String.raw`"${CHARACTERS}(?:\\["\\nrtbf]${CHARACTERS})*"`;
const NUMBER = String.raw`(?:0|[1-9]\d{0,14})`;
const TEXT_OR_NULL = `(?:${TEXT}|null)`;
const TEXTS = String.raw`\[(?:${TEXT}(?:,${TEXT})*)?\]`;
const FINDING = `"[A-Z_][A-Z0-9_]*":${NUMBER}`;
const ATTEMPT = String.raw`\{"duration_ms":${NUMBER}(?:,"error":${TEXT})?(?:,"host":${TEXT})?(?:,"jurisdiction":${TEXT})?,"model":${TEXT},"provider":${TEXT}(?:,"sent":(?:true|false))?(?:,"status":${NUMBER})?\}`;
const BUCKETS =
  'cacheRead cacheReadAudio? cacheWrite1h cacheWrite5m input inputAudio? inputImage? output outputAudio? outputImage?';
// What may be missing is never last, so its comma is missing with it.
const USAGE = String.raw`\{${BUCKETS.split(' ').map(bucketForm).join('')}"reasoning":${NUMBER}\}`;
const UNIT_NAMES = ['calls', 'containers', 'fileSearches', 'images', 'pages', 'searches', 'seconds'];
// One or more in this order: a comma stands before each but the first.
const UNITS = String.raw`\{(?!,)${UNIT_NAMES.map((unit) => `(?:,?(?<=[{,])"${unit}":${NUMBER})?`).join('')}(?<!\{)\}`;

/**
 * Every member of an audit row in canonical order, with the form of its value, and whether rows may lack it. What is read
 * from it is in brackets.
 */
const MEMBERS: readonly (readonly [string, string, 'optional'?])[] = [
  ['at', `"(${CHARACTERS})"`],
  ['attempts', String.raw`\[(?:${ATTEMPT}(?:,${ATTEMPT})*)?\]`],
  ['cache_hit', TEXT],
  ['call_id', `"(${CHARACTERS})"`],
  ['code', TEXT_OR_NULL],
  ['config_revision', TEXT],
  ['cost_nano_eur', `"(${CHARACTERS})"`],
  [
    'dlp',
    String.raw`\{(?:"detectors":${TEXT},)?"findings":\{((?:${FINDING}(?:,${FINDING})*)?)\},"mode":${TEXT},"unscanned":${TEXTS}\}`,
  ],
  ['duration_ms', NUMBER],
  ['held_nano_eur', TEXT],
  ['jurisdiction', TEXT_OR_NULL],
  ['key', TEXT],
  ['losses', TEXTS],
  ['model', TEXT_OR_NULL],
  ['organization', `"(${CHARACTERS})"`],
  ['outcome', TEXT],
  ['price', TEXT_OR_NULL],
  ['provider', TEXT_OR_NULL],
  ['provider_model', TEXT_OR_NULL],
  ['provider_response_id', TEXT_OR_NULL],
  ['reason', TEXT_OR_NULL],
  ['route', TEXTS, 'optional'],
  ['scope', TEXT, 'optional'],
  ['sequence', `(${NUMBER})`],
  ['service_tier', TEXT, 'optional'],
  ['shadow', TEXTS, 'optional'],
  ['status', NUMBER],
  ['step', TEXT_OR_NULL],
  ['strand', `"(${CHARACTERS})"`],
  ['stream', '(?:true|false)'],
  ['surface', TEXT],
  ['tool_servers', TEXTS, 'optional'],
  ['units', UNITS, 'optional'],
  ['usage', `(?:${USAGE}|null)`],
  ['usage_source', TEXT_OR_NULL],
  ['v', NUMBER],
  ['wire_format', TEXT],
  ['workload', `"(${CHARACTERS})"`],
];
/** The form of a row as this gateway writes it. What may be missing is never last, so its comma is missing with it. */
export const LAYOUT = new RegExp(
  String.raw`^\{${MEMBERS.map(([name, form, optional], index) => {
    const member = `"${name}":${form}${index === MEMBERS.length - 1 ? '' : ','}`;
    return optional ? `(?:${member})?` : member;
  }).join('')}\}$`,
);

/** A bucket, or one that may be missing. */
function bucketForm(bucket: string): string {
  const name = bucket.replace('?', '');
  const form = `"${name}":${NUMBER},`;
  return name === bucket ? form : `(?:${form})?`;
}

/** Number of the bracket. */
const FINDINGS = 4;

/** Whether the names in the inside of a findings object are in order, each once. */
function inOrder(findings: string): boolean {
  let before = '';
  for (let at = 0; at < findings.length; at = findings.indexOf(',', at) + 1 || findings.length) {
    const name = findings.slice(at + 1, findings.indexOf('"', at + 1));
    if (name <= before) return false;
    before = name;
  }
  return true;
}
