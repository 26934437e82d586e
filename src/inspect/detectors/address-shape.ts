/** A capitalised word, and one to four of them. */
const WORD = "\\p{Lu}[\\p{L}'’.-]*";
const WORDS = `${WORD}(?: ${WORD}){0,3}`;
/** Small words inside the names of towns and streets. */
const SMALL =
  'am|an|der|im|in|ob|bei|aan|den|de|del|della|di|da|do|dos|das|du|des|la|le|les|los|las|el|lès|sur|sous|en|of|upon|nad|pod|na|v|i|y|och|og';
const TOWN_WORD = "\\p{Lu}[\\p{L}'’]*(?:-[\\p{L}'’]+)*";
const JOINED = `(?: (?:(?:${SMALL}|Di|Da|De|Del|Della|E|La|Do|Dos) ){1,3}${TOWN_WORD})`;
/** A second word with nothing between may begin the next sentence, so the name has to go on or end with it. */
const TOWN = `(?:(?:San|Santa|Santo|São|Saint|Sankt|St\\.?|Bad|New|Los|Las) )?${TOWN_WORD}${JOINED}{0,3}(?: ${TOWN_WORD}(?=[.,;)\\n"'<|]|$)){0,2}(?: \\(${TOWN_WORD}\\))?`;
/** Postal codes with the text before the town: five digits, Dutch, Polish, Portuguese, Swedish and Czech, Romanian. */
const CODE =
  '(?:[A-Z]{1,2}-)?(?:\\d{6}|\\d{4}-\\d{3}|\\d{2}-\\d{3}|\\d{3} \\d{2}|\\d{4} ?[A-Z]{2}|\\d{5}|\\d{4})(?!\\d)';
const CODE_AND_TOWN = `${CODE} ${TOWN}`;
const BRITISH_CODE = '[A-Z]{1,2}\\d{1,2}[A-Z]? ?\\d[A-Z]{2}(?![A-Za-z0-9])';
const NUMBER = '\\d{1,5}(?: ?[a-zA-Z](?![\\p{L}]))?(?:[-/]\\d{1,4}[a-zA-Z]?)?';
/** Stairs, floors and doors after the number. */
const DOOR =
  '(?:,? {1,2}(?:Puerta|Piso|Planta|Esc\\.|Esq\\.|Piano|Appartamento|Int\\.|Interno|Scala|Bl\\.|Sc\\.|Ap\\.|Et\\.|Nr\\.|[Bb]us|[Tt]op|m\\.|lok\\.|WE|Apt\\.?|[AB]) ?\\d{0,4}){0,5} ?';

/** Streets whose name ends in the word for one: German, Dutch, Danish, Norwegian, Swedish, Finnish. */
const ENDING =
  'stra(?:ß|ss)e|str\\.|weg|allee|platz|gasse|ring|damm|ufer|chaussee|steig|stieg|markt|pad|steeg|laan|plein|kade|dijk|gracht|singel|straat|hof|baan|gade|vej|allé|stræde|torv|plads|veien|gata|gatan|vägen|gränd|stigen|torget|väg|katu|tie|kuja|polku|bulevardi|kaari|ranta|tori';
/** Streets whose name starts with it: Spanish, Portuguese, Italian, Polish, Romanian, Czech. */
const BEGINNING =
  'Calle|C/|Avenida|Avda\\.?|Avd\\.?|Av\\.?|Plaza|Pza\\.?|Paseo|Pº|Carrer|Carretera|Ctra\\.?|Camino|Ronda|Travesía|Cuesta|Glorieta|Urbanización|Pasaje|Pasadizo|Alameda|Rambla|Vial|Callejón|Acceso|Cañada|Rua|R\\.|Travessa|Praça|Largo|Estrada|Beco|Via|Viale|V\\.le|Piazza|P\\.zza|Corso|C\\.so|Vicolo|Strada|Contrada|Largo|Borgo|Piazzale|Stretto|Incrocio|Rotonda|Canale|[Uu]l\\.|[Uu]lica|[Aa]l\\.|[Aa]leja|[Aa]leje|[Pp]lac|[Pp]l\\.|[Oo]s\\.|[Oo]siedle|Bulevardul|Bd\\.?|Șoseaua|Soseaua|Intrarea|Calea|Aleea|Piața|Splaiul|Str\\.|nám\\.|náměstí|třída';
const FRENCH =
  'rue|avenue|av\\.|boulevard|bd\\.?|bld|chemin|place|allée|impasse|quai|route|square|cours|passage|sentier|ruelle|faubourg|villa';
const ENGLISH =
  'Street|St\\.?|Road|Rd\\.?|Avenue|Ave\\.?|Lane|Ln\\.?|Drive|Dr\\.?|Boulevard|Blvd\\.?|Court|Ct\\.?|Close|Crescent|Gardens|Terrace|Way|Place|Square|Grove|Mews|Parade|Hill|Parkway|Highway';

/** An ending as a word of its own too: `Ida Ekmanin bulevardi`, `Am Alten Markt`. */
const OWN_WORD = ENDING.replace(
  /(^|\|)(\p{Ll})/gu,
  (_, bar: string, first: string) => `${bar}[${first.toUpperCase()}${first}]`,
);

const ENDS_AS_STREET = new RegExp(`(?:${ENDING})$`);
/** The last three letters of all those. */
const LAST_LETTERS = new Set(
  ENDING.replace('stra(?:ß|ss)e', 'straße|strasse')
    .split('|')
    .map((ending) => ending.slice(-3)),
);

/** Whether a word ends as streets do, for those written in lower case. */
export function endsAsStreet(word: string): boolean {
  return LAST_LETTERS.has(word.slice(-3)) && ENDS_AS_STREET.test(word);
}

/** Roads across the country are no one's address. */
const OWN_ROAD = '(?!(?:Bundes|Europa|Landes|Kreis|Staats|Fern|Haupt-?land)stra(?:ß|ss)e)';
const BEFORE_NUMBER = ',? (?:Nr\\.? |[Nn]º ?|n\\. ?|č\\.p\\. |č\\. )?$';
const FIRST = `(?<![\\p{L}])(?:${BEGINNING}) (?:[\\p{L}'’.-]+ ){0,5}[\\p{L}'’.-]+`;

/** What may stand before the number of a house, on its line: a street with its word. */
export const STREET = new RegExp(
  `(?:(?<![\\p{L}])(?:${WORD}[ -]){0,3}(?:${OWN_ROAD}\\p{Lu}[\\p{L}'’-]*(?:${ENDING})|(?<=[ -])(?:${OWN_WORD}))|${FIRST})${BEFORE_NUMBER}`,
  'u',
);
/** A street whose name starts with the word for it: the others are too much like words to stand without a number. */
export const STREET_FIRST = new RegExp(`${FIRST},? $`, 'u');
/** A street's name without a word for one: counts only before a number, a postal code and a town. */
export const NAME = new RegExp(`(?<![\\p{L}])${WORD}(?: (?:(?:${SMALL}) )?[\\p{L}'’.-]+){0,2},? $`, 'u');

/** From the number of a house on: door, postal code and town. */
export const FROM_NUMBER = new RegExp(`${NUMBER}${DOOR},? {1,2}${CODE_AND_TOWN}`, 'uy');
/** The number alone, where the street leaves no doubt. */
export const NUMBER_ALONE = new RegExp(
  `\\d{1,4}(?: ?[a-zA-Z](?![\\p{L}\\d]))?(?:[-/]\\d{1,4})?(?![\\d.,:/-]*\\d|[ ]?[%€$]|[\\p{L}])`,
  'uy',
);
/** No number, `S/N` or only a comma before: a postal code and a town. */
export const FROM_CODE = new RegExp(CODE_AND_TOWN, 'uy');
/** `85, chemin Marchal, 01213 Lambert`. */
export const FRENCH_ADDRESS = new RegExp(
  `\\d{1,4}(?: ?(?:bis|ter|quater)|[A-D])?,? (?:${FRENCH}) (?:(?:de |du |des |de la |de l'|d'|l'|la |le )?[\\p{L}'’.-]+ ?){1,4}(?:,? (?:F-)?\\d{5} ${TOWN})?`,
  'iuy',
);
/** `23 Clark Inlet, Henryview, L4U 3JW`, `30i, Mitchell Rapid, …` and `12 Main St, Springfield, IL 62704`. */
export const ENGLISH_ADDRESS = new RegExp(
  `\\d{1,5}[A-Za-z]?,? (?:${WORDS}(?:, ${WORDS}){0,3},? (?:${BRITISH_CODE}|[A-Z]{2} \\d{5}(?:-\\d{4})?(?!\\d))|${WORD}(?: ${WORD}){0,2} (?:${ENGLISH})(?![\\p{L}]))`,
  'uy',
);
/** Words before the number of a flat. */
export const FLAT = /(?<![A-Za-z])(?:Flat|Studio|Apartment|Apt\.?|Unit|Suite|Room) #?$/;
/** Streets that leave no doubt without a town. */
export const SURE =
  /(?:stra(?:ß|ss)e|str\.|gasse|allee|straat|gracht|gatan|vägen|gade|vej|katu|bulevardi),? (?:Nr\.? )?$|(?=[acprubv])(?<![\p{L}])(?:Calle|Avenida|Avda\.?|Rua|Via|Viale|Piazza|Corso|ul\.|ulica|aleja|Bulevardul) [^\d]{2,40}$/iu;
