import type { OrganizationConfig } from '#/config/snapshot.ts';
import type { CloudDialect } from '#/wire/request/cloud-dialect.ts';

/**
 * A model id of a cloud's own surface with its provider: one that names a provider or an alias stays, any other is the
 * organization's on that cloud: of its default provider, where that is there, else of the first. // spec 4.5.1
 */
export function hostedId(model: string, cloud: CloudDialect, organization: OrganizationConfig): string {
  const { providers, aliases, messagesDefaultProvider } = organization;
  const slash = model.indexOf('/');
  // Names of profiles (`arn:…:inference-profile/us.…`) have slashes of their own.
  if (aliases.has(model) || model.startsWith('gw/') || (slash > 0 && providers.has(model.slice(0, slash))))
    return model;
  const there = [...providers.values()].filter(({ vendor }) => vendor === cloud).map(({ slug }) => slug);
  const preferred = [messagesDefaultProvider, cloud, ...there.toSorted()];
  return `${preferred.find((slug) => slug !== undefined && there.includes(slug)) ?? cloud}/${model}`;
}
