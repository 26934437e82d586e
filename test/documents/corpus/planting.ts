import { randomFor, type Random } from '../../harness/random.ts';
import { WRITTEN_TEXTS, type WrittenText } from '../../harness/written-texts.ts';
import { FACTS, nextPerson, type Fact, type Language, type Person } from './people.ts';

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
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  readonly language: Language;
  readonly planted: readonly Planted[];
  /** Who stands in several places that a reader sees: each time under the same tag. */
  readonly known: { readonly person: Person; readonly times: number };
  /** Words that are nobody's, as a reader sees them. */
  readonly words: readonly string[];
  /** Whether its text is in pictures: then it has to be recognized first. */
  readonly scanned: boolean;
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
  #times = 0;

  constructor(language: Language, seed: number) {
    this.language = language;
    this.random = randomFor(seed, language);
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

  /** A sentence with somebody who comes again and again; how the name is spaced and capitalized differs. */
  again(): string {
    const { name, iban } = this.#known;
    const spellings = [name, name.toUpperCase(), name.replace(' ', '  ')];
    const spelling = spellings[this.#times % spellings.length] ?? name;
    this.#times++;
    return SENTENCES[this.language](spelling, `IBAN ${iban}`);
  }

  /** Everything about the document but its bytes. `shown`: what else a reader sees in it. */
  done(shown: readonly string[]): Pick<CorpusDocument, 'language' | 'planted' | 'known' | 'words'> {
    const words = shown.join(' ').match(/\p{L}{4,}/gu) ?? [];
    const { language, planted } = this;
    return { language, planted, words, known: { person: this.#known, times: this.#times } };
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
