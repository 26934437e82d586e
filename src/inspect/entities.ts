import { ENTITIES } from '#/values/entities.ts';
import { nearest } from '#/values/nearest.ts';
import { GatewayError } from '#/errors/gateway-error.ts';

/** Kinds that are not searched for, as requests name them. `findable`: the kinds of the detection, in capitals. */
export function notLookedFor(findable: ReadonlySet<string>): readonly string[] {
  return ENTITIES.filter((name) => !findable.has(name.toUpperCase()));
}

/**
 * The categories of the kinds that a request names; undefined, for all there are, when it names none. Throws
 * `invalid_request` for an unknown kind, and for one that cannot be found here: the caller would take the result
 * to be free of it.
 */
export function categoriesOf(
  names: readonly string[] | undefined,
  findable: ReadonlySet<string>,
  param: string,
): ReadonlySet<string> | undefined {
  if (names === undefined) return undefined;
  const unknown = names.find((name) => !ENTITIES.includes(name));
  if (unknown !== undefined) {
    const meant = nearest(unknown, ENTITIES);
    const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
    throw new GatewayError('invalid_request', `${param} must be a list of ${ENTITIES.join(', ')}.${hint}`, { param });
  }
  const missing = names.filter((name) => !findable.has(name.toUpperCase()));
  if (missing.length > 0) {
    const message =
      `This installation cannot detect ${missing.join(', ')}. ` +
      'Remove it from entities, and list the exact terms in remove.';
    throw new GatewayError('invalid_request', message, { param });
  }
  return new Set(names.map((name) => name.toUpperCase()));
}
