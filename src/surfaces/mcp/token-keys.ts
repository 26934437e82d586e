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

/**
 * The key that a checked access token stands for. Throws where rules name no key, or more than one, whether or
 * not those can be found: a key that is gone gives its tokens to no other. `mayHold`: whether a key that the snapshot does
 * not have may be good nevertheless; then it is unknown.
 */
export function keyOfToken(
  claims: JsonObject,
  snapshot: Snapshot,
  mayHold: (id: string) => boolean,
): VirtualKeyConfig | 'unknown' {
  const [rule, ...others] = rulesFor(claims, snapshot);
  if (!rule) throw denied(NO_KEY);
  if (others.length > 0) throw denied('Several VirtualKeys stand behind this access token: ask your administrator.');
  const key = snapshot.keysById.get(rule.key);
  if (!key && mayHold(rule.key)) return 'unknown';
  // An organization speaks for its own keys.
  if (key?.workload.organization.id !== rule.organization) throw denied(NO_KEY);
  if (key.revoked) throw unknown('The VirtualKey behind this access token was revoked.');
  if (key.expiresAt !== undefined && key.expiresAt <= Date.now())
    throw unknown('The VirtualKey behind this access token has expired.');
  return key;
}

const NO_KEY = 'No VirtualKey stands behind this access token: ask your administrator for accessTokens.';

/** The rules that are about a token, each organization and key once. A token is short, and so are its lists. */
function rulesFor(claims: JsonObject, snapshot: Snapshot): Iterable<Rule> {
  const found = new Map<string, Rule>();
  for (const [claim, values] of rulesOf(snapshot)) {
    for (const value of valuesOf(claims, claim)) {
      for (const rule of values.get(value) ?? []) found.set(JSON.stringify([rule.organization, rule.key]), rule);
    }
  }
  return found.values();
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
  const all: readonly unknown[] = Array.isArray(value) ? value : [value];
  return all.filter((one) => typeof one === 'string');
}

function denied(message: string): GatewayError {
  return new GatewayError('permission_denied', message);
}

function unknown(message: string): GatewayError {
  return new GatewayError('invalid_api_key', message);
}
