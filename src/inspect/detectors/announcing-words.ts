/** What a word that announces a value says of it. */
export type Announced = 'password' | 'code' | 'name' | 'user' | 'entry';

/**
 * The words that announce a login or password in running text, by what they say: lower case, in the languages of the house.
 * `code`: what may be digits alone. `name`: the name of a login. `user`: whose it is. `entry`: how one gets in.
 */
const ANNOUNCING: readonly (readonly [Announced, string])[] = [
  ['code', '\\bpins?\\b|pincode|passcode|\\bclave\\b|c[oó]d(?:e|igo|ice)\\b|\\bkodu?\\b'],
  [
    'password',
    "pass(?:word|wort|wd|phrase)|passw[oö]rter|kennw[oö]rt|wachtwoord|mots? de passe|\\bmdp\\b|contrase[nñ]a|\\bsenhas?\\b|palavra[- ]passe|\\bhas[lł][oaeu]|parola (?:d'accesso|d'ordine)|\\bpwd?\\b|\\bww\\b|wlan-?schl[uü]ssel|\\bwi-?fi[- ]key\\b",
  ],
  [
    'name',
    "\\buser[ _-]?(?:name|id)|login|logon[ -]?name|\\baccount name|benutzer(?:name|kennung|-id)|nutzername|anmeldename|kennung\\b|nom d'utilisateur|identifi(?:ant|cador|cativo)|(?:nombre|id) de usuario|(?:nome|id) utente|gebruikers?(?:naam|-?id)|inlognaam|nazw[aąęy] u[zż]ytkownika|identyfikator|(?:nome|id) d[eo] (?:utilizador|usu[aá]rio)",
  ],
  [
    'entry',
    '\\blog(?:s|ged|ging)?[ -]?(?:in|on)\\b|\\bsign(?:s|ed|ing)?[ -]?(?:in|on)\\b|logg?(?:e|en|t|st)\\b|einlogg|eingeloggt|\\bmelde[tn]?\\b|anmeld|angemeldet|\\bcon+e(?:ct(?:e|é|ée|ez|er|s|ed|ing|ad[oa])?|ss[oa])\\b|\\bssh\\b|collegat[oa]|\\bligad[oa]|\\binici\\w{1,4} ses|\\bentr(?:[oae]r?|ad[oa]?|em|ate|iamo|amos)\\b|\\bacced[oieaè]|\\binlog|ingelogd|\\blog\\b|logowa|loguj|wchodz',
  ],
  [
    'user',
    '\\busers?\\b|account\\b|\\bbenutzers?\\b|\\bnutzers?\\b|utilisateur|\\bcompte\\b|\\busu[aá]rio|\\bcuenta\\b|\\butente\\b|gebruiker\\b|u[zż]ytkownik|konto\\b|\\bkon(?:ta|cie)\\b|utilizador|\\bconta\\b',
  ],
];

const KINDS = ANNOUNCING.map(([kind]) => kind);
const WORDS = new RegExp(ANNOUNCING.map(([, words]) => `(${words})`).join('|'), 'g');
/** Codes that open something, by what stands before or behind the word: `Türcode`, `code for the gate`, `kod dostępu`. */
const OPENS_BEFORE =
  /(?:access|door|entry|alarm|gate|garage|safe|security|unlock|pin|zu(?:gangs|griffs|tritts)|t[uü]r|toegangs|deur|tor|tresor|sicherheits|poort|kluis)[- ]?$/;
const OPENS_BEHIND =
  /(?:[ '’][a-zà-ż]{1,5}){0,3}[ '’](?:acc|dost[eę]p|alarm|allarm|gate|door|safe|tor\b|poort|port[aeãio]|puerta|deur|t[uü]r|drzwi|bram|furtk|coffre|cofre|caja|cassaforte|sejf|kluis|tresor|gara[gż]|cancell|immeuble)/y;

/** Whether the word for a code from `start` to `end` is that of a door and not of an error. */
function isOpening(said: string, start: number, end: number): boolean {
  if (!CODE.test(said.slice(start, end)) || OPENS_BEFORE.test(said.slice(Math.max(0, start - 12), start))) return true;
  OPENS_BEHIND.lastIndex = end;
  return OPENS_BEHIND.test(said);
}

const CODE = /^[ck][oó]d/;
/** Passwords for one use, which may be digits alone. */
const ONE_TIME =
  /one[- ]time|\botp\b|einmal(?:pass|kenn)|usage unique|un solo uso|uso [uú]nico|monouso|eenmalige? wachtwoord|jednorazow/;

/** What ends the sentence that an announcing word is in. */
const ENDS = /[.!;]\s|\n/;
/** What a password is done to that then has another. */
const CHANGED =
  /\b(?:chang|set\b|reset|updat|switch)|ge[aä]ndert|[aä]nder|gesetzt|setze|chang[eé]|modifi|remplac|cambi|actualiz|reimpost|impost|aggiorn|gewijzigd|wijzig|veranderd|zmieni|ustawi|mud(?:ei|ou|ar)|puesto|gezet|\b(?:mis|pus|messo)\b|\bpas(?:s[eé]|ó|sou|sat[oa])(?![a-zà-ż])|alter(?:ei|ou|ar|ad)|restab|r[eé]tabli|remis|defini|redefini/;

/** What stands in a Polish sentence in which "to" is "is", and in no English one. */
const POLISH = /[ąęłńóśźż]|\bhaslo|\bmoj[ae]?\b|\b(?:do|dla) \w+ to\b|\b(?:pin|kod) do(?: [^ ]{1,20}){1,3} to\b/;

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
  /** What stands between the two, in lower case. */
  readonly between: string;
}

/** What a password may be of: `password for the account`, `PIN do konta`. */
const OF =
  /^[a-zà-ż]{0,4} (?:for|of|für|von|vom|zum|zur|des|pour|d[eu]|del|para|di|dell[ao]|per|d[aio]|van|voor|dla|konta)\b(?: [^ ,;:?]{1,20}){0,2} ?$/;

/** What is looked for. The password for a login is announced by "password", which a word for the login may follow. */
export type Sought = 'login' | 'secret';

/** The nearest announcing word of a stretch, in lower case, in the sentence that ends with it. */
export function announcementIn(said: string, seeks: Sought): Announcement | undefined {
  let kind: Announced | undefined;
  let end = 0;
  WORDS.lastIndex = 0;
  for (let match = WORDS.exec(said); match !== null; match = WORDS.exec(said)) {
    const next = KINDS[match.findIndex((group, index) => index > 0 && group !== undefined) - 1];
    if (next === 'code' && !isOpening(said, match.index, WORDS.lastIndex)) continue;
    const isOfIt = seeks === 'secret' && isOfSecret(kind) && !isOfSecret(next) && OF.test(said.slice(end, match.index));
    if (!isOfIt) kind = next;
    end = isOfIt ? end : WORDS.lastIndex;
  }
  if (kind === undefined) return undefined;
  const between = said.slice(end);
  if (kind === 'password' && ONE_TIME.test(said)) kind = 'code';
  if (ENDS.test(between)) return undefined;
  return {
    kind,
    between,
    isNext: /^[a-zà-ż]{0,4}(?: d[ei] servi[a-zç]{1,3}| (?:serwis|us[lł]ug)ow\w{1,3})?[\s"'„“«`]*$/.test(between),
  };
}

const FEW_WORDS = /^(?: [^ ]{1,20}){0,3} [^ ]{0,20}$/;

function isOfSecret(kind: Announced | undefined): boolean {
  return kind === 'password' || kind === 'code';
}

/** What is announced by the first announcing word of a stretch, in lower case, no farther than a few words from its start. */
export function announcedBy(said: string): Announced | undefined {
  WORDS.lastIndex = 0;
  const match = WORDS.exec(said);
  if (match === null) return undefined;
  const between = said.slice(0, match.index);
  if (ENDS.test(between) || !FEW_WORDS.test(between)) return undefined;
  return KINDS[match.findIndex((group, index) => index > 0 && group !== undefined) - 1];
}

/** How a value is linked to what announces it; `change` only where something was changed, `to` as that or as the Polish "is", `next` by nothing between, `comma` beside it, `behind` by "as" and the words behind it, `loose` by a few words between. */
export type Link = 'be' | 'as' | 'with' | 'change' | 'to' | 'sign' | 'comma' | 'next' | 'behind' | 'loose';

const LINKS: ReadonlyMap<string, Link> = new Map(
  (
    [
      [
        'be',
        'is was be becomes became remains stays says reads ist war wird würde lautet lautete heißt heisst bleibt wäre sei seria zou sarebbe serait est était sera serait reste devient été es era será sería sea siendo è é sarà sarebbe sia resta foi será seja ser sendo heet luidt blijft wordt werd jest było był brzmi będzie',
      ],
      ['as', 'as als als comme que como come jako'],
      ['to', 'to'],
      ['with', 'with using mit avec con com met z ze'],
      ['change', 'into auf in en por a à para naar na su em op sur sobre'],
      [
        'next',
        'password passwd pwd passwort kennwort passe mdp contraseña contrasena senha wachtwoord hasło haslo hasłem hasła pin clave ww pw user users username login loginem name id benutzer benutzern benutzername nutzer kennung anmeldename utilisateur identifiant usuario usuário cuenta utente account gebruiker gebruikersnaam inlognaam użytkownik użytkownika użytkownikowi użytkownikiem konto konta kontem utilizador conta compte schlüssel key dienstkonto serviceaccount service servicio servizio serviço serviceaccount serwisowym serwisowe identifiant identificador identyfikator kennung benutzerkonto inlognaam',
      ],
    ] as const
  ).flatMap(([link, words]) => words.split(' ').map((word): [string, Link] => [word, link])),
);

/** What stands before the old value where another follows: `changed from jpark to jlee`. */
const FROM = new Set(['from', 'von', 'de', 'da', 'van', 'z', 'ze']);

export function isFrom(text: string, start: number, end: number): boolean {
  return 'fvdz'.includes(text[start] as string) && FROM.has(text.slice(start, end));
}

/** What may stand between "is" and a value. */
const BETWEEN = new Set(
  'still now currently always again simply just the nun jetzt noch immer nach weiter weiterhin momentan simply simplemente simplesmente semplicemente gewoon juste justo prostu po sempre aktuell derzeit wieder einfach früher der die das toujours encore maintenant désormais le la actuellement todavía ahora siempre aún el ancora adesso ora sempre il nu nog altijd nog steeds weer de het teraz nadal wciąż zawsze agora ainda sempre o'.split(
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
