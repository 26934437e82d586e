/**
 * A rule over the fields of an object that its schema cannot state: once as CEL for the Kubernetes API server, once
 * as a function for everything else. Both must say the same.
 */
export interface Rule<T = unknown> {
  /** CEL; `self` is the object the rule is at. */
  readonly rule: string;
  readonly message: string;
  /** The field a fault names, relative to the object, with a leading dot. */
  readonly fieldPath?: string;
  /** Reason of the API server's error; `FieldValueInvalid` unless given. */
  readonly reason?: 'FieldValueRequired' | 'FieldValueForbidden' | 'FieldValueInvalid';
  /** True when the object keeps the rule. Absent for rules over a change (`oldSelf`), which files cannot break. */
  check?(self: T): boolean;
}

/** Rules and the place they are at: `spec`, `spec.endpoint`, `spec.prices[*]`. */
export interface RulesAt {
  readonly at: string;
  readonly path: readonly string[];
  readonly rules: readonly Rule[];
}

/** Places rules in a resource. */
export function rulesAt<T>(at: string, rules: readonly Rule<T>[]): RulesAt {
  return { at, path: at.replaceAll('[*]', '.*').split('.'), rules };
}

/** Calls `broken` for every rule that the resource does not keep. The resource must have passed its schema. */
export function checkRules(
  resource: unknown,
  places: readonly RulesAt[],
  broken: (field: string, message: string) => void,
): void {
  for (const place of places) {
    visit(resource, place.path, 0, '', (self, field) => {
      for (const rule of place.rules) {
        if (rule.check && !rule.check(self)) broken(`${field}${rule.fieldPath ?? ''}`, rule.message);
      }
    });
  }
}

function visit(
  value: unknown,
  path: readonly string[],
  depth: number,
  field: string,
  found: (self: unknown, field: string) => void,
): void {
  if (value === undefined) return;
  const step = path[depth];
  if (step === undefined) found(value, field);
  else if (step === '*') {
    (value as readonly unknown[]).forEach((item, index) => visit(item, path, depth + 1, `${field}[${index}]`, found));
  } else {
    const next = (value as Readonly<Record<string, unknown>>)[step];
    visit(next, path, depth + 1, field === '' ? step : `${field}.${step}`, found);
  }
}
