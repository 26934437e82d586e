import type { Check } from '#/values/json-schema/check.ts';
import { compileSchema, SchemaFault } from '#/values/json-schema/compile-schema.ts';
import { join } from '../resources/messages.ts';
import type { ToolRuleConfig } from '../snapshot.ts';
import type { Resource } from './catalog.ts';
import type { Compilation } from './context.ts';

/** Compiles what a server's resource says of calls. A schema that cannot be used is a fault, and lets nothing pass. */
export function compileToolRules(
  { faults }: Pick<Compilation, 'faults'>,
  resource: Resource<'MCPServer'>,
): readonly ToolRuleConfig[] {
  const { rules = [] } = resource.body.spec;
  return Object.freeze(
    rules.map(({ tools, arguments: schema, approval }, index) => {
      const kept = { tools: Object.freeze([...tools]), needsApproval: approval === 'Required' };
      if (schema === undefined) return Object.freeze(kept);
      const check = compileArguments(schema, (path, message) => {
        faults.add(resource, path.reduce(join, `spec.rules[${index}].arguments`), message);
      });
      return Object.freeze({ ...kept, arguments: check });
    }),
  );
}

function compileArguments(schema: unknown, found: (path: readonly string[], message: string) => void): Check {
  try {
    return compileSchema(schema);
  } catch (thrown) {
    if (!(thrown instanceof SchemaFault)) throw thrown;
    found(thrown.path, thrown.message);
    return compileSchema(false);
  }
}
