import { isAlphanumeric, isDigit } from './characters.ts';

/** Words that say a value was left out or is to be filled in. */
const PLACEHOLDER =
  /(?<![a-z0-9])(?:your|example|placeholder|change.?me|dummy|redacted|replace|insert|process\.env|os\.environ|getenv)|xxxx|\*\*\*|\.\.\.|EXAMPLE(?:KEY)?$|<|\$\{|\{\{/i;
const VARIABLE = /^(?:\$[A-Z][A-Z0-9_]*|\$[a-z_]+|%\w+%)$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Digests, data and references, not credentials. */
const REFERENCE = /^(?:sha\d|md5[:-]|data:|arn:|urn:|-----|[a-z][a-z0-9+.-]*:\/\/)/i;
const NAME =
  /^(?:sha-?\d+|md5|oauth-?\d?|bcrypt|argon2\w*|pbkdf2|scrypt|base64|utf-?\d+|aes-?\d*\w*|rsa-?\d*|win\d+|v\d+)$/i;
/** Measures, dates, versions, standards, products and files: `14-digit`, `24h`, `v2.4`, `WPA2-PSK`, `OAuth2`, `seeds.json`. */
const SPECIFICATION =
  /^(?:\d+(?:[.,:x×/+-]\d+)*(?:[-–][\p{L}-]+|[\p{L}%€$°+]{0,3})|v?\d+(?:\.\d+)+[\w-]*|\d{4}-\d\d-\d\dT\S*|(?:uuid|ip|tls|ssl|http|ipv?|iso|rfc|hs|rs|es|ed|x|id|pkcs|caching_sha|mysql|scram|totp|kdf|level|step|stage|phase|version|release|section)[-_]?v?\d\S*|1password|keepass\w*|oauth\S*|auth0\S*|neo4j|log4\w+|base\d+\S*|utf-?\d+\S*|sha-?\d+\S*|argon2\S*|scram-\S*|scrypt\S*|bcrypt\S*|pbkdf2\S*|\S*\.(?:md|tsx?|jsx?|py|java|go|rs|rb|php|sql|ya?ml|toml|json|env|txt|conf|html?|com|org|net))$/iu;
const ACRONYM = /^[A-Z]{2,}[\d-]{0,2}\d{1,3}(?:-[A-Z]+)?$/;
const CODE_PATH = /^[!&*~-]?[a-z_$][\w$]*(?:(?:\.|->|::|\?\.)[a-z_$][\w$]*)+$/i;

/** Whether the value is a stand-in such as `<your token>`, `${API_KEY}`, `xxxx` or `$PASSWORD`. */
export function isPlaceholder(value: string): boolean {
  return PLACEHOLDER.test(value) || VARIABLE.test(value) || /^(.)\1*$/.test(value);
}

/** What a value consists of, over its first 256 characters. */
export interface Mix {
  readonly distinct: number;
  readonly upper: number;
  readonly lower: number;
  readonly digits: number;
  /** Signs that passwords have and identifiers have not. */
  readonly signs: number;
}

/** Counts what a value consists of. */
export function mixOf(value: string): Mix {
  const seen = new Uint8Array(128);
  let distinct = 0;
  let upper = 0;
  let lower = 0;
  let digits = 0;
  let signs = 0;
  const length = Math.min(value.length, 256);
  for (let index = 0; index < length; index += 1) {
    const code = value.charCodeAt(index);
    const place = code & 127;
    if (seen[place] === 0) {
      seen[place] = 1;
      distinct += 1;
    }
    if (isDigit(code)) digits += 1;
    else if (!isAlphanumeric(code)) signs += '!@#$%^&*?~+§'.includes(value[index] as string) ? 1 : 0;
    else if (code < 97) upper += 1;
    else lower += 1;
  }
  return { distinct, upper, lower, digits, signs };
}

/** Whether a value behind a well-known prefix is random enough to be issued and not written as an example. */
export function isIssued(value: string): boolean {
  if (isPlaceholder(value)) return false;
  const { distinct, upper, lower, digits } = mixOf(value);
  return distinct >= 8 && (digits > 0 || (upper > 1 && lower > 1));
}

/** Whether the value after `token =`, `api_key:` and similar is a credential: long and random. */
export function isStrongToken(value: string): boolean {
  if (value.length < 16) return false;
  const { distinct, upper, lower, digits } = mixOf(value);
  if (distinct < 8 || digits < 2 || REFERENCE.test(value) || UUID.test(value) || isPlaceholder(value)) return false;
  if (/^[0-9a-f]+$/i.test(value)) return value.length >= 24 && digits < value.length;
  if (CODE_PATH.test(value) || /[([\s]/.test(value)) return false;
  return distinct >= 10 && ((upper > 0 && lower > 0) || digits >= 5);
}

/** Whether a word is a measure, date, version, standard, product or file: what texts say of passwords, and none. */
export function isSpecification(value: string): boolean {
  return SPECIFICATION.test(value) || ACRONYM.test(value) || NAME.test(value);
}

/** Whether the value after `password =` is a password: letters with digits or signs, and not an expression of code. */
export function isPassword(value: string): boolean {
  if (value.length < 6 || value.length > 128) return false;
  const { upper, lower, digits, signs } = mixOf(value);
  if (upper + lower === 0 || digits + signs === 0 || REFERENCE.test(value) || isPlaceholder(value)) return false;
  return !(/[()[\]{}]|::|->|^!\w+$/.test(value) || CODE_PATH.test(value) || NAME.test(value));
}

/** The same in running text, where the next word is more often no password: it must look like one. */
export function isPasswordInProse(value: string): boolean {
  if (value.length < 8 || !isPassword(value) || isSpecification(value)) return false;
  const { upper, lower, digits, signs } = mixOf(value);
  return signs > 0 ? digits > 0 || upper > 0 : digits > 1 || (upper > 0 && lower > 0 && digits > 0);
}
