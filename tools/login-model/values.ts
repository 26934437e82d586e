import type { Random } from './random.ts';

/** Words and names that values are made of: lower case words, given names and surnames of one language. */
export interface Vocabulary {
  readonly words: readonly string[];
  readonly given: readonly string[];
  readonly surnames: readonly string[];
}

function plain(word: string): string {
  const letters: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', ß: 'ss', ł: 'l', ø: 'o', æ: 'ae' };
  const spelled = word.toLowerCase().replace(/[äöüßłøæ]/g, (letter) => letters[letter] as string);
  return spelled.normalize('NFD').replace(/[^a-z]/g, '');
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

const SERVICES = 'svc sa ext adm admin test srv bot app int ops dev batch backup sync api'.split(' ');
const THINGS =
  'runner reader upload import export backup monitor deploy desk office team lager kasse service portal nightly worker sync reports mailer billing stock scanner kiosk print audit archive'.split(
    ' ',
  );

const ENDINGS = 'ro rw adm ext svc bot user usr dev prod test ops lab nord sud new old tmp api db'.split(' ');

/** A login as people and firms make them. */
export function login(random: Random, { words, given, surnames }: Vocabulary): string {
  const first = plain(random.pick(given)) || 'ada';
  const last = plain(random.pick(surnames)) || 'byron';
  const word = (): string => plain(random.pick(words)) || 'harbour';
  const initial = first.slice(0, 1);
  const digits = random.digits(1 + random.below(4));
  const year = (): string => String(1950 + random.below(80));
  const sign = random.pick(['_', '.', '-', '.']);
  const makers: readonly (readonly [number, () => string])[] = [
    [20, () => initial + last],
    [6, () => initial + last + digits],
    [7, () => `${initial}.${last}`],
    [8, () => `${first}.${last}`],
    [6, () => `${first}_${last}`],
    [3, () => `${first}-${last}`],
    [4, () => `${last}.${initial}`],
    [6, () => last + initial],
    [4, () => `${initial}${sign}${last}${digits}`],
    [5, () => first + digits],
    [3, () => last + digits],
    [5, () => first + last],
    [2, () => first.slice(0, 2) + last],
    [2, () => first.slice(0, 3) + last.slice(0, 3) + (random.below(2) ? digits : '')],
    [2, () => `${last}-${initial}`],
    [2, () => `${last}_${first}`],
    [2, () => `${initial}-${last}`],
    [2, () => `${initial}_${last}`],
    [4, () => random.letters(1 + random.below(3)) + random.digits(3 + random.below(4))],
    [3, () => random.letters(1 + random.below(3)).toUpperCase() + random.digits(3 + random.below(4))],
    [2, () => random.letters(2) + random.digits(2) + random.letters(2)],
    [
      5,
      () =>
        `${random.pick(SERVICES)}${random.pick(['_', '-', '.', ''])}${random.pick([...THINGS, word()])}${random.below(3) ? '' : digits}`,
    ],
    [4, () => `${random.pick(THINGS)}${random.pick(['_', '-', '.'])}${random.pick([...THINGS, word(), digits])}`],
    [4, () => word() + digits],
    [4, () => `${word()}${sign}${word()}`],
    [2, () => `${word()}${sign}${digits}`],
    [4, () => word() + word()],
    [2, () => capital(word()) + capital(word()) + (random.below(2) ? digits : '')],
    [1, () => capital(first) + capital(last)],
    [1, () => capital(first) + digits],
    [2, () => `${capital(word())}${capital(word())}${random.pick(['_', '', '.'])}${random.pick([digits, year()])}`],
    [2, () => `${capital(first)}_${capital(last)}`],
    [2, () => `${first}${sign}${random.pick([digits, year()])}`],
    [3, () => `${word()}-${word()}`],
    [2, () => `${random.pick(SERVICES)}${sign}${word()}${sign}${word()}`],
    [2, () => `${word()}_${random.pick(ENDINGS)}`],
    [2, () => initial + random.letters(1) + last],
    [2, () => `${first}${sign}${word()}`],
    [1, () => `the${last}s`],
    [1, () => `x${first}x`],
    [2, () => random.digits(6 + random.below(4))],
    [1, () => `${capital(initial)}${capital(last)}`],
    [1, () => `${last}${first.slice(0, 2)}`],
    [1, () => first],
    [1, () => last],
  ];
  const made = random.weighted(makers)();
  return made.length < 3 || made.length > 30 ? initial + last + digits : made;
}

const SIGNS = '!#$%&*?+-_.@!#$!';
const EACH_SIGN = SIGNS.split('');

/** A password as people choose and programs make them. */
export function password(random: Random, { words, given }: Vocabulary): string {
  const word = (): string => random.pick(words).replace(/[^\p{L}]/gu, '') || 'Winter';
  const Word = (): string => capital(word());
  const sign = (): string => random.pick(EACH_SIGN);
  const year = (): string => String(1960 + random.below(80));
  const digits = (): string => random.digits(1 + random.below(4));
  const makers: readonly (readonly [number, () => string])[] = [
    [8, () => Word() + digits()],
    [5, () => Word() + year()],
    [7, () => Word() + sign() + digits()],
    [6, () => `${Word()}${sign()}${year()}`],
    [5, () => `${Word()}${digits()}${random.pick(['!', '!', '?', '#', '$', '*'])}`],
    [4, () => word() + digits()],
    [4, () => `${word()}${sign()}${word()}`],
    [3, () => `${Word()}-${Word()}-${digits()}`],
    [3, () => `${word()}-${word()}-${word()}`],
    [3, () => Word() + Word()],
    [4, () => Word() + Word() + digits()],
    [2, () => `${Word()}!`],
    [4, () => word().replace(/a/g, '@').replace(/o/g, '0').replace(/e/g, '3').replace(/i/g, '1') + sign() + digits()],
    [3, () => Word().replace(/a/g, '4').replace(/o/g, '0').replace(/s/g, '$') + digits()],
    [8, () => random.strong(8 + random.below(9), `abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789${SIGNS}`)],
    [4, () => random.strong(8 + random.below(9), 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789')],
    [
      2,
      () =>
        random.strong(4, 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789') +
        '-' +
        random.strong(4, 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'),
    ],
    [2, () => random.pick(given) + digits() + (random.below(2) ? sign() : '')],
    [
      2,
      () =>
        random.pick(['qwertz', 'qwerty', 'azerty', 'abc', 'asdf', 'test', 'admin', 'letmein', 'welcome']) + digits(),
    ],
    [2, () => word() + word()],
    [4, () => `${random.pick([word, Word])()}${digits()}${random.letters(1 + random.below(2))}`],
    [2, () => `${word()}${digits()}${random.letters(1 + random.below(2)).toUpperCase()}`],
    [3, () => `${word()}-${word()}-${digits()}`],
    [2, () => `${Word()}${digits()}${Word()}`],
    [1, () => `${digits()}${Word()}${sign()}`],
    [2, () => `${word()}_${digits()}`],
    [1, () => word()],
  ];
  const made = random.weighted(makers)();
  return made.length < 5 || made.length > 32 ? `${Word()}#${year()}` : made;
}

/** A PIN, a password for one use or the code of a door. */
export function code(random: Random): string {
  return random.weighted([
    [10, () => random.digits(4)],
    [4, () => random.digits(6)],
    [1, () => random.digits(8)],
    [1, () => random.digits(5)],
    [1, () => random.digits(2) + random.letters(1).toUpperCase() + random.digits(2)],
    [1, () => `${random.letters(1).toUpperCase()}${random.digits(4)}`],
    [1, () => `${random.digits(4)}#`],
  ] as const)();
}

/** A system that people have logins for. */
export const SYSTEMS =
  'SAP Jira Confluence Outlook Teams Slack GitLab Jenkins Salesforce Citrix Moodle Nextcloud Datev Personio Workday Zendesk Grafana Kibana Exchange Oracle WordPress Zoom Dropbox HubSpot Elster Trello Asana Webex phpMyAdmin Proxmox Vault Odoo Navision Dynamics AWS Azure Netflix Spotify Amazon'.split(
    ' ',
  );
