import type { ConfigKeys, SecretPlace } from '#/config/published/config-keys.ts';
import type { SecretRow } from '#/config/published/contents.ts';

/**
 * Encrypts each secret only once: encrypting twice gives different texts, and an unchanged segment must keep the
 * digest it had.
 */
export class Sealer {
  readonly #keys: ConfigKeys;
  #sealed = new Map<string, SecretRow>();

  constructor(keys: ConfigKeys) {
    this.#keys = keys;
  }

  /** Rows that an earlier controller has published: they are used again as long as the secret is the same. */
  adopt(rows: readonly SecretRow[]): void {
    for (const row of rows) this.#sealed.set(nameOf(toPlace(row)), row);
  }

  /** Rows of these secrets; all others are forgotten. */
  rows(secrets: Iterable<readonly [SecretPlace, string]>): readonly SecretRow[] {
    const next = new Map<string, SecretRow>();
    for (const [place, secret] of secrets) {
      const name = nameOf(place);
      const known = this.#sealed.get(name);
      const still = known && this.#keys.isNewest(known[3]) && this.#keys.open(place, known[3]) === secret;
      next.set(name, still ? known : [place.namespace, place.name, place.key, this.#keys.seal(place, secret)]);
    }
    this.#sealed = next;
    return [...next.values()];
  }
}

function toPlace([namespace, name, key]: SecretRow): SecretPlace {
  return { namespace, name, key };
}

function nameOf({ namespace, name, key }: SecretPlace): string {
  return `${namespace}/${name}/${key}`;
}
