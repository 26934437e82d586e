import type { Line } from '../page/page.ts';

/** Short words that most sentences of a language have, without their signs: recognizers of other languages lose those. */
const WORDS: Readonly<Record<string, string>> = {
  eng: 'the of and to in is that for was it with as his he on be at by had not are but from or have an they which you were her she there been their has would what will all when who so if no said my up out about into than them can only some could these two may then do first any now such like our over even most after also did many must before back through where how your well down should because each just those people mr too good very here more under between',
  deu: 'der die und in den von zu das mit sich des auf fur ist im dem nicht ein eine als auch es an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem uber einen so zum war haben nur oder aber vor zur bis mehr durch man sein wurde wenn ich sehr kann gegen vom schon ihre wir unter diese seit zwei jahre ohne mussen konnen soll etwa dann ihr keine dieser zwischen immer wieder gibt ihm waren bitte strasse herr frau datum nummer rechnung betrag',
  fra: "de la le les et des en un du une est que dans qui par pour au sur ne pas plus ce il avec sont sa se ou son aux ont cette mais comme nous deux elle ses leur ete fait etre meme tout aussi bien sans on vous peut ces lui tres si dont ans leurs entre y apres encore autres avant ainsi sous contre depuis celle c'est d'une d'un qu'il n'est rue madame monsieur facture numero montant",
  spa: 'de la que el en y los del se las un por con una su para es al lo como mas pero sus le ya o fue este ha si porque esta son entre cuando muy sin sobre ser tiene tambien hasta hay donde quien desde todo nos durante todos uno les ni contra otros ese eso habia ante ellos estos mucho era antes estaba dos asi cada menos nuevo anos calle senor factura fecha numero importe nada despues solo quienes',
  ita: "di e che la il un a per in una non sono da del si le con i ha come piu al della o lo nel anche dei ma gli ai alla se questo questa delle dal era essere hanno loro suo sua sul quando dopo nella anni stato due molto tutti solo prima ci perche fra tra cui dalla degli sulla cosi piu ancora ogni senza dove chi quello quella nell'ultimo l'altro dell'anno via signor fattura numero importo data gia qui fatto allo agli",
  nld: 'de het een van en in is dat op te zijn met voor niet aan er om ook als dan maar bij of uit nog naar door over ze zich hij was worden heeft wordt ik je die geen deze werd tot dit meer zou kan haar moet had hun al wel onder wat na zo veel jaar twee omdat wie zij hebben tegen kunnen waar toch mijn daar waren ons nu tussen alle sinds eerste straat heer mevrouw factuur bedrag datum nummer zal men langs',
  pol: 'i w na z sie do nie to jest ze o jak po co dla od za a przez przy oraz jego jej ale czy ich jako ktory ktora ktore tak tym tego ma byc sa juz tylko tej byl bylo byla pod mozna bedzie przed nad lub kiedy gdy ten ta te jeszcze bardzo jednak aby moze roku lat dwa ulica pan pani faktura kwota numer zeby nas nam wszystkich wiecej ponad poniewaz jesli tez miedzy bez gdzie ona oni',
  por: 'de a o que e do da em um para com nao uma os no se na por mais as dos como mas foi ao ele das tem seu sua ou ser quando muito ha nos ja esta eu tambem so pelo pela ate isso ela entre era depois sem mesmo aos ter seus quem nas me esse eles estao voce tinha foram essa num nem suas meu minha numa pelos pelas havia seja qual sera tenho lhe deles anos rua senhor fatura numero valor data onde agora todos',
};

/** Letters that few other languages have; each says as much as a word. */
const LETTERS: Readonly<Record<string, RegExp>> = {
  deu: /ß|ä(?!m\b)/gu,
  fra: /[œêû]|\b[ldjnscm]['’](?=[a-zéèê])/gu,
  spa: /[ñ¿¡]/gu,
  ita: /[ìò]|\b(?:dell|all|nell|sull|dall|un)['’]/gu,
  pol: /[łąęśżźćń]/gu,
  por: /[ãõ]/gu,
};

/** What one word tells of each language that has it: the less the more languages have it. */
const WEIGHTS = weigh();

/** Below this, and unless this much more than of any other, nothing is said. */
const LEAST = 2.5;
const LEAD = 1.4;
const LETTER_WEIGHT = 0.5;
const MOST_LETTERS = 6;
/** Blocks with fewer words say nothing of their own. */
const BLOCK_WORDS = 8;
/** Of a page's words: a second language with less is a quotation. */
const SECOND = 0.15;
/** A block that was read this surely was read in a language that has its letters. */
const SURE = 0.92;

function weigh(): ReadonlyMap<string, readonly (readonly [language: string, weight: number])[]> {
  const having = new Map<string, string[]>();
  for (const [language, words] of Object.entries(WORDS)) {
    for (const word of new Set(words.split(' '))) having.set(word, [...(having.get(word) ?? []), language]);
  }
  return new Map(
    [...having].map(([word, languages]) => [word, languages.map((one) => [one, 1 / languages.length ** 1.5] as const)]),
  );
}

/** The language that a text is written in, ISO 639-3, by its most frequent words and its letters; undefined: not to tell. */
export function languageOf(text: string): string | undefined {
  const low = text.toLowerCase();
  const scores = new Map<string, number>();
  const add = (language: string, score: number): void => {
    scores.set(language, (scores.get(language) ?? 0) + score);
  };
  for (const word of folded(low).match(/[a-z]+(?:['’][a-z]+)?/g) ?? []) {
    for (const [language, weight] of WEIGHTS.get(word) ?? []) add(language, weight);
  }
  for (const [language, letters] of Object.entries(LETTERS))
    add(language, LETTER_WEIGHT * Math.min(MOST_LETTERS, low.match(letters)?.length ?? 0));
  const [best, second] = [...scores].toSorted(([, a], [, b]) => b - a);
  return best && best[1] >= LEAST && best[1] >= LEAD * (second?.[1] ?? 0) ? best[0] : undefined;
}

function folded(text: string): string {
  return text.replaceAll('ß', 'ss').replaceAll('ł', 'l').normalize('NFD').replaceAll(/\p{M}/gu, '');
}

/**
 * The languages a page should be read in, from its text as read with `used`: its main one, and a second if a good part
 * of it is written in that and was not read with confidence. Undefined if the text does not show it.
 */
export function languagesOf(lines: readonly Line[], used: readonly string[]): readonly string[] | undefined {
  const blocks = Map.groupBy(lines, ({ block }) => block);
  const words = new Map<string, number>();
  const unsure = new Set<string>();
  let all = 0;
  for (const block of blocks.values()) {
    const inBlock = block.flatMap((line) => line.words);
    if (inBlock.length < BLOCK_WORDS) continue;
    all += inBlock.length;
    const language = languageOf(inBlock.map(({ text }) => text).join(' '));
    if (language === undefined) continue;
    words.set(language, (words.get(language) ?? 0) + inBlock.length);
    const confidence = inBlock.reduce((sum, word) => sum + word.confidence, 0) / inBlock.length;
    if (confidence < SURE) unsure.add(language);
  }
  const found = [...words].toSorted(([, a], [, b]) => b - a);
  const [main = languageOf(textOf(lines))] = found.map(([language]) => language);
  if (main === undefined) return undefined;
  const others = found.filter(
    ([language, count]) =>
      language !== main && count >= SECOND * all && (used.includes(language) || unsure.has(language)),
  );
  return [main, ...others.map(([language]) => language)].slice(0, 2);
}

/** The words of lines. */
export function textOf(lines: readonly Line[]): string {
  return lines.map((line) => line.words.map(({ text }) => text).join(' ')).join('\n');
}
