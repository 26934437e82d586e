import type { AliasConfig } from '../snapshot.ts';
import { toSnapshot } from '../resources/names.ts';
import { byAge, type Resource } from './catalog.ts';
import type { Compilation } from './context.ts';

/** Aliases of one namespace, by alias id (`gw/…`). */
export type Aliases = ReadonlyMap<string, AliasConfig>;

/** Compiles every ModelAlias, by namespace. Two of the same alias id in one namespace are a fault of the newer. */
export function compileAliases({ catalog, faults }: Compilation): ReadonlyMap<string, Aliases> {
  const namespaces = new Map<string, Map<string, AliasConfig>>();
  const holders = new Map<string, Resource<'ModelAlias'>>();
  for (const resource of [...catalog.all('ModelAlias')].sort(byAge)) {
    const { alias, strategy, targets, auto } = resource.body.spec;
    const holder = holders.get(`${resource.namespace} ${alias}`);
    if (holder) {
      faults.add(resource, 'spec.alias', `is already the alias of ModelAlias ${holder.id}`, 'Conflicted');
      continue;
    }
    holders.set(`${resource.namespace} ${alias}`, resource);
    const aliases = namespaces.get(resource.namespace) ?? new Map<string, AliasConfig>();
    namespaces.set(resource.namespace, aliases);
    aliases.set(
      alias,
      Object.freeze({
        alias,
        strategy: toSnapshot('strategy', strategy),
        targets: Object.freeze(targets.map((target) => Object.freeze({ ...target }))),
        routes: Object.freeze((auto?.routes ?? []).map((route) => Object.freeze({ ...route }))),
      }),
    );
  }
  return namespaces;
}
