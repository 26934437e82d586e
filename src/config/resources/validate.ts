import { Compile, type Validator } from 'typebox/compile';
import type { TValidationError } from 'typebox/error';
import { Settings } from 'typebox/system';
import { withDefaults } from './defaults.ts';
import { KINDS, type KindName, type ResourceOf } from './kinds.ts';
import { describeError } from './messages.ts';
import { checkRules } from './rules.ts';
import { findRepeatedItems, hasUniqueItems } from './unique-items.ts';

const MAX_ERRORS = 1000;

interface Check {
  readonly validator: Validator;
  readonly uniqueItems: boolean;
}

/** One validator a kind, compiled once: compiling costs as much as checking thousands of resources. */
const CHECKS = new Map<KindName, Check>(
  Object.entries(KINDS).map(([kind, { schema }]) => [
    kind as KindName,
    { validator: Compile(schema), uniqueItems: hasUniqueItems(schema) },
  ]),
);

/**
 * Checks a document against its kind: schema, then uniqueness of list items, then rules. Returns a copy with
 * defaults filled in, or undefined after calling `found` for every fault. Looks no deeper than the schema goes.
 */
export function validate<K extends KindName>(
  kind: K,
  document: unknown,
  found: (field: string, message: string) => void,
): ResourceOf<K> | undefined {
  const { validator, uniqueItems } = CHECKS.get(kind)!;
  const value = withDefaults(KINDS[kind].schema, document);
  if (!validator.Check(value)) {
    const said = new Set<string>();
    for (const error of allErrors(validator, value)) {
      describeError(error, value, (field, message) => {
        if (said.has(field)) return;
        said.add(field);
        found(field, message);
      });
    }
    return undefined;
  }
  let faulty = false;
  const fault = (field: string, message: string): void => {
    faulty = true;
    found(field, message);
  };
  if (uniqueItems) findRepeatedItems(KINDS[kind].schema, value, '', (field) => fault(field, 'is in the list twice'));
  checkRules(value, KINDS[kind].rules, fault);
  return faulty ? undefined : (value as ResourceOf<K>);
}

/** The library stops at eight errors. Its only setting for that is global, so it is changed for one call. */
function allErrors(validator: Validator, value: unknown): readonly TValidationError[] {
  const { maxErrors } = Settings.Get();
  Settings.Set({ maxErrors: MAX_ERRORS });
  try {
    return validator.Errors(value);
  } finally {
    Settings.Set({ maxErrors });
  }
}
