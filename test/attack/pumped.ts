import { parseRegExpLiteral, type AST } from '@eslint-community/regexpp';

/** A text that makes much work for a pattern that is not linear: `before`, `pump` many times, `after`. */
export interface Attack {
  readonly before: string;
  readonly pump: string;
  readonly after: string;
}

/** Where a stretch without a bound, or with a wide one, may be run over again and again. */
const WIDE = 64;
const ENDINGS = ['', '\u0001', '!', 'x', ' ', '\n'];
const MOST_PUMPS = 12;

/** Attacks made of a pattern's own pieces: what each of its repeated pieces takes, many times, with what leads up to it. */
export function attacksOn(pattern: RegExp): readonly Attack[] {
  const { pattern: root } = parseRegExpLiteral(pattern);
  const pumps = new Map<string, string>();
  const visit = (node: AST.Node, before: string): void => {
    if (node.type === 'Quantifier') {
      const one = sampleOf(node.element);
      if (node.max > WIDE && one !== '') for (const pump of [one, ...othersOf(node.element)]) note(pump, before);
      visit(node.element, before);
    } else if (node.type === 'Alternative') {
      let led = before;
      for (const element of node.elements) {
        visit(element, led);
        led += sampleOf(element);
      }
    } else if ('alternatives' in node) for (const one of node.alternatives) visit(one, before);
  };
  const note = (pump: string, before: string): void => {
    if (pumps.size < MOST_PUMPS && !pumps.has(pump)) pumps.set(pump, before);
  };
  for (const alternative of root.alternatives) visit(alternative, '');
  // The whole, cut short: a search that fails at its end begins again at each of its beginnings.
  for (const { elements } of root.alternatives) {
    const whole = elements.slice(0, -1).map(sampleOf).join('');
    if (whole !== '') note(whole, '');
  }
  return [...pumps].flatMap(([pump, before]) =>
    [...new Set([before, ''])].flatMap((start) => ENDINGS.map((after) => ({ before: start, pump, after }))),
  );
}

/** A short text that a piece of a pattern takes. */
function sampleOf(node: AST.Element | AST.Alternative): string {
  switch (node.type) {
    case 'Character':
      return String.fromCodePoint(node.value);
    case 'CharacterSet':
    case 'CharacterClass':
    case 'ExpressionCharacterClass':
      return charactersOf(node)[0] ?? '';
    case 'Quantifier':
      return sampleOf(node.element).repeat(Math.max(node.min, node.max === 0 ? 0 : Math.min(1, node.max)));
    case 'Group':
    case 'CapturingGroup':
      return node.alternatives[0] ? sampleOf(node.alternatives[0]) : '';
    case 'Alternative':
      return node.elements.map(sampleOf).join('');
    default:
      return '';
  }
}

/** Other texts that a repeated piece takes: what a class has beside its first, and each alternative of a group. */
function othersOf(node: AST.Element): readonly string[] {
  if (node.type === 'Group' || node.type === 'CapturingGroup') return node.alternatives.map(sampleOf).filter(Boolean);
  return charactersOf(node).slice(1, 4);
}

const CANDIDATES = Array.from(
  ' \tax0A-_.,:;/\\\'"<>()[]{}@#%&=+*|!?~`^$\n\r\u0300\u00a0éÉßŁ漢あ٣’–—«»\u200b\ud83d\ude00',
);

/** Characters of each kind that a class takes. */
function charactersOf(node: AST.Node): readonly string[] {
  if (node.type === 'Character') return [String.fromCodePoint(node.value)];
  if (node.type !== 'CharacterSet' && node.type !== 'CharacterClass' && node.type !== 'ExpressionCharacterClass')
    return [];
  const flags = /v/.test(flagsOf(node)) ? 'v' : 'u';
  const whole = tryPattern(`^(?:${node.raw})$`, `${flags}s`) ?? tryPattern(`^(?:${node.raw})$`, 's');
  const found = CANDIDATES.filter((one) => whole?.test(one));
  if (found.length > 0 || node.type !== 'CharacterClass') return found;
  return node.elements.flatMap((one) => {
    if (one.type === 'Character') return [String.fromCodePoint(one.value)];
    return one.type === 'CharacterClassRange' ? [String.fromCodePoint(one.min.value)] : [];
  });
}

function flagsOf(node: AST.Node): string {
  let top: AST.Node = node;
  while (top.parent) top = top.parent;
  return top.type === 'RegExpLiteral' ? top.flags.raw : '';
}

function tryPattern(source: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(source, flags);
  } catch {
    return undefined;
  }
}

/** Sizes that a pattern is tried with: small ones first, since the work of one may grow without measure. */
const TINY_MS = 10;
const TINY = [12, 16, 20, 22, 24, 26, 28, 30, 32];
const SIZES = [64, 256, 1024, 4096];
/** Less than this for a few thousand characters is linear, or harmless. */
const SHORT_MS = 3;
const LARGE = 4096;
/** Four times the text takes four times as long; sixteen times where it is quadratic. */
const MOST_GROWTH = 9;

/** How much longer a pattern works on four times the text, where that is more than its share; undefined: it is linear. */
export function growthUnder(attack: Attack, pattern: RegExp): number | undefined {
  // So few characters take no hundredth of a second, but where each of them doubles the work.
  for (const size of TINY) if (leastTime(attack, pattern, size, TINY_MS) > TINY_MS) return Infinity;
  let took = 0;
  for (const size of SIZES) {
    took = leastTime(attack, pattern, size, SHORT_MS);
    if (took > SHORT_MS * 20) return Infinity;
  }
  if (took < SHORT_MS) return undefined;
  let least = Infinity;
  for (const size of [LARGE, LARGE * 2, LARGE * 4]) {
    const many = leastTime(attack, pattern, size, Infinity);
    least = Math.min(least, many / leastTime(attack, pattern, size / 4, Infinity));
    if (least <= MOST_GROWTH) return undefined;
  }
  return least;
}

/** The shortest of a few runs, or the first below `enough`. */
function leastTime({ before, pump, after }: Attack, pattern: RegExp, size: number, enough: number): number {
  const text = `${before}${pump.repeat(Math.ceil(size / pump.length))}${after}`;
  let least = Infinity;
  for (let run = 0; run < 3 && !(least < enough && enough !== Infinity); run++) {
    const start = performance.now();
    search(pattern, text);
    least = Math.min(least, performance.now() - start);
  }
  return least;
}

/** As the pattern is used: to the end of the text where it is global. */
function search(pattern: RegExp, text: string): void {
  pattern.lastIndex = 0;
  if (!pattern.global) return void pattern.test(text);
  // A loop of one's own: an empty match at the same place goes on with the next character.
  for (let at = 0; pattern.test(text); at = pattern.lastIndex) if (pattern.lastIndex === at) pattern.lastIndex += 1;
}
