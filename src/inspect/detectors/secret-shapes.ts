import { endsToken, isAlphanumeric, startsToken } from './characters.ts';
import { isIssued, isPlaceholder, mixOf } from './secret-value.ts';

/** A kind of credential that its first characters give away. */
interface Shape {
  readonly prefix: string;
  /** How many characters follow the prefix. */
  readonly min: number;
  readonly max: number;
  /** What they may be: letters and digits, the same with `-` and `_`, or the same with dots too. */
  readonly alphabet: 'plain' | 'url' | 'dotted';
}

const LONGEST = 512;

function shape(prefix: string, alphabet: Shape['alphabet'], min: number, max = LONGEST): Shape {
  return { prefix, min, max, alphabet };
}

/** Prefixes that end in `_` or `-`. */
const PREFIXED: readonly Shape[] = [
  // Model providers
  shape('nvapi-', 'url', 60),
  shape('tvly-', 'url', 30),
  shape('jina_', 'plain', 60),
  shape('sk-', 'url', 20),
  shape('gsk_', 'plain', 32),
  shape('xai-', 'plain', 40),
  shape('pplx-', 'plain', 32),
  shape('hf_', 'plain', 30),
  shape('r8_', 'plain', 30),
  // This gateway's own keys
  shape('gw_live_', 'url', 20),
  shape('gw_test_', 'url', 20),
  // Source code and packages
  shape('gldt-', 'url', 20),
  shape('glrt-', 'dotted', 20),
  shape('glptt-', 'plain', 40),
  shape('glcbt-', 'url', 20),
  shape('glft-', 'url', 20),
  shape('glagent-', 'url', 50),
  shape('gloas-', 'plain', 64),
  shape('rubygems_', 'plain', 48),
  shape('CLOJARS_', 'plain', 60),
  shape('bkua_', 'plain', 40),
  shape('sgp_', 'url', 40),
  shape('pul-', 'plain', 40),
  shape('ghp_', 'plain', 36),
  shape('gho_', 'plain', 36),
  shape('ghu_', 'plain', 36),
  shape('ghs_', 'plain', 36),
  shape('ghr_', 'plain', 36),
  shape('github_pat_', 'url', 50),
  shape('glpat-', 'dotted', 20),
  shape('npm_', 'plain', 36),
  shape('pypi-', 'url', 50),
  shape('dckr_pat_', 'url', 20),
  // Chat, payment, mail, clouds
  shape('sk_prod_', 'plain', 10),
  shape('rk_prod_', 'plain', 10),
  shape('shpss_', 'plain', 32),
  shape('shpca_', 'plain', 32),
  shape('shppa_', 'plain', 32),
  shape('sq0atp-', 'url', 22),
  shape('sq0csp-', 'url', 43),
  shape('FLWSECK-', 'url', 32),
  shape('FLWSECK_TEST-', 'url', 12),
  shape('duffel_live_', 'url', 43),
  shape('duffel_test_', 'url', 43),
  shape('shippo_live_', 'plain', 40),
  shape('shippo_test_', 'plain', 40),
  shape('xkeysib-', 'url', 64),
  shape('xsmtpsib-', 'url', 64),
  shape('key-', 'plain', 32, 32),
  shape('fio-u-', 'url', 64),
  shape('doo_v1_', 'plain', 64),
  shape('dor_v1_', 'plain', 64),
  shape('glc_', 'plain', 32),
  shape('sntrys_', 'url', 40),
  shape('sntryu_', 'plain', 64),
  shape('NRAK-', 'plain', 27),
  shape('NRJS-', 'plain', 19),
  shape('NRII-', 'url', 32),
  shape('pnu_', 'plain', 36),
  shape('pscale_tkn_', 'dotted', 32),
  shape('pscale_pw_', 'dotted', 32),
  shape('pscale_oauth_', 'dotted', 32),
  shape('nfp_', 'plain', 36),
  shape('rdme_', 'plain', 70),
  shape('tfp_', 'dotted', 59),
  shape('tskey-', 'url', 20),
  shape('dnkey-', 'url', 50),
  shape('figd_', 'url', 40),
  shape('ntn_', 'plain', 40),
  shape('secret_', 'plain', 43, 50),
  shape('waka_', 'url', 36),
  shape('phx_', 'plain', 40),
  shape('CFPAT-', 'url', 43),
  shape('GOCSPX-', 'url', 28),
  shape('AGE-SECRET-KEY-', 'plain', 58, 60),
  shape('ico-', 'plain', 32, 32),
  shape('rnd_', 'plain', 24),
  shape('xoxb-', 'url', 20),
  shape('xoxp-', 'url', 20),
  shape('xoxa-', 'url', 20),
  shape('xoxr-', 'url', 20),
  shape('xoxs-', 'url', 20),
  shape('xoxe-', 'url', 20),
  shape('xapp-', 'url', 20),
  shape('sk_live_', 'plain', 16),
  shape('sk_test_', 'plain', 16),
  shape('rk_live_', 'plain', 16),
  shape('rk_test_', 'plain', 16),
  shape('whsec_', 'plain', 24),
  shape('shpat_', 'plain', 32),
  shape('dop_v1_', 'plain', 64),
  shape('glsa_', 'url', 32),
  shape('lin_api_', 'plain', 32),
  shape('sbp_', 'plain', 40),
  shape('PMAK-', 'url', 40),
];

/** `PREFIXED` by the last two characters of the prefix, as `last << 8 | the one before`. */
const BY_ENDING = new Map<number, readonly Shape[]>();
for (const known of PREFIXED) {
  const ending = endingOf(known.prefix, known.prefix.length - 1);
  BY_ENDING.set(ending, [...(BY_ENDING.get(ending) ?? []), known]);
}

const NONE: readonly Shape[] = [];

function endingOf(text: string, at: number): number {
  return (text.charCodeAt(at) << 8) | text.charCodeAt(at - 1);
}

/** Where a credential lies; its end is behind its start. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** A credential whose prefix ends with the `_` or `-` at `at`. */
export function prefixed(text: string, at: number, floor: number): Stretch | undefined {
  for (const known of BY_ENDING.get(endingOf(text, at)) ?? NONE) {
    const start = at + 1 - known.prefix.length;
    if (start < floor || !text.startsWith(known.prefix, start) || !startsRun(text, start, known)) continue;
    const end = runEnd(text, at + 1, known.alphabet, known.max + 1);
    const value = text.slice(at + 1, end);
    if (value.length < known.min || value.length > known.max || !isIssued(value)) continue;
    if (known.prefix === 'sk-' && !hasLongPiece(value)) continue;
    return { start, end };
  }
  return undefined;
}

/** At the start of a run of the alphabet, so that each run is read once. */
function startsRun(text: string, start: number, { alphabet }: Shape): boolean {
  return startsToken(text, start) && (alphabet === 'plain' || !isJoiner(text.charCodeAt(start - 1)));
}

/** Words with hyphens (`sk-learn-2024-…`) are no key: one piece of it must be long and mixed. */
function hasLongPiece(value: string): boolean {
  return value.split(/[-_]/).some((piece) => piece.length >= 16 && mixOf(piece).digits > 0);
}

/** Whether the code unit is `-` or `_`. */
function isJoiner(code: number): boolean {
  return code === 45 || code === 95;
}

/** The end of the run of the alphabet's characters, at most `limit` of them; a final dot or hyphen is punctuation. */
function runEnd(text: string, from: number, alphabet: Shape['alphabet'], limit: number): number {
  let end = from;
  for (let code = text.charCodeAt(end); end < from + limit; code = text.charCodeAt(end)) {
    const fits = isAlphanumeric(code) || (alphabet !== 'plain' && isJoiner(code));
    if (!fits && !(alphabet === 'dotted' && code === 46 && isAlphanumeric(text.charCodeAt(end + 1)))) break;
    end += 1;
  }
  return end;
}

const AWS_ID = /^(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}$/;
const AWS_SECRET = /[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])/y;

/** An AWS access key id at `at`, and the secret key that stands close behind it. */
export function awsKeys(text: string, at: number): readonly Stretch[] {
  const id = text.slice(at, at + 20);
  if (!AWS_ID.test(id) || isPlaceholder(id) || !startsToken(text, at) || !endsToken(text, at + 20)) return [];
  const key = { start: at, end: at + 20 };
  for (let start = key.end + 1; start <= key.end + 24; start += 1) {
    AWS_SECRET.lastIndex = start;
    if (isAlphanumeric(text.charCodeAt(start - 1)) || !AWS_SECRET.test(text)) continue;
    const { upper, lower, digits } = mixOf(text.slice(start, start + 40));
    if (upper > 2 && lower > 2 && digits > 2) return [key, { start, end: start + 40 }];
  }
  return [key];
}

/** A Google API key: `AIza` and 35 more. */
export function googleKey(text: string, at: number): Stretch | undefined {
  if (!text.startsWith('AIza', at) || !startsToken(text, at)) return undefined;
  const end = runEnd(text, at, 'url', 64);
  return end - at >= 39 && end - at < 64 && isIssued(text.slice(at + 4, end)) ? { start: at, end } : undefined;
}

const SENDGRID = /SG\.[\w-]{16,32}\.[\w-]{32,64}(?![\w-])/y;

/** A SendGrid key whose `SG.` has its `G` at `at`. */
export function sendgridKey(text: string, at: number, floor: number): Stretch | undefined {
  if (at - 1 < floor || !startsToken(text, at - 1)) return undefined;
  SENDGRID.lastIndex = at - 1;
  return SENDGRID.test(text) ? { start: at - 1, end: SENDGRID.lastIndex } : undefined;
}

/** A JSON web token whose `eyJ` has its `J` at `at`: the header must decode to JSON that names an algorithm. */
export function jsonWebToken(text: string, at: number, floor: number): Stretch | undefined {
  const start = at - 2;
  if (start < floor || !startsToken(text, start) || isJoiner(text.charCodeAt(start - 1))) return undefined;
  const headerEnd = runEnd(text, start, 'url', Infinity);
  if (text.charCodeAt(headerEnd) !== 46 || !isTokenHeader(text.slice(start, headerEnd))) return undefined;
  let end = headerEnd;
  for (let part = 0; part < 4 && text.charCodeAt(end) === 46; part += 1) {
    const next = runEnd(text, end + 1, 'url', Infinity);
    if (next === end + 1 && part > 0) break;
    end = next;
  }
  return end - headerEnd > 8 ? { start, end } : undefined;
}

function isTokenHeader(encoded: string): boolean {
  try {
    const header: unknown = JSON.parse(Buffer.from(encoded, 'base64url').toString());
    return typeof header === 'object' && header !== null && ('alg' in header || 'typ' in header || 'enc' in header);
  } catch {
    return false;
  }
}
