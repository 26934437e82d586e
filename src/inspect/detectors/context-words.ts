/**
 * The words that identify a number, date or name near them, by kind: lower case, in the supported languages
 * (English, German, French, Spanish, Italian, Dutch, Polish, Portuguese) and those of the countries that know the kind.
 */
const WORDS = {
  // Any number of a taxpayer, and of a person, as fields and forms call it.
  taxpayer: /\b(?:fiscal|tax(?:payer)?)[ _-]{0,2}(?:id\b|identi\w*|code|number|nr|no\b)|\btax ?ids?\b|\btin\b/,
  identity:
    /\b(?:national|personal|citizen|social(?: ?security| insurance)?|identity|identification|identifier)[ _-]{0,2}(?:id\b|identi\w*|insurance|security|code|number|nr|no\b)|\bn(?:at(?:ional)?)?_?ids?\b|\bid[ -]?(?:number|nr|no|card)\b|ausweisn|personenkenn|identifikationsn|num[eé]ro (?:d'identit|national)|n[uú]mero de identi|numero identificativo|identificatienummer|numer identyfikacyjny|n[uú]mero de identifica/,
  nir: /s[eé]cu(?:rit[eé] sociale)?\b|\bnir\b|\binsee\b|\bnss\b|num_?secu/,
  dni: /\b[dn]\.?n?i\.?[ief]\b|\bdni\b|\bnie\b|\bnif\b|documento nacional|extranjero/,
  codice: /codice[ _]fiscale|cod\. ?fisc|\bc\.?f\.?\b/,
  nordic:
    /person(?:al)?[ _]?(?:nummer|nr|num|numero)|personbeteckning|person-?nr|samordningsnummer|\bpnr\b|\bcpr\b|f[øo]dselsn|\bfnr\b|d-nummer|hen?kil[öo]tunnus|\bhetu\b|sotu\b|kennitala|\bkt\b/,
  register: /rijksregister|registre national|nationalregister|\binsz\b|\bniss\b|\brrn\b|\bnn\b/,
  nuss: /seguridad[ _]social|\bnuss\b|\bnaf\b|n[uú]mero de afiliaci[oó]n|n\.?º? ?s\.s\./,
  niss: /\bniss\b|seguran[cç]a[ _]social/,
  pesel: /\bpesel/,
  baltic: /isikukood|asmens kod|personas kod|\bik\b/,
  latvian: /personas kod/,
  oib: /\boib\b/,
  amka: /\bamka\b|αμκα/,
  rodne: /rodn[eéaá]h?o? ?[cč][ií]sl|\br\. ?[cč]\.|\brc\b|birth number/,
  egn: /\begn\b|егн/,
  svnr: /\bsvnr|\bsv-?n|sozialversicherung|versicherungsn|\bvsnr/,
  nhs: /\bnhs\b|patient/,
  cnp: /\bcnp\b|cod numeric/,
  emso: /\bem[sš]o\b|\bjmbg\b|\bjmb\b/,
  ahv: /\bahv|\bavs\b|\bavs-?n/,
  matricule: /matricule/,
  bsn: /\bbsn\b|burgerservice|sofi-?n|\bpersoonsnummer/,
  szemelyi: /szem[eé]lyi[ _]?(?:azonos[ií]t|sz[aá]m)|szem[eé]lyazonos[ií]t[oó] jel|\bszem\. ?sz/,
  taj: /\btaj\b|taj-?sz[aá]m/,
  ssn: /\bssn|social[ _-]?security|\bitin\b|\bsocial\b/,
  nino: /\bnino\b|national[ _]insurance|\bni (?:number|no)/,
  ppsn: /\bpps\b|\bppsn?\b/,
  rvnr: /rentenversicherung|\brvnr|\bsvnr|sozialversicherung|versicherungsn/,
  kvnr: /krankenversich|versichertenn|\bkvnr|krankenkasse/,
  card: /ausweis(?!pflicht)|\bperso\b|carte (?:nationale )?d.identit|\bcni\b|carta d.identit|\bcie\b|identiteitskaart|\bid[ -]?kaart|identity card|\bid card|cart[aã]o (?:de|do) cidad|\bbilhete de identidade|dow[oó]d|tarjeta de identidad|\bseria\b/,
  // Tax numbers.
  tax: /\btax\b|\btic\b/,
  vat: /\bvat\b|\bust|\buid\b|\btva\b|\biva\b|\bbtw\b|\bmwst|\bmva\b|\bmoms|\bdph\b|\bdi[cč]\b|\bcif\b|\balv\b/,
  steuer: /steuer[ -]?(?:id|identifikation|liche)|\bidnr|\bid-?nr|\btin\b|steuern/,
  steuernummer: /steuern(?:ummer|r)|\bst\.? ?-?nr|abgabenkonto/,
  fiscal: /num[eé]ro fiscal|\bspi\b|fiscal/,
  siren: /\bsire[nt]\b|\brcs\b/,
  iva: /partita iva|p\. ?iva|\bpiva\b|codice fiscale|\biva\b/,
  nip: /\bnip\b|regon/,
  nif: /\bnif\b|\bnipc\b|\bcif\b|contribuinte|n[uú]mero fiscal|identifica[cç][aã]o fiscal/,
  afm: /\bafm\b|αφμ/,
  utr: /\butr\b|unique taxpayer|tax reference/,
  ein: /\bein\b|\bfein\b|employer id/,
  ado: /ad[oó]sz[aá]m|ad[oó]azonos/,
  sortCode: /sort[ -]?code|\bs\/c\b/,
  account: /account|\ba\/c\b|\bacct|konto|\bconto\b|\bc\/c\b|compte/,
  slashed: /account|konto|(?:^|[\s"(.:])[uú][cč]e?t|č\. ?ú\.|\bc\. ?u\./,
  // Accounts with check digits of their own.
  bank: /account|\ba\/c\b|\bacct|konto|\bkto\b|bankverbindung|rachun(?:ek|k)|\bnrb\b|cuenta|\bccc\b|\bc\/c\b|compte|\brib\b|identit[eé] bancaire|rekening|\bconto\b|\bconta\b|\bnib\b|sz[aá]mlasz[aá]m|banksz[aá]ml|\bbban\b/,
  routing: /routing|\baba\b|\brtn\b|transit/,
  // What runs of digits are otherwise.
  reference:
    /order|invoice|\bref|ticket|\bcase\b|serial|\bsku\b|\bpart\b|tracking|parcel|customer (?:no|id|number)|bestell|rechnung|auftrag|kunden|sendung|vorgang|akten|\baz\b|artikel|vertrag|commande|facture|r[eé]f[eé]rence|dossier|colis|pedido|factura|expediente|ordine|fattura|pratica|encomenda|fatura|processo|zam[oó]wieni|faktur|factuur|zaak|\bisbn|\bissn|\bean\b|\bgtin|\bversion|\bbuild|tilaus|objedn|comanda|comand[aă]|\bordre|best[aä]ll|error\b|fehler\b/,
} satisfies Readonly<Record<string, RegExp>>;

/** A kind that words of this table tell: those that several detectors or kinds of numbers share. */
export type WordKind = keyof typeof WORDS;

type Language = 'cs' | 'da' | 'de' | 'en' | 'es' | 'fi' | 'fr' | 'hu' | 'it' | 'nl' | 'pl' | 'pt' | 'ro' | 'sv';

/** Words of one detector by language, lower case and linear: its file has them. Danish words are Norwegian, too. */
export type WordsByLanguage = Readonly<Partial<Record<Language, RegExp>>>;

/** How far a word may stand from what it tells. */
const REACH = 40;

/** Says whether words near a range tell what it is. Each function reads at most 40 characters to a side, of columns 200. */
export interface ContextWords {
  /** Whether the nearest word before `at` that says anything says so; `close` when no number may stand between. */
  isBefore(text: string, at: number, close?: boolean): boolean;
  /** Whether a word follows, with neither a sentence nor another number between. */
  isAfter(text: string, end: number): boolean;
  /** Whether the value at `at` of an SQL `INSERT` goes to a column of that name; undefined for other text. */
  isColumn(text: string, at: number): boolean | undefined;
}

/** The words of these kinds together; built once, when a detector is loaded. */
export function contextWords(...kinds: readonly (WordKind | WordsByLanguage)[]): ContextWords {
  const source = kinds.map(wordsOf).join('|');
  const any = new RegExp(source);
  const all = new RegExp(source, 'g');
  return {
    isBefore(text, at, close = false): boolean {
      const before = text.slice(Math.max(0, at - REACH), at).toLowerCase();
      if (!any.test(before)) return false;
      const told = lastMatch(all, before);
      return lastMatch(REFERENCES, before) <= told && !(close && DIGIT.test(before.slice(told)));
    },
    isAfter(text, end): boolean {
      const next = text.charCodeAt(end);
      if (next !== 32 && next !== 34 && next !== 39 && next !== 41) return false;
      let clause = end;
      while (clause < end + REACH && !endsClause(text.charCodeAt(clause))) clause += 1;
      return clause - end > 3 && any.test(text.slice(end, clause).toLowerCase());
    },
    isColumn(text, at): boolean | undefined {
      const column = columnOf(text, at);
      return column === '' ? undefined : any.test(column);
    },
  };
}

/** Whether the name of its column, or a word before or after it with no number between, tells a number. */
export function hasContextWord(words: ContextWords, text: string, start: number, end: number): boolean {
  return words.isColumn(text, start) ?? (words.isBefore(text, start, true) || words.isAfter(text, end));
}

function wordsOf(kind: WordKind | WordsByLanguage): string {
  if (typeof kind === 'string') return WORDS[kind].source;
  return Object.values(kind)
    .map(({ source }) => source)
    .join('|');
}

const REFERENCES = new RegExp(WORDS.reference.source, 'g');
const DIGIT = /\d/;

/** Where the last match ends, or -1. */
function lastMatch(pattern: RegExp, text: string): number {
  let last = -1;
  pattern.lastIndex = 0;
  while (pattern.test(text)) last = pattern.lastIndex;
  return last;
}

/** A full stop, comma, semicolon, line break or digit, or the end of the text. */
function endsClause(code: number): boolean {
  return code === 46 || code === 44 || code === 59 || code === 10 || !(code < 48 || code > 57);
}

/** How far back a list of columns may begin. */
const COLUMNS_REACH = 200;
const COLUMNS = /\(([\w\s,."`]{3,150})\)\s{0,4}values\s{0,4}\(([^()]*)$/;

/** The name of the column that a value goes to, in lower case; empty where it is in none. */
function columnOf(text: string, at: number): string {
  if (!mayBeValue(text, at)) return '';
  const before = text.slice(Math.max(0, at - COLUMNS_REACH), at).toLowerCase();
  if (!before.includes('values')) return '';
  const match = COLUMNS.exec(before);
  if (match === null) return '';
  const place = (match[2] as string).replace(/'[^']*'/g, '').split(',').length - 1;
  return ((match[1] as string).split(',')[place] ?? '').trim();
}

/** Whether a quote, bracket or comma stands before it. */
function mayBeValue(text: string, at: number): boolean {
  const before = text.charCodeAt(text.charCodeAt(at - 1) === 32 ? at - 2 : at - 1);
  return before === 39 || before === 40 || before === 44;
}
