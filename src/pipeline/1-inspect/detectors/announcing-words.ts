/** What a word that announces a value says of it. */
export type Announced = 'password' | 'code' | 'name' | 'user' | 'entry';

/**
 * The words that announce a login or password in running text, by what they say: lower case, in the languages of the house.
 * `code`: what may be digits alone. `name`: the name of a login. `user`: whose it is. `entry`: how one gets in.
 */
const ANNOUNCING: readonly (readonly [Announced, string])[] = [
  [
    'code',
    "\\bpins?\\b|pin[- ]?code|passcode|zu(?:gangs|griffs|tritts)code|t[uü]rcode|toegangscode|\\b(?:access|door|entry) code|code d'acc[eè]s|c[oó]digo de acc?es+o|codice (?:di |d')accesso|kodu? dost[eę]pu|\\bclave\\b",
  ],
  [
    'password',
    "pass(?:word|wort|wd|phrase)|passw[oö]rter|kennw[oö]rt|wachtwoord|mots? de passe|\\bmdp\\b|contrase[nñ]a|\\bsenhas?\\b|palavra[- ]passe|\\bhas[lł][oaeu]|parola (?:d'accesso|d'ordine)|\\bpwd?\\b",
  ],
  [
    'name',
    "\\buser[ _-]?(?:name|id)|login|logon[ -]?name|\\baccount name|benutzer(?:name|kennung|-id)|nutzername|anmeldename|kennung\\b|nom d'utilisateur|identifiant|(?:nombre|identificador|id) de usuario|(?:nome|id) utente|gebruikers?(?:naam|-?id)|inlognaam|nazw[aąęy] u[zż]ytkownika|identyfikator|(?:nome|id) d[eo] (?:utilizador|usu[aá]rio)",
  ],
  [
    'entry',
    '\\blog(?:s|ged|ging)?[ -]?(?:in|on)\\b|\\bsign(?:s|ed|ing)?[ -]?(?:in|on)\\b|logg?(?:e|en|t|st)\\b|einlogg|eingeloggt|\\bmelde[tn]?\\b|anmeld|angemeldet|\\bconnect(?:e|é|ée|ez|er)\\b|\\binici\\w{1,4} ses|\\bentr[oae]r?\\b|\\bacced[oieaè]|\\binlog|ingelogd|\\blog\\b|logowa|loguj',
  ],
  [
    'user',
    '\\busers?\\b|\\baccount\\b|\\bbenutzers?\\b|\\bnutzers?\\b|utilisateur|\\bcompte\\b|\\busu[aá]rio|\\bcuenta\\b|\\butente\\b|gebruiker\\b|u[zż]ytkownik|\\bkont[oa]\\b|utilizador|\\bconta\\b',
  ],
];

const KINDS = ANNOUNCING.map(([kind]) => kind);
const WORDS = new RegExp(ANNOUNCING.map(([, words]) => `(${words})`).join('|'), 'g');
/** What ends the sentence that an announcing word is in. */
const ENDS = /[.!;]\s|\n/;
/** What a password is done to that then has another. */
const CHANGED =
  /\b(?:chang|set\b|reset|updat|switch)|ge[aä]ndert|[aä]nder|gesetzt|setze|chang[eé]|modifi|remplac|cambi|actualiz|reimpost|impost|aggiorn|gewijzigd|wijzig|veranderd|zmieni|ustawi|mud(?:ei|ou|ar)|alter(?:ei|ou|ar)|defini|redefini/;

/** What stands in a Polish sentence in which "to" is "is", and in no English one. */
const POLISH = /[ąęłńóśźż]|\bhaslo|\bmoj[ae]?\b|\b(?:do|dla) \w+ to\b/;

/** Whether "to" is Polish in a stretch, in lower case. */
export function isPolish(said: string): boolean {
  return POLISH.test(said);
}

/** Whether a stretch, in lower case, says that something was changed. */
export function saysChanged(said: string): boolean {
  return CHANGED.test(said);
}

/** A word that announces what stands at the end of a stretch. */
export interface Announcement {
  readonly kind: Announced;
  /** Whether it ends where the value begins, with nothing but blanks between. */
  readonly isNext: boolean;
}

/** The nearest announcing word of a stretch, in lower case, in the sentence that ends with it. */
export function announcementIn(said: string): Announcement | undefined {
  let kind: Announced | undefined;
  let end = 0;
  WORDS.lastIndex = 0;
  for (let match = WORDS.exec(said); match !== null; match = WORDS.exec(said)) {
    kind = KINDS[match.findIndex((group, index) => index > 0 && group !== undefined) - 1];
    end = WORDS.lastIndex;
  }
  if (kind === undefined) return undefined;
  const between = said.slice(end);
  if (ENDS.test(between)) return undefined;
  return { kind, isNext: /^[a-zà-ż]{0,4}[\s"'„“«`]*$/.test(between) };
}

/** How a value is linked to what announces it; `change` only where something was changed, `to` as that or as the Polish "is", `next` by nothing between. */
export type Link = 'be' | 'as' | 'with' | 'change' | 'to' | 'sign' | 'next';

const LINKS: ReadonlyMap<string, Link> = new Map(
  (
    [
      [
        'be',
        'is was be becomes became remains stays says reads ist war lautet lautete heißt heisst bleibt wäre sei est était sera serait reste devient été es era será sería sea siendo è é sarà sarebbe sia resta foi será seja ser sendo heet luidt blijft wordt werd jest było był brzmi będzie',
      ],
      ['as', 'as als als comme que como come jako'],
      ['to', 'to'],
      ['with', 'with using mit avec con com met z ze'],
      ['change', 'into auf in en por a para naar na su em'],
      [
        'next',
        'password passwd pwd passwort kennwort passe mdp contraseña contrasena senha wachtwoord hasło haslo hasłem user users username login loginem name id benutzer benutzern benutzername nutzer kennung anmeldename utilisateur identifiant usuario usuário cuenta utente account gebruiker gebruikersnaam inlognaam użytkownik użytkownika użytkownikowi użytkownikiem konto konta kontem utilizador conta',
      ],
    ] as const
  ).flatMap(([link, words]) => words.split(' ').map((word): [string, Link] => [word, link])),
);

/** What may stand between "is" and a value. */
const BETWEEN = new Set(
  'still now currently always again simply just the nun jetzt noch immer nach weiter weiterhin momentan aktuell derzeit wieder einfach früher der die das toujours encore maintenant désormais le la actuellement todavía ahora siempre aún el ancora adesso ora sempre il nu nog altijd nog steeds weer de het teraz nadal wciąż zawsze agora ainda sempre o'.split(
    ' ',
  ),
);

/** Words that say whose login it is: the login itself may follow farther on. */
const WHOSE = new Set(
  'my our your his her their mein meine meinen dein deine unser unsere euer ihr ihre sein seine mon ma notre nos ton votre vos son leur mi mis nuestro tu su mio mia nostro tuo suo mijn ons onze je jouw uw haar zijn hun mój moja moje moją nasz twój twoja jego jej pani pana meu minha nosso teu tua seu sua'.split(
    ' ',
  ),
);

/** What a word before a value, or before one that announces it, may be. */
export type Role = 'between' | 'whose';

const ROLES: ReadonlyMap<Role, ReadonlySet<string>> = new Map([
  ['between', BETWEEN],
  ['whose', WHOSE],
]);

/** Marks what may be one of the words of this file, by a hash: few others share one, so that most cost no look-up. */
const KNOWN = new Uint8Array(4096);
for (const word of [...LINKS.keys(), ...BETWEEN, ...WHOSE]) KNOWN[hashOf(word, 0, word.length)] = 1;

/** The same for both cases of a letter. */
function hashOf(text: string, start: number, end: number): number {
  let hash = 0;
  for (let at = start; at < end; at += 1) hash = Math.imul(hash, 31) + (text.charCodeAt(at) | 32);
  return (hash ^ (hash >>> 12)) & 4095;
}

function isKnown(text: string, start: number, end: number): boolean {
  return KNOWN[hashOf(text, start, end)] === 1;
}

/** Words that others end with: `initialpasswort`. */
const COMPOUND = /(?:passwort|kennwort|wachtwoord)$/;
const SHORTEST_COMPOUND = 9;

/** How the word from `start` to `end` links what follows it to what stands before. */
export function linkAt(text: string, start: number, end: number): Link | undefined {
  if (isKnown(text, start, end)) {
    const link = LINKS.get(text.slice(start, end).toLowerCase());
    if (link !== undefined) return link;
  }
  const last = text.charCodeAt(end - 1);
  if ((last !== 116 && last !== 100) || end - start < SHORTEST_COMPOUND) return undefined;
  return COMPOUND.test(text.slice(start, end)) ? 'next' : undefined;
}

/** Whether the word from `start` to `end` has a role. */
export function hasRole(role: Role, text: string, start: number, end: number): boolean {
  return isKnown(text, start, end) && ROLES.get(role)?.has(text.slice(start, end).toLowerCase()) === true;
}
