/** Shorter secrets occur in texts by chance, and are not looked for. */
const LEAST = 6;
const SHOWN = '[credential]';

/** So many of its characters are looked for first: few texts have them. */
const HEAD = 32;
/** So many are compared; of a longer secret, what follows and could be its rest is hidden too. */
const MOST_COMPARED = 2048;
const REST = String.raw`(?:[\w.~+/=%-]|\\[^"])*`;
/** Beginnings of secrets that do not go on so; after these the beginning alone is hidden, to bound the time. */
const MOST_ALIKE = 1000;

/** One way to spell a secret. */
interface Spelling {
  readonly head: RegExp;
  readonly whole: RegExp;
}

/** Finds one secret in answers, as it is written, in JSON and in addresses. */
export class SecretFilter {
  /** In texts, and in bytes, where each byte is a character. */
  readonly #inText: readonly Spelling[];
  readonly #inBytes: readonly Spelling[];

  constructor(secret: string | undefined) {
    const isLong = secret !== undefined && secret.length >= LEAST;
    const utf8 = Buffer.from(secret ?? '', 'utf8').toString('latin1');
    this.#inText = isLong ? spellingsOf(secret) : [];
    this.#inBytes = isLong ? [...this.#inText, ...(utf8 === secret ? [] : spellingsOf(utf8))] : [];
  }

  /** The text without the secret. */
  text(text: string): string {
    return this.#inText.reduce(without, text);
  }

  /** The bytes without the secret, whatever they are. */
  bytes(bytes: Buffer): Buffer {
    if (this.#inBytes.length === 0) return bytes;
    const whole = bytes.toString('latin1');
    const cleaned = this.#inBytes.reduce(without, whole);
    return cleaned === whole ? bytes : Buffer.from(cleaned, 'latin1');
  }
}

/** Takes a time that grows with the text alone, and with the secret. */
function without(text: string, { head, whole }: Spelling): string {
  const pieces: string[] = [];
  let at = 0;
  let alike = 0;
  head.lastIndex = 0;
  for (let found = head.exec(text); found; found = head.exec(text)) {
    whole.lastIndex = found.index;
    if (alike < MOST_ALIKE && !whole.test(text)) {
      alike += 1;
      head.lastIndex = found.index + 1;
      continue;
    }
    if (alike < MOST_ALIKE) head.lastIndex = whole.lastIndex;
    pieces.push(text.slice(at, found.index), SHOWN);
    at = head.lastIndex;
  }
  return at === 0 ? text : pieces.join('') + text.slice(at);
}

/** The spellings of one character begin differently, so that each text is matched in one way at most. */
function spellingsOf(secret: string): readonly Spelling[] {
  return [inJson, inAddress, literal].map((spell) => {
    const units = secret.slice(0, MOST_COMPARED).split('').map(spell);
    const rest = secret.length > MOST_COMPARED ? REST : '';
    return { head: new RegExp(units.slice(0, HEAD).join(''), 'g'), whole: new RegExp(units.join('') + rest, 'y') };
  });
}

const PLAIN = /^[A-Za-z0-9]$/;

function literal(unit: string): string {
  return PLAIN.test(unit) ? unit : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** A character as JSON may have it: as it is, behind a backslash, or by its number. */
function inJson(unit: string): string {
  const itself = literal(unit);
  if (PLAIN.test(unit)) return itself;
  const number = `\\\\u${anyCase(unit.charCodeAt(0).toString(16).padStart(4, '0'))}`;
  if (unit === '\\') return `(?:\\\\\\\\|${number})`;
  return unit === '/' || unit === '"' ? `(?:\\\\?${itself}|${number})` : `(?:${itself}|${number})`;
}

/** A character as addresses and forms may have it: as it is, or by its bytes. */
function inAddress(unit: string): string {
  const itself = literal(unit);
  if (PLAIN.test(unit)) return itself;
  const bytes = [...Buffer.from(unit, 'utf8')].map((byte) => `%${anyCase(byte.toString(16).padStart(2, '0'))}`);
  return unit === '%' ? bytes.join('') : `(?:${itself}|${bytes.join('')})`;
}

function anyCase(digits: string): string {
  return digits.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}
