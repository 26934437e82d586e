const WINDOW = 40;

/** Words after which a run of digits is most likely a phone number, by language and in field names. */
const PHONE_WORDS = new RegExp(
  [
    // Any language: the telephone itself.
    /(?<!i)phone/,
    /\bt[eé]l(?=[^\p{L}]|[eéè]f|[eé]ph|$)/u,
    /telefon/,
    /telem[oó]vel/,
    /telefax/,
    /\bfax/,
    /\bgsm\b/,
    /\bsms\b/,
    /whats ?app/,
    /\bmobile?\b/,
    /\bmobil\b/,
    /mobil(?:nummer|funk|telefon|no\b|nr\b)/,
    /mobile_/,
    /hotline/,
    // English
    /\bcell(?:ular|phone)?\b/,
    /\bcall(?:ing|ed)?\b/,
    /\bring\b/,
    /\bdial\b/,
    /\breach (?:me|us|him|her|them)\b/,
    /\btext (?:me|us|him|her)\b/,
    /\b(?:my|his|her|our|your) number\b/,
    /\bcontact\b/,
    // German
    /handy/,
    /ruf/,
    /durchwahl/,
    /erreichbar/,
    /erreichen/,
    /\bmeine nummer\b/,
    /\bkontakt\b/,
    // French
    /portable/,
    /joindre/,
    /joignable/,
    /appel/,
    /\bmon num[eé]ro\b/,
    // Spanish, Portuguese, Italian
    /m[oó]vil/,
    /\bll[aá]m/,
    /\bmi n[uú]mero\b/,
    /cellulare/,
    /\bcell\./,
    /chiam/,
    /\bcontatt[oi]/,
    /\bcontacto\b/,
    /\bligar?\b/,
    /\bligue/,
    /\bmeu n[uú]mero\b/,
    /\bil mio numero\b/,
    // Dutch
    /\bbel\b/,
    /\bbellen\b/,
    /bereikbaar/,
    /mobiel/,
    /\bmijn nummer\b/,
    // Polish, and the neighbours
    /kom[oó]rk/,
    /dzwo[nń]/,
    /\bm[oó]j numer\b/,
    /puhelin/,
    /\bringa?\b/,
    /\btlf\b/,
    /\btlf\./,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gu',
);

/** Words after which a run of digits is a reference of some other kind. */
const OTHER_WORDS = new RegExp(
  [
    /order|invoice|\bref|ticket|\bcase\b|serial|\bsku\b|\bpart\b|tracking|parcel|account|customer (?:no|id|number)|\bid\b/,
    /passp|paspoort|paszport|passepor|pasapor|passapor|reisepass|passnummer|\bisbn|\bissn|\bean\b|\bgtin|\biban|\bbic\b|version|\bbuild|\bcode\b|postcode|\bzip\b|\bvat\b|\btax\b|licen[cs]e/,
    /bestell|rechnung|auftrag|kunden|konto|sendung|vorgang|akten|\baz\b|steuer|\bust|artikel|vertrag|\bplz\b/,
    /commande|facture|r[eé]f[eé]rence|dossier|compte|colis|\bsiren|\bsiret|pedido|factura|cuenta|expediente|\bnif|\bcif\b|\bdni/,
    /ordine|fattura|conto|codice|pratica|encomenda|fatura|conta\b|processo|zam[oó]wieni|faktur|\bnip\b|regon|pesel|numer konta/,
    /bestelling|factuur|\bbsn\b|\bkvk\b|rekening|zaak/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gu',
);

/** What the words shortly before a number say it is; the nearest word decides. Reads at most 40 characters. */
export function wordsBefore(text: string, at: number): 'phone' | 'other' | 'none' {
  const before = text.slice(Math.max(0, at - WINDOW), at).toLowerCase();
  const phone = lastMatch(PHONE_WORDS, before);
  const other = lastMatch(OTHER_WORDS, before);
  if (phone <= other) return other < 0 ? 'none' : 'other';
  return NUMBER_AND_BREAK.test(before.slice(phone)) ? 'none' : 'phone';
}

/** What may stand between a word about phones and the number that it announces. */
const ANNOUNCING =
  /^\p{L}{0,8}\.?(?:[ _-](?:n[ro]\.?|number|nummer|num[eé]ro|n[uú]mero|numer|me|us|him|her|them|on|at|under|unter|au|al|ao|op|na|pod|is|ist|est|es|jest))*["']?\s?[:=]?\s{0,3}["'(]?$/u;

/** Whether a word about phones stands right before, as a label or a request to call does. Reads at most 40 characters. */
export function isAnnounced(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - WINDOW), at).toLowerCase();
  const phone = lastMatch(PHONE_WORDS, before);
  return phone >= 0 && ANNOUNCING.test(before.slice(phone));
}

/** An empty line, or a number and then the end of a sentence, line or field: the word was not about what follows. */
const NUMBER_AND_BREAK = /\d[^]*(?:[.!?](?=\s)|[\n;|}])|\n\s*\n/;

/** A bare "number" or "no." right before digits: a reference, unless a phone word says otherwise. */
const NUMBER_WORD = /(?:n[ro]\.?|num(?:mer|ber|ero|éro|er)?|nº|n°|#)[\s:.]*$/i;

/** Whether a word for "number" stands right before. Reads at most 16 characters. */
export function followsNumberWord(text: string, at: number): boolean {
  return NUMBER_WORD.test(text.slice(Math.max(0, at - 16), at));
}

function lastMatch(pattern: RegExp, text: string): number {
  let last = -1;
  pattern.lastIndex = 0;
  while (pattern.test(text)) last = pattern.lastIndex;
  return last;
}
