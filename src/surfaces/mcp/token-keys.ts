import { GatewayError } from '#/errors/gateway-error.ts';
import type { Snapshot, VirtualKeyConfig } from '#/config/snapshot.ts';
import type { Json, JsonObject } from '#/wire/document/json.ts';

/** A key that a claim stands for, and the organization that says so. */
interface Rule {
  readonly key: string;
  readonly organization: string;
}

/** Claim -> value -> keys. */
type Rules = ReadonlyMap<string, ReadonlyMap<string, readonly Rule[]>>;

const RULES = new WeakMap<Snapshot, Rules>();
/** Values of one claim that are looked up: groups of a person, for one. */
const MOST_VALUES = 512;

/** The key that a checked access token stands for. Throws where no key is found, or more than one. */
export function keyOfToken(claims: JsonObject, snapshot: Snapshot): VirtualKeyConfig {
  const found = new Map<string, VirtualKeyConfig>();
  for (const [claim, values] of rulesOf(snapshot)) {
    for (const value of valuesOf(claims, claim)) {
      for (const { key: id, organization } of values.get(value) ?? []) {
        const key = snapshot.keysById.get(id);
        // An organization speaks for its own keys.
        if (key?.workload.organization.id === organization) found.set(id, key);
      }
    }
  }
  const [key, ...others] = found.values();
  if (!key) throw denied('No VirtualKey stands behind this access token: ask your administrator for accessTokens.');
  if (others.length > 0) throw denied('Several VirtualKeys stand behind this access token: ask your administrator.');
  if (key.revoked) throw unknown('The VirtualKey behind this access token was revoked.');
  if (key.expiresAt !== undefined && key.expiresAt <= Date.now())
    throw unknown('The VirtualKey behind this access token has expired.');
  return key;
}

function rulesOf(snapshot: Snapshot): Rules {
  const known = RULES.get(snapshot);
  if (known) return known;
  const rules = new Map<string, Map<string, Rule[]>>();
  for (const { id: organization, accessTokens = [] } of snapshot.organizations.values()) {
    for (const { claim, value, key } of accessTokens) {
      const values = rules.get(claim) ?? new Map<string, Rule[]>();
      rules.set(claim, values);
      values.set(value, [...(values.get(value) ?? []), { key, organization }]);
    }
  }
  RULES.set(snapshot, rules);
  return rules;
}

function valuesOf(claims: JsonObject, claim: string): readonly string[] {
  const value: Json | undefined = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
  const all: readonly unknown[] = Array.isArray(value) ? value.slice(0, MOST_VALUES) : [value];
  return all.filter((one) => typeof one === 'string');
}

function denied(message: string): GatewayError {
  return new GatewayError('permission_denied', message);
}

function unknown(message: string): GatewayError {
  return new GatewayError('invalid_api_key', message);
}
