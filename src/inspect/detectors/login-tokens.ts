import { isWordLetter } from './announced.ts';

/** What a word near a login or password says of it. */
export type Cue = 'login' | 'user' | 'entry' | 'password' | 'code' | 'access';

/** Stems of words that announce logins and passwords in eight languages, lower case; `=` ends those that are whole words. */
const STEMS: readonly (readonly [Cue, string])[] = [
  [
    'login',
    'login loginn log-in log-on= logon userid user-id user_id username user-name user_name benutzern benutzerk benutzer-id nutzern nutzerk anmeldename kennung identifi identyfi gebruikersn gebruikers- gebruikersid inlogn accountn alias= handle= nick= nicknam',
  ],
  [
    'user',
    'user= users= usuari usuári utente= utenti= utilisateur utilizador użytkow uzytkow benutzer nutzer gebruiker account compte= comptes= konto konta= koncie= kontem= kont= cuenta conta= contas= credential creds= credencia credenzia inloggeg zugangsd anmeldedaten profil= profile= profilo= perfil= profiel= id= kürzel=',
  ],
  [
    'entry',
    'logge loggi log= logs= loggt= logt= logde= logowa loguj zaloguj zalogow wylogow anmeld einlog eingelog angemeld melde= meldet= connecte connecté connexion connect= connects= connecting= conéct verbind verbund połącz podłącz connesso connessa collegat collegar conect inlog ingelogd aanmeld aangemeld entrar entro= entra= entrad entre= entrem= entrer entrez entrat entrée entri= entram acced acess aced inicia sesión sesion sign= signed= signing= signin= sign-in ssh= sessão= sessao= session= sessie= sesja= sesji= wchodz wejdź ligado= ligada= ligo-me ligar- logad authent authenti autentic autenti uwierzyt registr zarejestr inscri geregistr sudo=',
  ],
  [
    'password',
    'passwor passwö passwd pass= pass-= passe= passphrase passcode passkey pwd= pw= pwds= kennwor kennwör wachtwoord ww= mdp= contraseñ contrasen senha hasło hasł haslo hasla= haslem= haseł clave parola= parole= palavra-passe palavras-passe palavra-chave mot-de-passe wifi wi-fi wlan',
  ],
  [
    'code',
    'pin= pins= pincode pin-code puk= otp= code= codes= código codigo codice kod= kodu= kodem= toegangscode zugangscode türcode',
  ],
  [
    'access',
    'access accès= acceso accesso acesso dostęp dostep toegang zugang zugriff permission permis autoris berecht unlock locked= lock= entsperr gesperr blocked= bloqu blocc geblok zablokow odblok deblok débloq desbloq sblocc reset= réinit zurückgesetz gereset zreset uprawn rechten= rechte= droits= permes',
  ],
];

/** What words of German and Dutch end with: `masterpasswort`, `windows-login`. */
const ENDINGS: readonly (readonly [Cue, string])[] = [
  ['password', 'passwort'],
  ['password', 'password'],
  ['password', 'kennwort'],
  ['password', 'wachtwoord'],
  ['login', 'login'],
  ['login', 'kennung'],
  ['login', 'benutzername'],
  ['login', 'username'],
  ['login', 'gebruikersnaam'],
  ['login', 'nutzername'],
  ['password', 'passphrase'],
  ['password', 'schlüssel'],
  ['user', 'benutzer'],
  ['user', 'konto'],
  ['user', 'account'],
  ['code', 'code'],
  ['code', '-pin'],
];

const KEY = 4;
const WHOLE = new Map<string, Cue>();
const BY_KEY = new Map<string, (readonly [string, Cue])[]>();
for (const [cue, stems] of STEMS) {
  for (const stem of stems.split(' ')) {
    if (stem.endsWith('=')) WHOLE.set(stem.slice(0, -1), cue);
    else BY_KEY.set(stem.slice(0, KEY), [...(BY_KEY.get(stem.slice(0, KEY)) ?? []), [stem, cue]]);
  }
}
const LAST_LETTERS = new Set(ENDINGS.map(([, ending]) => ending.at(-1)));

/** Marks the first two letters of stems, by their places in the alphabet: few words begin like one. */
const BEGINS = new Uint8Array(1024);
for (const stem of [...WHOLE.keys(), ...[...BY_KEY.values()].flat().map(([one]) => one)])
  BEGINS[pairOf(stem.charCodeAt(0), stem.charCodeAt(1))] = 1;
/** Words with another one at their end are longer. */
const SHORTEST_COMPOUND = 8;

/** The same for both cases of ASCII letters; others share the marks of letters. */
function pairOf(first: number, second: number): number {
  return ((first & 31) << 5) | (second & 31);
}

/** Whether a word begins like one that announces something, or may end with one. */
function mayBeCue(text: string, start: number, end: number): boolean {
  return end - start >= SHORTEST_COMPOUND || BEGINS[pairOf(text.charCodeAt(start), text.charCodeAt(start + 1))] === 1;
}

/** What a word, in lower case, says of a login or password near it; undefined for most words. */
export function cueOf(lower: string): Cue | undefined {
  if (lower.length > LONGEST || lower.length < 2) return undefined;
  if (!mayBeCue(lower, 0, lower.length)) return undefined;
  const whole = WHOLE.get(lower);
  if (whole !== undefined) return whole;
  for (const [stem, cue] of BY_KEY.get(lower.slice(0, KEY)) ?? []) if (lower.startsWith(stem)) return cue;
  if (lower.length < 8 || !LAST_LETTERS.has(lower.at(-1))) return undefined;
  return ENDINGS.find(([, ending]) => lower.endsWith(ending))?.[0];
}

/** Whether a word between `from` and `to` announces one of these. */
export function hasCue(text: string, from: number, to: number, wanted: ReadonlySet<Cue>): boolean {
  for (let at = from; at < to;) {
    if (!isWordLetter(text.charCodeAt(at))) {
      at += 1;
      continue;
    }
    const start = at;
    while (at < to && isWordLetter(text.charCodeAt(at))) at += 1;
    if (!mayBeCue(text, start, at)) continue;
    const cue = cueOf(text.slice(start, at).toLowerCase());
    if (cue !== undefined && wanted.has(cue)) return true;
  }
  return false;
}

/** A word of a text, without blanks, quotes and brackets around it and full stops behind it. */
export interface Token {
  readonly start: number;
  readonly end: number;
  readonly lower: string;
  readonly cue: Cue | undefined;
  /** The last sign before it other than a blank, or a line end; a blank if the words touch. */
  readonly before: string;
  /** The same behind it. */
  readonly after: string;
}

/** No login or password is longer. */
export const LONGEST = 40;

const BLANK = 1;
const SIGN = 2;
/** What ends a word to either side, by its code. */
const BREAKS = new Uint8Array(0x2100);
for (const sign of ' \t\r\n\u00a0') BREAKS[sign.charCodeAt(0)] = BLANK;
for (const sign of '"\'`“”„«»‹›‘’()[]{}<>,;|=\\/:—–') BREAKS[sign.charCodeAt(0)] = SIGN;

function breakAt(text: string, at: number): number {
  return BREAKS[text.charCodeAt(at)] ?? 0;
}

/** Where the word around `at` begins, no farther back than `least`. */
export function tokenStart(text: string, at: number, least: number): number {
  let start = at;
  while (start > least && breakAt(text, start - 1) === 0) start -= 1;
  return start;
}

/** Where the word around `at` ends, no farther than `most`. */
export function tokenEnd(text: string, at: number, most: number): number {
  let end = at;
  while (end < most && breakAt(text, end) === 0) end += 1;
  return end;
}

/** The words from `from` on that begin before `to`, and where reading ended. */
export function readTokens(text: string, from: number, to: number, tokens: Token[]): number {
  let at = from;
  while (at < to) {
    let before = at === 0 ? '\n' : ' ';
    // The last sign between two words other than a blank; a line end wins.
    for (; at < to; at += 1) {
      const kind = breakAt(text, at);
      if (kind === 0) break;
      if (kind === SIGN) before = text[at] as string;
      else if (text.charCodeAt(at) === 10) before = '\n';
    }
    if (at >= to) return at;
    const most = Math.min(text.length, at + READ);
    const end = tokenEnd(text, at, most);
    pushToken(text, at, end, before, tokens);
    at = end;
  }
  return at;
}

/** So much of a word is read at once. */
const READ = 256;

function pushToken(text: string, from: number, to: number, before: string, tokens: Token[]): void {
  let start = from;
  let end = to;
  while (start < end && text[start] === '*') start += 1;
  while (end > start && '.?…*'.includes(text[end - 1] as string)) end -= 1;
  if (start === end) return;
  const lower = text.slice(start, end).toLowerCase();
  const after = end < text.length ? (text[end] as string) : '\n';
  tokens.push({ start, end, lower, cue: cueOf(lower), before, after });
}
