import type { Random } from './random.ts';

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
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

/** Names of code, files, hosts, versions and tickets. */
function named(random: Random): string {
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

const TRADE =
  'iPhone15 Win10 Win11 A320 B737 XC90 Q3 Q4 FY24 H1N1 Covid-19 B12 A4 A3 G20 G7 MP3 MP4 4K 8K 5G USB-C USB3 HDMI2 DDR5 M.2 RJ45 CAT6 x86_64 amd64 arm64 i386 utf8mb4 latin1 h264 ISO-8859-1 k8s i18n a11y l10n e2e p95 p99 3rd 2nd 1st 1er 2e 10x 24/7 9-to-5 B2B B2C C2C O2 3M M&A R&D Q&A T&C AT&T H&M P&L HP-M404dn ET-2750 DS920+ RTX4090 E-Mail E-mail T-Shirt e-banking e-learning Wi-Fi C++ C# F# .NET Node.js Vue.js ASP.NET Booking.com Check24 1und1 Office365 Microsoft365 Web.de GMX.net PS5 Xbox360 Wii3 Formel1 Euro7 CO2 H2O TÜV-1 SGB2 U18 U21 S-Bahn-1 M10 IC2023 ICE512 LH1234 TGV8412 KL1009 RE7 S3 U6 E45 A7 B27'.split(
    ' ',
  );
const CONFIGURED =
  'claude-3-5-sonnet gpt-4o-mini gpt-5-codex mistral-large-2411 gemini-1.5-pro llama-3.1-8b text-embedding-3-small o4-mini node-20 python3.11 java-17 ruby3.2 postgres:16 redis:7-alpine ubuntu-22.04 debian-12 en-US de-DE pt-BR us-east-1 eu-west-3 europe-west4 v1alpha1 v1beta1 apps/v1 application/json text/plain 127.0.0.1 0.0.0.0 localhost:8080 3000 5432 8443 10s 30s 500ms 64KiB 2GiB 1.5x 0755 0644 0x1f #fff #1a2b3c utf-8 base64 sha-256 md5 http/1.1 h2 tls1.2 rs256 es2022 esnext commonjs strict-origin no-store max-age=60 gpt-4.1-2025-04-14'.split(
    ' ',
  );
const ENUMERATED =
  'sandbox mode turn trigger thread source root parent tool call stop reason finish usage input output max tokens cache control read write base branch head commit diff patch file path line range start end offset limit cursor page next prev total item index order sort filter query search match replace old new string text content type kind name title label status state phase event job task step run build test deploy release version tag image container pod node service host port url uri endpoint method header body param arg flag option setting feature mode level depth size width height color theme locale lang region zone time date day week month year created updated deleted expires retry delay timeout interval rate burst quota batch stream chunk frame block lock mutex queue topic group role scope policy rule action result error code message reason cause stack trace span metric counter gauge log audit record row column table schema field key value map list set array object json yaml working directory shell command approval network access full danger never agent model provider session conversation history summary memory context window prompt system user assistant developer instructions'.split(
    ' ',
  );

/** Names as the settings, tools and events of programs have, and of trade, transport and standards. */
function enumerated(random: Random): string {
  const word = (): string => random.pick(ENUMERATED);
  const hex = (count: number): string => random.strong(count, '0123456789abcdef');
  const coded = (count: number): string =>
    random.strong(count, 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789');
  return random.weighted([
    [8, () => `${word()}_${word()}`],
    [4, () => `${word()}_${word()}_${word()}`],
    [3, () => `${word()}-${word()}`],
    [3, () => `${word()}-${word()}-${word()}`],
    [3, () => `${word()}.${word()}`],
    [2, () => `${word()}.${word()}.${word()}`],
    [3, () => word() + capital(word())],
    [2, () => word() + capital(word()) + capital(word())],
    [2, () => capital(word()) + capital(word())],
    [2, () => `${word()}_${word()}`.toUpperCase()],
    [2, () => `${word()}${random.digits(1)}`],
    [2, () => `${word()}_${random.digits(1)}`],
    [
      2,
      () =>
        `${random.pick(['call', 'toolu', 'msg', 'req', 'resp', 'run', 'item', 'fc', 'rs', 'evt', 'sess', 'task'])}_${coded(6 + random.below(18))}`,
    ],
    [2, () => hex(7 + random.below(2))],
    [1, () => hex(12)],
    [1, () => `${hex(8)}-${hex(4)}-${hex(4)}`],
    [1, () => `${word()}-${word()}-${hex(5)}`],
    [1, () => `${word()}-${hex(9)}-${coded(5).toLowerCase()}`],
    [2, () => `${word()}@${random.digits(1)}.${random.digits(1)}.${random.digits(1)}`],
    [1, () => `${word()}[${random.digits(1)}]`],
    [1, () => `${word()}#${random.digits(2)}`],
    [1, () => `--${word()}-${word()}`],
    [1, () => `L${random.digits(2)}`],
    [1, () => `line${random.digits(2)}`],
    [1, () => `+${random.digits(2)}-${random.digits(1)}`],
    [1, () => `\\n${word()}`],
    [1, () => `${word()}!`],
    [1, () => `${capital(word())}!`],
    [6, () => random.pick(TRADE)],
    [6, () => random.pick(CONFIGURED)],
  ] as const)();
}

/** Names and numbers that are neither logins nor passwords. */
export function technical(random: Random): string {
  return random.next() < 0.55 ? named(random) : enumerated(random);
}
