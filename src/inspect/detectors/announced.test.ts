import { describe, expect, test } from 'vitest';
import { marked } from '../../../test/harness/marked-text.ts';
import { announcedLogin } from './announced-login.ts';
import { announcedSecret } from './announced-secret.ts';
import { scannerOf } from './scanner.ts';
import { secret } from './secret.ts';
import { username } from './username.ts';
import { finish } from '#/wire/document/steps.ts';

const detection = scannerOf([secret, announcedSecret, username, announcedLogin]);
const only = new Set(['USERNAME', 'SECRET']);
const expectFinds = (source: string): void => {
  const { text, spans } = marked(source);
  expect(detection.find(text, only)).toEqual(spans);
  // In steps, and far behind the first of them.
  expect(finish(detection.steps(text, only))).toEqual(spans);
  const far = `${'All is quiet here today. '.repeat(800)}\n`;
  const moved = spans.map((span) => ({ ...span, start: span.start + far.length, end: span.end + far.length }));
  expect(finish(detection.steps(far + text, only))).toEqual(moved);
};

describe('logins that a sentence announces', () => {
  test.each([
    'My username is ‹USERNAME:jharper42› and the page reloads.',
    'my old login ‹USERNAME:tbriggs› is gone',
    'I log in as ‹USERNAME:kate_wells›, as always.',
    'Der Benutzername lautet ‹USERNAME:hschmidt›.',
    'Ich melde mich als ‹USERNAME:petra_lang› an.',
    "L'utilisateur ‹USERNAME:stagiaire3› est bloqué.",
    'Mi usuario sigue siendo ‹USERNAME:rgomez›.',
    'Il nome utente è ancora ‹USERNAME:luca_84›.',
    'Kan gebruiker ‹USERNAME:a.mulder› erbij?',
    'Mój login to ‹USERNAME:mkowalski›.',
    'O utilizador ‹USERNAME:t.almeida› ficou bloqueado.',
    'User-ID für das Portal: ‹USERNAME:RZ40817›',
    'Mein Windows-Login hat sich von ‹USERNAME:lmeyer› in ‹USERNAME:lmeyer-vogt› geändert.',
    'Auf dem Server als ‹USERNAME:wartung_nord› anmelden.',
    'The caller gave ‹USERNAME:rbx2041› as her user ID.',
    "what's the username again? ah, ‹USERNAME:harbour_desk›, never mind",
    'Le compte de service ‹USERNAME:svc_import03› est bloqué.',
    'Affected user: ‹USERNAME:hbrennan›, since Monday.',
    'Der Benutzername ‹USERNAME:lindner.o› fehlt.',
  ])('%s', expectFinds);

  test.each([
    'The username is case-insensitive and login is rate-limited.',
    'The user is undefined, the login is req.user, the account is read-only.',
    'Name handlers after the event: user.created, login.failed.',
    '`username` is user_name in the legacy schema; the login page is apps/login.vue.',
    'Der Benutzername ist kleingeschrieben. Ein Login ist mit Windows11 möglich.',
    'Login to server-1 fails, login is v2.4, the user guide is UTF-8.',
    'The username is taken. mkowalski said so.',
    'Send the username, tenant_code, and order_total. Is the account read_only, or not?',
    'Votre identifiant est-il votre adresse ? The user runs main.c and lib.h.',
  ])('not in: %s', expectFinds);
});

describe('passwords that a sentence announces', () => {
  test.each([
    'The wifi password is ‹SECRET:BlueHeron77›, share it.',
    'I set your password to ‹SECRET:Autumn-4821› yesterday.',
    'the password for the shared drive is ‹SECRET:tangerine!dream›',
    'My PIN for the voicemail is ‹SECRET:4471›.',
    'Das Kennwort wurde auf ‹SECRET:Neustart#44› zurückgesetzt.',
    "le mot de passe c'est ‹SECRET:chocolat33›",
    'La contraseña del wifi es ‹SECRET:Girasol2023›.',
    'Il PIN è ‹SECRET:5127›.',
    'Tijdelijk wachtwoord: ‹SECRET:Welkom!›',
    'Hasło do wifi to ‹SECRET:Slonecznik23›.',
    'A senha é ‹SECRET:Girassol25›.',
    'Abre el zip con la contraseña "‹SECRET:Mar y Cielo 4›".',
    'Le mot de passe est « ‹SECRET:Route Tonnerre 75› », avec les espaces.',
    'We use ‹SECRET:Spring2026!› as the default password.',
    'The old passcode for the tablet, ‹SECRET:552190›, still opens it.',
    'Het oude wachtwoord (‹SECRET:W1jzigNu!›) is uitgelekt.',
    'La contraseña inicial ‹SECRET:Mar-Mesa-58› caduca.',
    'The code for the gate is ‹SECRET:2580›. Der Türcode ist ‹SECRET:7741›.',
    'Your one-time password is ‹SECRET:839204›.',
    'Password for the guest laptop: ‹SECRET:SunnyGarden›',
    'Tymczasowy PIN do identyfikatora to ‹SECRET:60418›.',
  ])('%s', expectFinds);

  test.each([
    'The password must have 12 characters and is hashed with argon2id since v2.4.',
    'Das Passwort ist 32-stellig, die PIN ist 6-stellig.',
    'The password is base64url-encoded, the PIN is 2048 bits, the token is valid for 24h.',
    'password: !secret mqtt_password',
    'DB_PASSWORD=${DB_PASSWORD}',
    'The password is wrong. Order A4711-22 was sent.',
    'The contract says "as of May 4" and the password is old.',
    'The error code is 4711. The password is stored as scram-sha-256, never as text.',
    'Passwords are reset on the host Srv-Prod-01. The password tool is KeePass, not OneDrive.',
    'MD5Password = AuthenticationMD5Password; the password, 4711 times, is wrong.',
  ])('not in: %s', expectFinds);
});
