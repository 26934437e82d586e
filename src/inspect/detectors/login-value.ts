import { isSmall } from './characters.ts';

/** Names of roles, types and stand-ins: nobody's login. */
const NOBODY =
  /^(?:users?\d?|user_?name|name|login|root|admin|administrator|postgres|mysql|mongo|redis|rabbitmq|guest|anonymous|app|api|sa|test|tester|default|null|none|nil|undefined|true|false|string|str|text|varchar|any|unknown|object|self|this|current_?user|me|id|email|key|token|password|required|optional|system|service|assistant|bot|new|await|async|get|set|te[kx]st[eo]?|testo|stringa|cadena|zeichenkette|pflichtfeld|your\w*|example\w*)$/i;
const CODE =
  /^(?:request|req|res|self|this|ctx|context|process|os|config|settings|event|session|data|args|props|env|params)\.|_?user$/i;

/** Whether a name is one of a role, a type or a variable. */
export function isNobodysLogin(name: string): boolean {
  return NOBODY.test(name) || CODE.test(name);
}

const SHAPE = /^[a-z][\w.+-]{2,31}$/i;
/** Constants, versions, names of methods and files: `DB_USER`, `v2.4`, `UTF-8`, `argon2id`, `login.vue`. */
const NO_LOGIN =
  /^(?:v\d[\d.]*|[xphk]\d{1,3}|(?:o?auth|saml|argon|base|utf|sha|md|ipv?|tls|http|rfc|iso|oidc|step|level|phase|tier|version|option|day|week|page|line|section)-?\d\w*)$|[.-]$|\.(?:[a-z]|com|org|net|io|dev|eu|de|fr|es|it|nl|pl|pt|uk|md|mdx|tsx?|jsx?|mjs|cjs|py|java|kts?|go|rs|rb|php|cs|swift|ya?ml|toml|json|css|s?html?|sh|sql|vue|svelte|txt|pdf|docx?|xlsx?|csv|png|jpe?g|zip|log|env|conf|cfg|ini|xml|lock|key|pem)$/i;
const ACRONYM = /^(?:[A-Z][A-Z\d]*_[A-Z\d_]*|[A-Z]{2,}-?\d{1,3})$/;
/** Words that names of fields, events and roles are made of. */
const PARTS = new Set(
  'user users name names id ids login logins email mail key token password pwd pass hash field type value table column row dto obj object account accounts created updated deleted added removed changed failed success succeeded locked service controller module component config default req res ctx auth session role roles page html get set is has url uri path file api app db read write only data list status state code hint event error model schema index client server input output request response'.split(
    ' ',
  ),
);
/** What is written with a hyphen and is a word: `case-sensitive`, `read-only`, `self-service`, `e-mail`. */
const HYPHENATED =
  /^(?:case|read|write|server|client|single|multi|non|pre|post|re|self|sub|co|e|x|end|opt|log|sign|two|one|real|full|time|up|on|off|in|out|rate|auto|built|open|plain|lower|upper|mixed|long|short|well|so|third|first|third|cross|left|right|top|high|low)-|-(?:sensitive|insensitive|only|based|encoded|side|in|on|off|up|out|by|limited|like|free|safe|aware|specific|defined|generated|level|wide|readable|writable|case|facing|friendly|to|date|time|sensitiv|pflichtig|stellig|basiert|weise|mail|management|manager|service|interface|menu|ils?|elles?|on|je|nous|vous|ce)$/i;
const MARK = /\d|_|[a-z][.-][a-z]/i;
/** A surname and a first letter, but for files of C: `lindner.o`. */
const SURNAME_FIRST = /^[a-z]{3,20}\.[abd-gi-z]$/;

const FILES = new Set('md json yaml yml txt js ts tsx jsx py html css sh toml xml sql log env csv lock'.split(' '));

/** Whether the last part of a word is one of names of code or files, as of most words with `_` or a full stop in them. */
export function endsAsInCode(text: string, start: number, end: number): boolean {
  let from = end;
  while (from > start && isSmall(text.charCodeAt(from - 1))) from -= 1;
  if (from === start) return false;
  const part = text.slice(from, end);
  return text[from - 1] === '.' ? FILES.has(part) : text[from - 1] === '_' && PARTS.has(part);
}

/** How a login is written that no word is: with digits or `_`, with a full stop between letters, or with a hyphen. */
export type LoginShape = 'digits' | 'joined' | 'hyphenated';

/** The shape of a word that may be a login, or undefined where it is a word, a name of code or a version. */
export function loginShapeOf(value: string): LoginShape | undefined {
  if (ACRONYM.test(value) || !MARK.test(value) || !SHAPE.test(value) || isNobodysLogin(value)) return undefined;
  if (NO_LOGIN.test(value) && !SURNAME_FIRST.test(value)) return undefined;
  const parts = value.toLowerCase().split(/[_.-]/);
  if (parts.some((part) => PARTS.has(part))) return undefined;
  if (/\d/.test(value)) return 'digits';
  // Names of code go on in capitals, and have more parts.
  if (parts.length > 3 || /[a-z][A-Z]/.test(value)) return undefined;
  if (!value.includes('-')) return 'joined';
  return HYPHENATED.test(value) ? undefined : 'hyphenated';
}

/** Two consonants that words of the eight languages begin with, as far as such words follow "is". */
const ONSETS = new Set(
  'bl br ch cl cr cz dr dw dz fl fr gd gh gl gn gr gw kl kn kr kt kw lh mn pf ph pl pn pr ps pt qu rh rz sb sc sd sf sh sj sk sl sm sn sp sq ss st sv sw sz th tr ts tw vl vr wb wc wd wh wl wn wp wr ws wt wz zb zd zg zl zm zn zr zs zw'.split(
    ' ',
  ),
);
const CONSONANTS = 'bcdfghjklmnpqrstvwxz';
/** Marks all others, by the places of both in the alphabet. */
const UNUSUAL = new Uint8Array(1024);
for (const first of CONSONANTS)
  for (const second of CONSONANTS)
    if (!ONSETS.has(first + second)) UNUSUAL[placeOf(first.charCodeAt(0), second.charCodeAt(0))] = 1;

function placeOf(first: number, second: number): number {
  return ((first - 97) << 5) | (second - 97);
}

/** Whether the word at `at` begins with two consonants, small ones, as no word does, or with one before `kn` or `wh`, or with `ptr`. */
export function isUnusual(text: string, at: number): boolean {
  const first = text.charCodeAt(at);
  const second = text.charCodeAt(at + 1);
  if (first < 97 || first > 122 || second < 97 || second > 122) return false;
  if (UNUSUAL[placeOf(first, second)] === 1) return true;
  const third = text.charCodeAt(at + 2);
  if (first === 112 && second === 116) return third === 114;
  const isOnset = (second === 107 && third === 110) || (second === 119 && third === 104);
  return isOnset && CONSONANTS.includes(text[at] as string);
}

const INITIAL_AND_NAME = /^[bcdfghjklmnpqrstvwxz]{2,5}[aeiouy][a-z]{1,17}$/;
/** A surname and a first letter, where no word ends in both: `vogtm`. */
const NAME_AND_INITIAL = /^[a-z]{1,12}[aeiouy][a-z]{0,8}(?:[bcdfkptvwxz]m|[bcdfgkptvwxzlmrs][jqv]|[cdkptvxz][bgw])$/;
const FULL_NAME = /^[a-z]{1,16}\.[a-z]{1,20}$/;
const ABBREVIATED =
  /^(?:json\w*|nginx|rsync|rspec|bcrypt|vscode|xterm|ngrok|jsdom|dbus|mqtt|ldap\w*|https?|xhtml|mdns|pgadmin|ctrl|cname|hmac|vlan|wlan|vpn\w*|sso|tmux|gmail|jdbc|odbc|nvidia|ffmpeg|wsl|dto\w*)$/;

/** Whether a word of letters may be a login: a first letter and a surname, as no word begins (`mkowalski`), or `ada.byron`. */
export function mayBeUnmarked(word: string): boolean {
  if (word.charCodeAt(0) < 97) return false;
  if (FULL_NAME.test(word)) return loginShapeOf(word) !== undefined;
  const isMarked = isUnusual(word, 0) ? INITIAL_AND_NAME.test(word) : NAME_AND_INITIAL.test(word);
  return isMarked && !ABBREVIATED.test(word);
}
