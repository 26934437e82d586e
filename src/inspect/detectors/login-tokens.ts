import { isWordLetter } from './announced.ts';

/** What a word near a login or password says of it. */
export type Cue = 'login' | 'user' | 'entry' | 'password' | 'code' | 'access';

const CUES: readonly Cue[] = ['login', 'user', 'entry', 'password', 'code', 'access'];

/** Several cues as one number: a bit for each. */
export function cueBits(cues: readonly Cue[]): number {
  return cues.reduce((bits, cue) => bits | (1 << CUES.indexOf(cue)), 0);
}

/** Any of them. */
export const ANY_CUE = cueBits(CUES);

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

/** Marks how stems begin, and how endings end, by hashes of a few letters: few other words share one. */
const MARKS = 1 << 13;
const HEADS = new Uint8Array(MARKS);
const TAILS = new Uint8Array(MARKS);
for (const [cue, stems] of STEMS)
  for (const stem of stems.split(/=? |=$/).filter(Boolean))
    mark(HEADS, cue, markOf(stem, 0, Math.min(KEY, stem.length)));
for (const [cue, ending] of ENDINGS) mark(TAILS, cue, markOf(ending, ending.length - KEY, ending.length));

function mark(marks: Uint8Array, cue: Cue, place: number): void {
  marks[place] = (marks[place] as number) | cueBits([cue]);
}

/** Words with another one at their end are longer. */
const SHORTEST_COMPOUND = 8;

/** The same for both cases of ASCII letters, and for all others. */
function markOf(text: string, start: number, end: number): number {
  let sum = 0;
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    sum = Math.imul(sum, 31) + (code < 128 ? code | 32 : 2);
  }
  return (sum ^ (sum >>> 13)) & (MARKS - 1);
}

export const LINE_END = 10;
const NONE = 0;
const LINE = 1;
/** Any letter beyond ASCII. */
const WIDE = 2;
const LETTERS = Uint8Array.from({ length: 0x250 }, (_, code) => {
  if (!isWordLetter(code)) return code === LINE_END ? LINE : NONE;
  return code < 128 ? code | 32 : WIDE;
});

/** Whether a word begins or ends like one that announces one of these. */
function mayBeCue(text: string, start: number, end: number, wanted: number): boolean {
  const length = end - start;
  if (length < 2 || length > LONGEST) return false;
  if (((HEADS[markOf(text, start, Math.min(end, start + KEY))] as number) & wanted) !== 0) return true;
  return length >= SHORTEST_COMPOUND && ((TAILS[markOf(text, end - KEY, end)] as number) & wanted) !== 0;
}

/** What a word, in lower case, says of a login or password near it; undefined for most words. */
export function cueOf(lower: string): Cue | undefined {
  if (!mayBeCue(lower, 0, lower.length, ANY_CUE)) return undefined;
  const whole = WHOLE.get(lower);
  if (whole !== undefined) return whole;
  for (const [stem, cue] of BY_KEY.get(lower.slice(0, KEY)) ?? []) if (lower.startsWith(stem)) return cue;
  if (lower.length < SHORTEST_COMPOUND) return undefined;
  return ENDINGS.find(([, ending]) => lower.endsWith(ending))?.[0];
}

/** Whether a word of the same line, before `at` and no farther than `reach`, announces one of these cues, each a bit. */
export function hasCueBefore(text: string, at: number, reach: number, wanted: number): boolean {
  const least = Math.max(0, at - reach);
  for (let back = at - 1; back >= least; back -= 1) {
    const letter = letterAt(text, back);
    if (letter === LINE) return false;
    if (letter === NONE) continue;
    const end = back + 1;
    while (back > least && letterAt(text, back - 1) > LINE) back -= 1;
    if (mayAnnounce(text, back, end, wanted)) return true;
  }
  return false;
}

/** The same behind it. */
export function hasCueBehind(text: string, from: number, reach: number, wanted: number): boolean {
  const most = Math.min(text.length, from + reach);
  for (let at = from; at < most; at += 1) {
    const letter = letterAt(text, at);
    if (letter === LINE) return false;
    if (letter === NONE) continue;
    const start = at;
    while (at + 1 < most && letterAt(text, at + 1) > LINE) at += 1;
    if (mayAnnounce(text, start, at + 1, wanted)) return true;
  }
  return false;
}

/** Whether the word from `start` to `end` announces one of these. */
export function mayAnnounce(text: string, start: number, end: number, wanted: number): boolean {
  if (!mayBeCue(text, start, end, wanted)) return false;
  const cue = cueOf(text.slice(start, end).toLowerCase());
  return cue !== undefined && (cueBits([cue]) & wanted) !== 0;
}

/** The letter at `at` as marks tell it, or what else is there. */
function letterAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < LETTERS.length ? (LETTERS[code] as number) : NONE;
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
export const BREAKS = new Uint8Array(0x2100);
for (const sign of ' \t\r\n\u00a0') BREAKS[sign.charCodeAt(0)] = BLANK;
for (const sign of '"\'`“”„«»‹›‘’()[]{}<>,;|=\\/:—–') BREAKS[sign.charCodeAt(0)] = SIGN;

/** What the character at `at` is between words: `BLANK` or `SIGN`, 0 where it is a part of a word. */
export function breakAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < BREAKS.length ? (BREAKS[code] as number) : 0;
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
