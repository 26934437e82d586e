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

/** A login as people and firms make them. */
export function login(random: Random, { words, given, surnames }: Vocabulary): string {
  const first = plain(random.pick(given)) || 'ada';
  const last = plain(random.pick(surnames)) || 'byron';
  const word = (): string => plain(random.pick(words)) || 'harbour';
  const initial = first.slice(0, 1);
  const digits = random.digits(1 + random.below(4));
  const sign = random.pick(['_', '.', '-', '.']);
  const makers: readonly (readonly [number, () => string])[] = [
    [10, () => initial + last],
    [6, () => initial + last + digits],
    [7, () => `${initial}.${last}`],
    [8, () => `${first}.${last}`],
    [6, () => `${first}_${last}`],
    [3, () => `${first}-${last}`],
    [4, () => `${last}.${initial}`],
    [4, () => last + initial],
    [4, () => `${initial}${sign}${last}${digits}`],
    [5, () => first + digits],
    [3, () => last + digits],
    [4, () => first + last],
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

const FILES =
  'ts tsx js py md yaml yml json toml go rs rb php java sql sh env conf log txt pdf xlsx docx csv vue html css lock'.split(
    ' ',
  );
const CODE_WORDS =
  'user login password auth session account token id name hash reset last created updated email role access current is get set check form page service controller handler table column list data new old max failed locked policy manager provider config test value key type status error count db app api admin client request response'.split(
    ' ',
  );
const PRODUCTS =
  'Windows11 Windows10 macOS15 iOS18 OAuth2 SAML2 Office365 M365 PostgreSQL MySQL8 MariaDB10 GPT-4 GPT-5 1Password KeePass KeePassXC Bitwarden LastPass GitHub GitLab Auth0 Neo4j Log4j Next.js Node.js Vue.js Python3 Java17 PHP8 Debian12 Ubuntu-24.04 iPhone15 RTX4090 XPS13 Redis7 S3 EC2 K8s TYPO3 Keycloak LDAP OpenSSH WPA2 WPA3 WPA2-PSK Wi-Fi6 802.1X IPv6 TLS1.3 HTTP2 X.509 ISO27001 FIDO2 U2F TOTP passlib bcrypt argon2id scrypt sha256 SHA-256 scram-sha-256 AES-256 RSA-2048 utf-8 base64 base64url md5 pbkdf2 HS256 RS256 Claude ChatGPT Confluence Jira ServiceNow SharePoint OneDrive PayPal LinkedIn YouTube WordPress PowerShell CyberArk CrashLoopBackOff nginx rsync systemd'.split(
    ' ',
  );
const HYPHENATED =
  'case-sensitive case-insensitive read-only two-factor self-service on-premise built-in role-based rate-limited e-mail sign-up log-out opt-in plain-text third-party end-to-end up-to-date real-time multi-tenant single-sign-on front-end back-end per-user user-facing web-based time-limited one-time two-step passwordless time-based server-side 14-digit 6-stellig case-sensitiv personengebunden sous-domaine rendez-vous peut-être vis-à-vis est-il celui-ci là-bas auto-update e-mailadres'.split(
    ' ',
  );

/** Technical names that are neither logins nor passwords. */
export function technical(random: Random): string {
  const word = (): string => random.pick(CODE_WORDS);
  const digits = (most: number): string => random.digits(1 + random.below(most));
  return random.weighted([
    [6, () => `${word()}${random.pick(['.', '-', '_', ''])}${word()}.${random.pick(FILES)}`],
    [3, () => `${word()}.${random.pick(FILES)}`],
    [3, () => `${capital(word())}${capital(word())}.${random.pick(FILES)}`],
    [6, () => `${word()}_${word()}`],
    [3, () => `${word()}_${word()}_${word()}`],
    [2, () => `${word()}_${word()}`.toUpperCase()],
    [5, () => word() + capital(word())],
    [3, () => word() + capital(word()) + capital(word())],
    [3, () => capital(word()) + capital(word())],
    [5, () => `${word()}.${word()}`],
    [2, () => `req.${word()}.${word()}`],
    [4, () => `${random.pick(['v', '', ''])}${digits(2)}.${digits(2)}${random.below(2) ? `.${digits(2)}` : ''}`],
    [1, () => `v${digits(1)}.${digits(1)}.0-rc${digits(1)}`],
    [12, () => random.pick(PRODUCTS)],
    [6, () => random.pick(HYPHENATED)],
    [3, () => `${random.pick(['fix', 'feat', 'feature', 'chore', 'bugfix', 'hotfix', 'release'])}-${word()}-${word()}`],
    [2, () => `${word()}-${word()}`],
    [2, () => `${word()}-${digits(4)}`],
    [
      3,
      () =>
        `${random.pick(['srv', 'db', 'web', 'app', 'host', 'vm', 'node', 'mail', 'fs', 'dc', 'proxy'])}${random.pick(['-', ''])}${random.pick(['prod-', 'test-', '', ''])}0${digits(1)}`,
    ],
    [
      3,
      () =>
        `${random.pick(['server', 'host', 'Server', 'Srv', 'node', 'Node', 'PC', 'laptop', 'drucker', 'printer', 'switch', 'router'])}-${random.pick(['Prod-', 'Test-', '', '', ''])}${digits(2)}`,
    ],
    [
      2,
      () =>
        `${word()}.${random.pick(['example', 'corp', 'internal', 'company'])}.${random.pick(['com', 'org', 'net', 'de', 'fr', 'pl'])}`,
    ],
    [
      3,
      () =>
        `${random.pick(['INC', 'SD', 'REQ', 'CHG', 'PROJ', 'OPS', 'BUG', 'HD', 'AUTH'])}-${random.digits(2 + random.below(5))}`,
    ],
    [2, () => `${random.letters(1).toUpperCase()}${random.digits(4)}-${digits(2)}`],
    [2, () => random.strong(7 + random.below(2), '0123456789abcdef')],
    [3, () => random.letters(1 + random.below(3)).toUpperCase() + random.digits(5 + random.below(6))],
    [
      2,
      () =>
        `${random.pick(['E', 'ERR', 'ERR_', '0x', 'ORA-', 'HTTP', 'MFA', 'Q', 'Room', 'B', 'A', 'KW'])}${digits(4)}`,
    ],
    [2, () => `--${word()}`],
    [2, () => `$${word().toUpperCase()}_${word().toUpperCase()}`],
    [
      2,
      () =>
        `${digits(3)}${random.pick(['h', 'min', 's', 'd', 'GB', 'MB', 'x', '%', '-day', '-digit', '€', 'px', 'ms'])}`,
    ],
    [1, () => `${random.pick(['20', '19'])}${random.digits(2)}-${random.digits(2)}-${random.digits(2)}`],
    [1, () => `${random.digits(2)}.${random.digits(2)}.${random.digits(4)}`],
    [1, () => `${random.digits(2)}:${random.digits(2)}`],
    [2, () => random.digits(3 + random.below(3))],
    [1, () => `#${random.digits(4)}`],
    [1, () => `@${word()}`],
    [1, () => `!${word()}`],
    [
      1,
      () =>
        `${random.pick(['uid', 'pid', 'id', 'ou', 'cn', 'port', 'tty', 'sev', 'tier', 'stage', 'step', 'level', 'option', 'rule', 'item', 'page', 'test', 'case', 'user'])}${digits(2)}`,
    ],
  ] as const)();
}

/** A system that people have logins for. */
export const SYSTEMS =
  'SAP Jira Confluence Outlook Teams Slack GitLab Jenkins Salesforce Citrix Moodle Nextcloud Datev Personio Workday Zendesk Grafana Kibana Exchange Oracle WordPress Zoom Dropbox HubSpot Elster Trello Asana Webex phpMyAdmin Proxmox Vault Odoo Navision Dynamics AWS Azure Netflix Spotify Amazon'.split(
    ' ',
  );
