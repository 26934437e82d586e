import { marked } from '../../test/harness/marked-text.ts';
import type { Random } from './random.ts';
import { technical } from './technical.ts';
import { unusual, type Labelled, type Language, type Reading } from './texts.ts';
import { code, login, password } from './values.ts';

/** What announces a login, a password and a code, as it stands in a sentence. */
const SAID: Readonly<Record<Language, readonly [string, string, string]>> = {
  en: [
    'login|username|user|user name|user ID|account|the account|my account|the user|his login|her username|logged in|log in|sign in|signed in|signs in|connect|handle|profile|account name|the user account|logs me in',
    'password|passwords|the password|my password|wifi password|wifi|passphrase|passcode|wrong password|pw|the old password|guest wifi|the new password',
    'PIN|code|door code|access code|the PIN|keypad code|passcode|the code|PIN code',
  ],
  de: [
    'Login|Benutzername|Benutzernamen|Benutzer|User|Konto|Account|das Konto|mein Konto|Kennung|Anmeldename|angemeldet|melde mich|anmelden|einloggen|Benutzerkonto|Nutzername|Benutzerprofil|Zugangskennung|loggt',
    'Passwort|Kennwort|das Passwort|mein Kennwort|WLAN-Passwort|WLAN|Gäste-WLAN|falsches Passwort|des Passworts|PW|neues Passwort',
    'PIN|Code|Türcode|Zugangscode|die PIN|der Code|Zahlencode',
  ],
  fr: [
    "login|nom d'utilisateur|utilisateur|l'utilisateur|identifiant|mon identifiant|compte|mon compte|le compte|connecter|se connecte|connexion|session|profil utilisateur|compte utilisateur|connecté",
    'mot de passe|le mot de passe|mots de passe|mdp|mot de passe wifi|wifi|mot de passe incorrect|mon mot de passe',
    "code|PIN|le code|code PIN|code d'accès|code de la porte|digicode",
  ],
  es: [
    'login|nombre de usuario|usuario|el usuario|cuenta|mi cuenta|la cuenta|iniciar sesión|inicia sesión|entrar|acceder|sesión|perfil de usuario|credenciales|conectarse',
    'contraseña|la contraseña|clave|mi clave|contraseña del wifi|wifi|contraseña incorrecta|contraseñas',
    'código|PIN|el código|el PIN|clave de acceso|código de la puerta',
  ],
  it: [
    "login|nome utente|utente|l'utente|account|mio account|l'account|accedere|entrare|accesso|collegarsi|credenziali|profilo utente|connettersi|sessione",
    'password|la password|mia password|password del wifi|wifi|password errata|parola chiave',
    "codice|PIN|il codice|il PIN|codice d'accesso|codice del cancello",
  ],
  nl: [
    'login|gebruikersnaam|gebruiker|de gebruiker|account|mijn account|het account|inloggen|ingelogd|log in|aanmelden|inlognaam|gebruikersprofiel|logt',
    'wachtwoord|het wachtwoord|mijn wachtwoord|wifi-wachtwoord|wifi|gastenwifi|verkeerd wachtwoord|ww',
    'code|pincode|de code|PIN|toegangscode|deurcode',
  ],
  pl: [
    'login|nazwa użytkownika|użytkownik|użytkownika|konto|konta|moje konto|na konto|zalogować|zalogowany|loguje|logowanie|logowania|identyfikator|profil użytkownika',
    'hasło|hasła|moje hasło|hasło do wifi|wifi|złe hasło|hasłem',
    'kod|PIN|kod do drzwi|kodu|kodem|kod dostępu',
  ],
  pt: [
    'login|nome de utilizador|utilizador|nome de usuário|usuário|conta|minha conta|a conta|entrar|iniciar sessão|aceder|perfil de utilizador|acesso|ligar-se|conectar',
    'senha|palavra-passe|a senha|minha senha|senha do wifi|wifi|senha errada|a palavra-passe',
    'código|PIN|o código|o PIN|código de acesso|código da porta',
  ],
};

const AROUND: readonly (readonly [number, readonly [string, string]])[] = [
  [14, ['', '']],
  [2, ['', ',']],
  [1, ['', '.']],
  [1, ['', ' —']],
  [1, ['"', '"']],
  [1, ["'", "'"]],
  [1, ['(', ')']],
  [1, [': ', '']],
  [1, ['– ', '']],
  [1, ['„', '“']],
  [1, ['« ', ' »']],
];
/** A value stands at most so many words from what announces it. */
const NEAR = 7;

/**
 * An ordinary sentence with a word that announces logins or passwords in it, and a value or a technical name near: what a word
 * is made of has to tell, since the words around are any.
 */
export function placed(random: Random, language: Language, reading: Reading): Labelled {
  const words = sentenceOf(random, reading.texts).split(' ');
  const kind = random.weighted([
    [6, 0],
    [4, 1],
    [1, 2],
  ] as const);
  const said = random.pick(SAID[language][kind].split('|'));
  const cue = random.below(words.length + 1);
  const place = Math.max(0, Math.min(words.length, cue + random.below(2 * NEAR + 1) - NEAR));
  const [before, behind] = random.weighted(AROUND);
  const value = random.next() < 0.5 ? valueOf(random, kind, reading) : otherOf(random, kind, reading);
  const inserted = `${before}${value}${behind}`;
  // Both at one place: the value behind the word in half of the sentences.
  if (place > cue || (place === cue && random.next() < 0.7)) {
    words.splice(place, 0, inserted);
    words.splice(cue, 0, said);
  } else {
    words.splice(cue, 0, said);
    words.splice(place, 0, inserted);
  }
  const text = words.join(' ');
  return marked(random.next() < 0.2 ? text.replace(/(?:^|›)[^‹]*/g, (part) => part.toLowerCase()) : text);
}

function valueOf(random: Random, kind: 0 | 1 | 2, { vocabulary }: Reading): string {
  if (kind === 0) return `‹USERNAME:${login(random, vocabulary)}›`;
  return `‹SECRET:${kind === 1 ? password(random, vocabulary) : code(random)}›`;
}

/** Words near such words that are neither; of numbers those that count or date something. */
function otherOf(random: Random, kind: 0 | 1 | 2, reading: Reading): string {
  if (kind !== 2 && random.next() < 0.4) return unusual(random, reading);
  if (kind !== 2) return technical(random);
  const digits = random.digits(4 + random.below(3));
  return random.pick([
    `${random.pick(['19', '20'])}${random.digits(2)}`,
    `${digits} ${random.pick(['Euro', 'EUR', 'GB', 'km', 'users', 'PLN', '%', 'kg', 'm²', 'points', 'bytes', 'ms'])}`,
    `${random.pick(['#', 'no. ', 'Nr. ', 'n° ', 'RFC ', 'ISO ', 'HTTP ', 'error ', 'port '])}${digits}`,
    technical(random),
  ]);
}

/** A sentence of a text, or a part of a long one. */
function sentenceOf(random: Random, texts: readonly string[]): string {
  const sentence = random
    .pick(random.pick(texts).split(/(?<=[.?!])\s|\n/))
    .replace(/[‹›]/g, '')
    .trim();
  const words = sentence.split(/\s+/);
  const from = random.below(Math.max(1, words.length - 20));
  return words.slice(from, from + 5 + random.below(16)).join(' ');
}
