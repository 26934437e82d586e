import { randomFor, type Random } from '../../harness/random.ts';
import { WRITTEN_TEXTS, type WrittenText } from '../../harness/written-texts.ts';
import { ascii, FACTS, nextPerson, type Fact, type Language, type Person } from './people.ts';

/** Somebody's data in one place of a document and nowhere else in it. */
export interface Planted {
  /** Such as `comment's author`. */
  readonly place: string;
  readonly name: string;
  readonly fact: Fact;
  readonly value: string;
}

/** A document that was made up, and what must not be found in it once it is anonymized. */
export interface CorpusDocument {
  /** `LEAK_FROM` begins with it. */
  readonly number: number;
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  readonly language: Language;
  readonly planted: readonly Planted[];
  /** Who stands in several places that a reader sees: each time under the same tag. */
  readonly known: { readonly person: Person; readonly times: number; readonly spellings: readonly string[] };
  /** Words that are nobody's, as a reader sees them. */
  readonly words: readonly string[];
  /** Whether its text is in pictures: then it has to be recognized first. */
  readonly scanned: boolean;
  /** Whether each of its pages can be rewritten: then none may become a picture. */
  readonly stays?: true;
}

const SENTENCES: Readonly<Record<Language, (name: string, fact: string) => string>> = {
  eng: (name, fact) => `Please write to ${name}, ${fact}, before Friday.`,
  deu: (name, fact) => `Bitte bis Freitag an ${name}, ${fact}, schreiben.`,
  fra: (name, fact) => `Veuillez écrire à ${name}, ${fact}, avant vendredi.`,
  spa: (name, fact) => `Escriba por favor a ${name}, ${fact}, antes del viernes.`,
  ita: (name, fact) => `Scrivere per favore a ${name}, ${fact}, entro venerdì.`,
  nld: (name, fact) => `Schrijf alstublieft aan ${name}, ${fact}, voor vrijdag.`,
  pol: (name, fact) => `Proszę napisać do ${name}, ${fact}, przed piątkiem.`,
  por: (name, fact) => `Escreva por favor a ${name}, ${fact}, antes de sexta-feira.`,
};

const LABELS: Readonly<Record<Fact, string>> = { email: 'E-mail', iban: 'IBAN', phone: 'Tel.', card: 'Visa', ip: 'IP' };

/** Makes up what is personal in a document and remembers where it was put. */
export class Planting {
  readonly language: Language;
  readonly random: Random;
  readonly text: WrittenText;
  readonly planted: Planted[] = [];
  readonly #taken = new Set<string>();
  readonly #known: Person;
  readonly #number: number;
  #times = 0;

  constructor(language: Language, number: number) {
    this.language = language;
    this.random = randomFor(number, language);
    this.#number = number;
    const text = WRITTEN_TEXTS.find((written) => written.language === language);
    if (!text) throw new Error(`nothing is written in ${language}`);
    this.text = text;
    this.#known = this.#next();
  }

  /** A sentence about somebody who is in this place only. */
  sentence(place: string): string {
    const { name, fact, value } = this.#plant(place);
    return SENTENCES[this.language](name, `${LABELS[fact]} ${value}`);
  }

  /** The same without a sentence around it, for places that hold little. */
  entry(place: string): string {
    const { name, fact, value } = this.#plant(place);
    return `${name} ${LABELS[fact]} ${value}`;
  }

  /** Somebody's name alone. */
  name(place: string): string {
    return this.#plant(place, 'name').name;
  }

  /** Somebody's address of mail alone: no name goes with it. */
  email(place: string): string {
    return this.#plant(place, 'email').value;
  }

  /** A sentence with somebody who comes again and again; how the name is spelled differs. */
  again(): string {
    const { name, iban } = this.#known;
    const spellings = spellingsOf(name);
    const spelling = spellings[(this.#number + this.#times++) % spellings.length] ?? name;
    const said = spelling.includes(' ') ? spelling : `${TITLES[this.language]} ${spelling}`;
    const owner = spelling === name ? (OWNERS[this.language] ?? '') : '';
    return SENTENCES[this.language](`${said}${owner}`, `IBAN ${iban}`);
  }

  /** Everything about the document but its bytes. `shown`: what else a reader sees in it. */
  done(shown: readonly string[]): Pick<CorpusDocument, 'number' | 'language' | 'planted' | 'known' | 'words'> {
    const words = shown.join(' ').match(/\p{L}{4,}/gu) ?? [];
    const { language, planted } = this;
    const spellings = spellingsOf(this.#known.name);
    return {
      number: this.#number,
      language,
      planted,
      words,
      known: { person: this.#known, times: this.#times, spellings },
    };
  }

  #plant(place: string, only?: 'name' | 'email'): Planted {
    const person = this.#next();
    const fact = only === 'email' ? 'email' : this.random.pick(FACTS);
    const planted = {
      place,
      name: only === 'email' ? '' : person.name,
      fact,
      value: only === 'name' ? '' : person[fact],
    };
    this.planted.push(planted);
    return planted;
  }

  #next(): Person {
    return nextPerson(this.language, this.random, this.#taken);
  }
}

const TITLES: Readonly<Record<Language, string>> = {
  eng: 'Mr',
  deu: 'Herrn',
  fra: 'Mme',
  spa: 'Sra.',
  ita: 'sig.',
  nld: 'dhr.',
  pol: 'Pana',
  por: 'Sr.',
};

/** What a language puts behind somebody's name where something is his. */
const OWNERS: Readonly<Partial<Record<Language, string>>> = { eng: '’s', deu: 's', nld: 's', pol: 'a' };

/** Ways to tell of one person, of which each has the family's name. */
function spellingsOf(name: string): readonly [string, ...string[]] {
  const [first = '', family = ''] = name.split(' ');
  return [
    name,
    name.toUpperCase(),
    name.replace(' ', '  '),
    `${family}, ${first}`,
    family,
    ascii(name),
    `${first.slice(0, 1)}. ${family}`,
    twoLetters(name),
    `${family.toUpperCase()} ${first}`,
  ];
}

/** With umlauts as those write them who have no key for them. */
export function twoLetters(name: string): string {
  return name.replace(/[äöü]/gi, (letter) => `${ascii(letter)}e`);
}
