import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { marked } from '../../../test/harness/marked-text.ts';
import { skipUnless } from '../../../test/harness/skip.ts';
import { createScanner } from './scanner.ts';

const detection = createScanner();
const only = new Set(['SECRET']);
const expectFinds = (source: string): void => {
  const { text, spans } = marked(source);
  expect(detection.find(text, only)).toEqual(spans);
};

/** Random-looking characters, the same in each run; no credential is written into the sources. */
function random(length: number, alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'): string {
  let state = length * 7919 + alphabet.length;
  let text = '';
  while (text.length < length) {
    state = (state * 1103515245 + 12345) % 2147483648;
    text += alphabet[(state >> 8) % alphabet.length] as string;
  }
  return text;
}

const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const hex = (length: number): string => random(length, '0123456789abcdef');
const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const jwt = `${base64({ alg: 'HS256', typ: 'JWT' })}.${base64({ sub: 'ada', iat: 1700000000 })}.${random(43)}`;
const body = [random(64), random(64), random(64), random(40)].join('\n');
const pem = (label: string, text = body): string => `-----BEGIN ${label}-----\n${text}\n-----END ${label}-----`;

const issued = {
  openai: `sk-${random(48)}`,
  openaiProject: `sk-proj-${random(40)}_${random(60)}-${random(24)}`,
  anthropic: `sk-ant-api03-${random(80)}-${random(8)}AA`,
  openrouter: `sk-or-v1-${hex(64)}`,
  groq: `gsk_${random(52)}`,
  gateway: `gw_live_${random(43)}`,
  gatewayTest: `gw_test_${random(43)}`,
  awsId: `AKIA${random(16, upper)}`,
  awsTemporaryId: `ASIA${random(16, upper)}`,
  github: `ghp_${random(36)}`,
  githubServer: `ghs_${random(36)}`,
  githubFine: `github_pat_${random(22)}_${random(59)}`,
  gitlab: `glpat-${random(20)}`,
  slack: `xoxb-${random(12, '0123456789')}-${random(12, '0123456789')}-${random(24)}`,
  google: `AIza${random(35)}`,
  stripe: `sk_live_${random(24)}`,
  stripeRestricted: `rk_live_${random(24)}`,
  stripeTest: `sk_test_${random(24)}`,
  npm: `npm_${random(36)}`,
  pypi: `pypi-AgEIcHlwaS5vcmc${random(80)}`,
  sendgrid: `SG.${random(22)}.${random(43)}`,
  huggingFace: `hf_${random(34)}`,
  slackHook: `https://hooks.slack.com/services/T${random(8, upper)}/B${random(8, upper)}/${random(24)}`,
  discordHook: `https://discord.com/api/webhooks/${random(18, '0123456789')}/${random(68)}`,
  telegram: `${random(10, '123456789')}:${random(35)}`,
  jwt,
  pem: pem('RSA PRIVATE KEY'),
  pemEncrypted: pem(
    'RSA PRIVATE KEY',
    `Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,${hex(32).toUpperCase()}\n\n${body}`,
  ),
  pemOpenssh: pem('OPENSSH PRIVATE KEY'),
  pemEscaped: pem('PRIVATE KEY').replaceAll('\n', '\\n'),
  pemOneLine: pem('PRIVATE KEY').replaceAll('\n', ' '),
};

describe('credentials of known shape, wherever they stand', () => {
  test.each(Object.entries(issued))('%s', (_, value) => {
    for (const around of [
      '@',
      'My key is @.',
      'use "@" or',
      "Foo('@')",
      'a=@&b=1',
      '<@>',
      '`@`',
      '[@](x)',
      '密钥是@。',
      'line\n@\nline',
      '\\n@\\n',
      '\t@',
    ]) {
      expectFinds(around.replace('@', () => `‹SECRET:${value}›`));
    }
  });

  test.each(Object.entries(issued).filter(([name]) => !/hook|pem/i.test(name)))(
    '%s is not found inside a longer word',
    (_, value) => {
      expect(detection.find(`x${value}`, only)).toEqual([]);
    },
  );

  test('with invisible characters inside', () => {
    const { text, spans } = marked(`key ‹SECRET:ghp_${random(18)}\u200b${random(18)}›`);
    expect(detection.find(text, only)).toEqual(spans);
  });

  test('a private key that is cut off is covered as far as it goes, and what follows is not', () => {
    expectFinds(`‹SECRET:-----BEGIN PRIVATE KEY-----\n${body}›\nand then some words`);
    expectFinds(`‹SECRET:-----BEGIN PRIVATE KEY-----\n${body}›`);
    expectFinds(`‹SECRET:-----BEGIN PRIVATE KEY-----\n${body}\nQUI=›\nwords`);
    expectFinds(`‹SECRET:-----BEGIN PRIVATE KEY-----\\n${random(64)}==›`);
    expectFinds(`‹SECRET:-----BEGIN PRIVATE KEY-----\n${body}›\n‹SECRET:${issued.pem}›`);
  });

  test('the secret key behind an AWS id', () => {
    const key = random(40, 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/+');
    expectFinds(`‹SECRET:${issued.awsId}›,‹SECRET:${key}›`);
    expectFinds(`‹SECRET:${issued.awsId}› / ‹SECRET:${key}›`);
    expectFinds(`aws_access_key_id = ‹SECRET:${issued.awsId}›\naws_secret_access_key = ‹SECRET:${key}›\n`);
    expectFinds(`"SecretAccessKey": "‹SECRET:${key}›"`);
    expectFinds(`commit ${random(40)}`);
  });
});

describe('passwords', () => {
  test.each([
    'postgres://app:‹SECRET:Dragon!1›@db.internal:5432/app',
    'postgres://u:‹SECRET:P$Ld?8fnVZygZ›@db.internal',
    'redis://:‹SECRET:hunter2›@cache:6379',
    'https://ada:‹SECRET:p@ss:w0rd›@example.com/x',
    'amqp://guest:‹SECRET:guest›@mq',
    'DATABASE_URL="mysql://root:‹SECRET:toor99›@localhost/db"',
    'mongodb+srv://u:‹SECRET:x9$k›@c0.example.net/?retryWrites=true',
    'password: ‹SECRET:hunter2›',
    'Password = "‹SECRET:correct horse 1›"',
    "passwd='‹SECRET:Summer2024!›'",
    'DB_PASS=‹SECRET:s3cr3t›',
    'userPwd: ‹SECRET:abc123›',
    '"password":"‹SECRET:T0p$ecret›","x":1',
    '\\"password\\":\\"‹SECRET:T0pSecret1›\\"',
    'Passwort: ‹SECRET:Kaffee#6›',
    'Kennwort = ‹SECRET:Winter_717›',
    'mot de passe : ‹SECRET:Soleil22›',
    'contraseña: ‹SECRET:Verano#99›',
    'senha=‹SECRET:Praia2024›',
    'hasło: ‹SECRET:Zima2024!›',
    'wachtwoord: ‹SECRET:Fiets88›',
    'pwd := ‹SECRET:abc123›',
    'pass => ‹SECRET:abc123›',
    'client_secret=‹SECRET:Xk29dkA8s›',
    'with password ‹SECRET:hbFdodD8A6› yesterday',
    'my password is ‹SECRET:hunter_2024›.',
    'Das Passwort lautet ‹SECRET:Kaffee#804›',
    'the password for ada is ‹SECRET:Dragon993›',
    'password "‹SECRET:rJbzDp93RZORW!›"',
  ])('%s', expectFinds);
});

describe('assignments of strong values', () => {
  test.each([
    `api_key = "‹SECRET:${random(32)}›"`,
    `API-KEY: ‹SECRET:${random(32)}›`,
    `apiKey:'‹SECRET:${random(24)}›'`,
    `x-api-key: ‹SECRET:${hex(40)}›`,
    `"token":"‹SECRET:${random(30)}›"`,
    `export API_TOKEN=‹SECRET:${hex(40)}›`,
    `access_key: ‹SECRET:${random(40)}›`,
    `AccountKey=‹SECRET:${random(86)}==›;EndpointSuffix=x`,
    `SharedAccessKey=‹SECRET:${random(43)}=›`,
    `secret: ‹SECRET:${random(32)}›`,
    `private_key="‹SECRET:${random(50)}›"`,
    `Authorization: Bearer ‹SECRET:${hex(40)}›`,
    `-H "Authorization: Bearer ‹SECRET:${random(64)}›"`,
    `Authorization: Basic ‹SECRET:${Buffer.from('ada:hunter2').toString('base64')}›`,
    `token=‹SECRET:${random(600)}›&x=1`,
    `refreshToken: "‹SECRET:${random(1500)}›"`,
  ])('%s', expectFinds);
});

describe('finds none in', () => {
  const uuid = '9ef61c99-9630-42a7-9af7-0b6a8301a34d';
  test.each([
    'sk-YOUR-KEY-HERE',
    `ghp_${'x'.repeat(36)}`,
    'AKIAIOSFODNN7EXAMPLE',
    'AKIA...OZTM',
    '<your token>',
    '${API_KEY}',
    'process.env.OPENAI_API_KEY',
    'api_key: "changeme_placeholder_value"',
    'api_key = os.environ["API_KEY_1"]',
    'token = get_token(user1, "abc")',
    'password = $DB_PASS1',
    'password: %PASSWORD%',
    'password: {{ .Values.pw1 }}',
    'password = args.password2',
    'password: ********',
    'password: null',
    'password=',
    'Password: required',
    'passwordLength: 8',
    'the password policy v2 applies',
    'password reset',
    'password hashing with SHA256 or argon2id',
    'password protected',
    'compass: abc123',
    'bypass = true1',
    'max_tokens: 4096',
    'tokens: 16384',
    'token_count=123456789012345678',
    `token: ${uuid}`,
    `"token":"${uuid}"`,
    `api_key: "commit ${hex(40)}"`,
    `api_key: "sha256:${hex(64)}"`,
    `token: integrity sha512-${random(86)}==`,
    `sha256:${hex(64)}`,
    `commit ${hex(40)}`,
    hex(32),
    uuid,
    `"integrity": "sha512-${random(86)}=="`,
    `data:image/png;base64,${random(80)}`,
    'postgres://app:password@localhost/db',
    'postgres://app:${PASSWORD}@localhost',
    'postgres://app:<password>@localhost',
    'https://example.com:8080/a@b',
    'https://user@example.com',
    'http://example.com/?q=a:b@c',
    'ssh://git@github.com',
    'risk-based-approach-to-something-long-2024',
    'task-force-2024-and-more-words-x1',
    'sk-learn-2024-model-selection-guide',
    'npm_config_registry npm_lifecycle_event',
    'desk_live_something',
    'eyJhbGciOi not a token',
    `eyJub3QiOiJqd3QifQ.${random(20)}.x`,
    '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
    '-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----',
    '-----BEGIN PRIVATE KEY-----',
    '----------------',
    'Basic English for beginners',
    'Bearer of bad news',
    'Basic YWJjZGVmZ2g=',
    'arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db',
    'a ? b : c',
    'x == y',
    '12:30:45',
    'key: value',
    'https://hooks.slack.com/services/',
    'secretName: my-secret-1',
    'let token = tokens[index1]',
    'const secret = await vault.read(path1)',
    'exports.exchangeX509Token = exchangeX509Token;',
    'MD5Password = AuthenticationMD5Password;',
    'const pass = !this.result.issues',
    'Lock-Token: urn:uuid:a515cfa4-5da4-22e1-f5b5-00a0451e6bf7',
    'G. W. B. Jones',
    'JSON, AWS, GitHub, Bash',
  ])('%s', expectFinds);
});

interface Row {
  readonly text: string;
  readonly secret: 0 | 1;
  readonly kind?: string;
  readonly span?: readonly [number, number];
}

const corpus = join(import.meta.dirname, '../../../../shared/data/secrets/synth_secrets.jsonl.gz');

describe('the corpus of generated secrets', skipUnless(existsSync(corpus), 'no corpus beside the checkout'), () => {
  test('recall by kind is at least 99 %, false finds at most 4 %', () => {
    const rows = gunzipSync(readFileSync(corpus))
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Row);
    const byKind = new Map<string, { all: number; found: number }>();
    let clean = 0;
    let falseFinds = 0;
    for (const { text, secret, kind = '', span } of rows) {
      const finds = detection.find(text, only);
      if (secret === 0) {
        clean += 1;
        if (finds.length > 0) falseFinds += 1;
        continue;
      }
      const count = byKind.get(kind) ?? { all: 0, found: 0 };
      count.all += 1;
      if (finds.some(({ start, end }) => start < (span?.[1] ?? 0) && end > (span?.[0] ?? 0))) count.found += 1;
      byKind.set(kind, count);
    }
    expect(byKind.size).toBeGreaterThan(10);
    for (const [kind, { all, found }] of byKind) expect([kind, found / all > 0.99]).toEqual([kind, true]);
    expect(falseFinds / clean).toBeLessThan(0.04);
  });
});
