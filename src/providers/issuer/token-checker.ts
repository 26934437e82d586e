import { errors, jwtVerify, type JWTVerifyGetKey, type JWTVerifyOptions, type JWTVerifyResult } from 'jose';
import { AccessTokenFault, type AccessTokenChecker } from '#/ports/access-tokens.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import type { Transport } from '../http/transport.ts';
import { IssuerKeys } from './issuer-keys.ts';

/** Signatures by a public key. Never by a secret, and never without a signature. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** Kinds of tokens that are access tokens; other kinds are signed with the same keys. // RFC 9068, RFC 8725 3.11 */
const TYPES: ReadonlySet<string> = new Set(['jwt', 'at+jwt', 'application/at+jwt']);
const MOST_LETTERS = 8192;
/** Keys that are tried for a token that names none. */
const MOST_TRIED = 4;
/** Clocks of issuer and gateway may differ by so much. */
const TOLERANCE_SECONDS = 30;

/** Checks JSON web tokens of one issuer, by the keys at an address. */
export function createTokenChecker(
  { issuer, jwksUrl }: { readonly issuer: string; readonly jwksUrl: string },
  transport: Transport,
): AccessTokenChecker {
  const keys = new IssuerKeys(jwksUrl, transport);
  return {
    issuer,
    async check(token, resource) {
      if (token.length > MOST_LETTERS) throw bad(`is longer than ${MOST_LETTERS} characters`);
      try {
        const { payload, protectedHeader } = await verified(token, keys.find, {
          issuer,
          audience: resource,
          algorithms: ALGORITHMS,
          clockTolerance: TOLERANCE_SECONDS,
          requiredClaims: ['exp', 'iss', 'aud'],
        });
        const { typ } = protectedHeader;
        if (typ !== undefined && !TYPES.has(typ.toLowerCase())) throw bad('is no access token');
        // It must be sent with a proof of a key, which the gateway does not check. // RFC 9449, RFC 8705
        if (payload['cnf'] !== undefined) throw bad('is bound to a key of its client');
        return payload as JsonObject;
      } catch (thrown) {
        if (thrown instanceof AccessTokenFault) throw thrown;
        throw bad(whyOf(thrown));
      }
    },
  };
}

/** A token that names no key is signed with any of those that fit its algorithm. */
async function verified(token: string, find: JWTVerifyGetKey, options: JWTVerifyOptions): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(token, find, options);
  } catch (thrown) {
    if (!(thrown instanceof errors.JWKSMultipleMatchingKeys)) throw thrown;
    let tried = 0;
    for await (const key of thrown) {
      if (++tried > MOST_TRIED) break;
      try {
        return await jwtVerify(token, key, options);
      } catch (error) {
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

function bad(why: string): AccessTokenFault {
  return new AccessTokenFault('bad', `The access token ${why}.`);
}

/** In words of our own: those of the library may repeat the token. */
function whyOf(thrown: unknown): string {
  if (thrown instanceof errors.JWTExpired) return 'has expired';
  if (thrown instanceof errors.JWTClaimValidationFailed) {
    if (thrown.claim === 'aud') return 'is for another resource';
    return thrown.claim === 'iss' ? 'is of another issuer' : 'does not hold now';
  }
  if (thrown instanceof errors.JWKSNoMatchingKey) return 'is signed with a key that its issuer does not have';
  return 'cannot be verified';
}
