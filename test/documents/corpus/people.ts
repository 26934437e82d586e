import type { Random } from '../../harness/random.ts';

/** Languages that documents are written in, as text recognition calls them. */
export const LANGUAGES = ['eng', 'deu', 'fra', 'spa', 'ita', 'nld', 'pol', 'por'] as const;
export type Language = (typeof LANGUAGES)[number];

/** What is personal beside a name, each with the check digits it must have. */
export const FACTS = ['email', 'iban', 'phone', 'card', 'ip'] as const;
export type Fact = (typeof FACTS)[number];

/** Somebody who is nowhere but in one document. */
export interface Person extends Readonly<Record<Fact, string>> {
  readonly name: string;
}

type Some = readonly [string, ...string[]];
type Names = Readonly<Record<'first' | 'heads' | 'tails', Some>>;

/** First names, and what surnames are made of: letters of the language, and no word of it. */
const NAMES: Readonly<Record<Language, Names>> = {
  eng: {
    first: ['Oswin', 'Tabitha', 'Percival', 'Winifred', 'Barnaby'],
    heads: ['Quen', 'Thrax', 'Wobb', 'Skelm', 'Grimb'],
    tails: ['lethwaite', 'erstock', 'ingdale', 'ovington'],
  },
  deu: {
    first: ['Jürgen', 'Käthe', 'Götz', 'Änne', 'Rüdiger'],
    heads: ['Grüß', 'Quöll', 'Zwie', 'Schnä', 'Pflüg'],
    tails: ['mannstedt', 'enröder', 'elhuber', 'önning'],
  },
  fra: {
    first: ['Hélène', 'François', 'Zoé', 'Gaël', 'Noëlle'],
    heads: ['Quéz', 'Brég', 'Thiérv', 'Vauç', 'Gloëz'],
    tails: ['elmontier', 'ouargues', 'ignacourt', 'evillard'],
  },
  spa: {
    first: ['Íñigo', 'Begoña', 'José', 'Ángela', 'Martín'],
    heads: ['Zuñ', 'Quír', 'Echév', 'Gorr', 'Ibáñ'],
    tails: ['igaray', 'ezarreta', 'elbaina', 'oyuelos'],
  },
  ita: {
    first: ['Niccolò', 'Eleonora', 'Giosuè', 'Mariù', 'Ludovico'],
    heads: ['Sgràv', 'Quagl', 'Zampògn', 'Brugn', 'Scèv'],
    tails: ['erolli', 'iardini', 'etassi', 'uccinelli'],
  },
  nld: {
    first: ['Daniël', 'Maaike', 'Joëlle', 'Wouter', 'Sjoerd'],
    heads: ['Kwïst', 'Schoën', 'Vlug', 'Zwijn', 'Grijp'],
    tails: ['enhorst', 'elbroek', 'ersluis', 'inghuizen'],
  },
  pol: {
    first: ['Łukasz', 'Zofia', 'Świętopełk', 'Bożena', 'Michał'],
    heads: ['Wiśń', 'Grzęb', 'Żółc', 'Krzyż', 'Ślęz'],
    tails: ['iewiczka', 'owszczak', 'elańska', 'ędrowski'],
  },
  por: {
    first: ['João', 'Conceição', 'Inês', 'Luís', 'Assunção'],
    heads: ['Quint', 'Gonçá', 'Falcã', 'Brandã', 'Sampã'],
    tails: ['elhosa', 'ergueira', 'ovaldes', 'irinhães'],
  },
};

/** Where accounts and telephones are: a pattern of a number in which `#` is a digit and letters are themselves. */
const PLACES: Readonly<
  Record<Language, { readonly account: string; readonly phone: string; readonly domain: string }>
> = {
  eng: { account: 'GBNWBK##############', phone: '+44 20 7946 0###', domain: 'post.example.co.uk' },
  deu: { account: 'DE##################', phone: '+49 30 9018####', domain: 'post.example.de' },
  fra: { account: 'FR#######################', phone: '+33 1 42 ## ## ##', domain: 'courriel.example.fr' },
  spa: { account: 'ES####################', phone: '+34 91 4## ## ##', domain: 'correo.example.es' },
  ita: { account: 'ITX######################', phone: '+39 06 69## ####', domain: 'posta.example.it' },
  nld: { account: 'NLABNA##########', phone: '+31 20 5## ####', domain: 'post.example.nl' },
  pol: { account: 'PL########################', phone: '+48 22 6## ## ##', domain: 'poczta.example.pl' },
  por: { account: 'PT#####################', phone: '+351 21 3## ####', domain: 'correio.example.pt' },
};

/** The next person that speaks a language; `taken` keeps surnames from coming twice. */
export function nextPerson(language: Language, random: Random, taken: Set<string>): Person {
  const { first, heads, tails } = NAMES[language];
  for (;;) {
    const surname = `${random.pick(heads)}${random.pick(SYLLABLES)}${random.pick(tails)}`;
    if (taken.has(surname)) continue;
    taken.add(surname);
    const { account, phone, domain } = PLACES[language];
    const filled = (pattern: string): string => pattern.replace(/#/g, () => String(random.whole(0, 9)));
    return {
      name: `${random.pick(first)} ${surname}`,
      email: `${plain(surname)}${random.whole(10, 99)}@${domain}`,
      iban: withCheckDigits(filled(account)),
      phone: filled(phone),
      card: withLuhnDigit(filled('4##############')),
      ip: `81.${[0, 0, 0].map(() => random.whole(20, 219)).join('.')}`,
    };
  }
}

const SYLLABLES: Some = ['abe', 'odu', 'ifo', 'uka', 'eme', 'avo', 'ozi', 'ude', 'ily', 'oga'];

function plain(name: string): string {
  return name.normalize('NFKD').replace(/\p{M}/gu, '').replace(/[łŁ]/g, 'l').replace(/ß/g, 'ss').toLowerCase();
}

/** An account without its check digits, and with them, in groups of four. // ISO 13616 */
function withCheckDigits(account: string): string {
  const moved = `${account.slice(2)}${account.slice(0, 2)}00`;
  const digits = moved.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  const check = String(98n - (BigInt(digits) % 97n)).padStart(2, '0');
  return `${account.slice(0, 2)}${check}${account.slice(2)}`.replace(/(.{4})(?=.)/g, '$1 ');
}

/** A card number with its last digit, in groups of four. // ISO 7812, Luhn */
function withLuhnDigit(digits: string): string {
  let sum = 0;
  for (const [at, digit] of digits.split('').toReversed().entries()) {
    const doubled = Number(digit) * (at % 2 === 0 ? 2 : 1);
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return `${digits}${(10 - (sum % 10)) % 10}`.replace(/(.{4})(?=.)/g, '$1 ');
}

/** Letters that metadata of old may hold. */
export function ascii(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[łŁ]/g, 'l')
    .replace(/ß/g, 'ss')
    .replace(/[^\x20-\x7e]/g, '');
}
