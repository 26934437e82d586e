import type { JsonObject } from '#/wire/document/json.ts';

/** An access token that is not taken: it is no good one, or the keys of its issuer are not known now. */
export class AccessTokenFault extends Error {
  override readonly name = 'AccessTokenFault';
  readonly kind: 'bad' | 'unavailable';

  constructor(kind: AccessTokenFault['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Checks access tokens that the authorization server of the installation has issued. */
export interface AccessTokenChecker {
  readonly issuer: string;
  /** The claims of a good token for a resource. Rejects with `AccessTokenFault`. */
  check(token: string, resource: string): Promise<JsonObject>;
}
