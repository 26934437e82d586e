import { VENDORS } from '#/vendors/list.ts';
import type { CredentialConfig, ModelConfig, ProviderConfig } from '../snapshot.ts';
import { isMachineAddress } from '../machine-address.ts';
import { toSnapshot, type ResourceSpelling } from '../resources/names.ts';
import type { ProviderSpec } from '../resources/provider.ts';
import { addressOf, vendorOf } from '../resources/vendors.ts';
import { byAge, type Resource } from './catalog.ts';
import { hasLabels, type Compilation } from './context.ts';
import { mayBeDeclared, placeOf } from './whereabouts.ts';

/** Stands before the tools of MCP servers where models have their provider. */
const MCP_SLUG = 'mcp';

/** What an organization can reach. */
export interface Reach {
  /** By slug: its own first, then managed ones. */
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  /** Those among them that are managed. */
  readonly managed: readonly Resource<'Provider'>[];
}

/** Gives what an organization can reach. */
export type ReachOf = (organization: Resource<'Organization'>) => Reach;

/**
 * Compiles every Provider. An organization reaches those of its own namespace, then the managed ones of other
 * namespaces that let it in, unless it has one of the same slug; among those, the oldest holds the slug. Managed ones
 * stand in the platform's namespace, where there is one.
 */
export function compileProviders(compilation: Compilation): ReachOf {
  const own = new Map<string, Map<string, Resource<'Provider'>>>();
  const managed: Resource<'Provider'>[] = [];
  const compiled = new Map<Resource<'Provider'>, ProviderConfig>();
  for (const resource of [...compilation.catalog.all('Provider')].sort(byAge)) {
    const { slug, keyOwnership } = resource.body.spec;
    const neighbours = own.get(resource.namespace) ?? new Map<string, Resource<'Provider'>>();
    own.set(resource.namespace, neighbours);
    const holder = neighbours.get(slug);
    if (holder) {
      compilation.faults.add(resource, 'spec.slug', `is already the slug of Provider ${holder.id}`, 'Conflicted');
      continue;
    }
    if (slug === MCP_SLUG)
      compilation.faults.add(
        resource,
        'spec.slug',
        'is taken: price books name tools of MCP servers mcp/<server>/<tool>',
      );
    compiled.set(resource, compileProvider(compilation, resource));
    neighbours.set(slug, resource);
    if (keyOwnership === 'Managed') managed.push(resource);
  }
  const known = new Map<string, Reach>();
  return (organization) => {
    const others = managed.filter((provider) => letsIn(compilation, provider, organization));
    // Many organizations reach the same.
    const key = [organization.namespace, ...others.map(({ id }) => id)].join(' ');
    const before = known.get(key);
    if (before) return before;
    const bySlug = new Map(own.get(organization.namespace));
    for (const provider of others) {
      const { slug } = provider.body.spec;
      if (!bySlug.has(slug)) bySlug.set(slug, provider);
    }
    const reach: Reach = {
      providers: new Map([...bySlug].map(([slug, resource]) => [slug, compiled.get(resource)!])),
      managed: [...bySlug.values()].filter(({ body }) => body.spec.keyOwnership === 'Managed'),
    };
    known.set(key, reach);
    return reach;
  };
}

/** Whether an organization of another namespace may call a managed provider. */
function letsIn(
  compilation: Compilation,
  provider: Resource<'Provider'>,
  organization: Resource<'Organization'>,
): boolean {
  const { from = 'None', selector, organizations = [] } = provider.body.spec.allowedOrganizations ?? {};
  switch (from) {
    case 'None':
      return false;
    case 'Selector':
      return hasLabels(compilation, organization.namespace, selector?.matchLabels ?? {});
    case 'List':
      return organizations.some(({ namespace, name }) => `${namespace}/${name}` === organization.id);
    default:
      return from satisfies never;
  }
}

function compileProvider(compilation: Compilation, resource: Resource<'Provider'>): ProviderConfig {
  const { spec } = resource.body;
  const vendor = vendorOf(spec);
  // The rules of the kind see to it that one of them is there.
  const url = (spec.endpoint?.url ?? addressOf(vendor, spec.region) ?? '').replace(/(?<!\/)\/+$/, '');
  refuseFalsePlaces(compilation, resource, placeOf(vendor, url, spec.region));
  refuseForeigners(compilation, resource);
  refuseMachines(compilation, resource, url);
  const { promptCache, nativeFiles } = spec.features;
  return Object.freeze({
    id: resource.id,
    slug: spec.slug,
    vendor,
    protocol: spec.protocol ? toSnapshot('protocol', spec.protocol) : VENDORS[vendor].protocol,
    url,
    jurisdiction: spec.jurisdiction,
    ...(spec.region !== undefined && { region: spec.region }),
    ...(spec.project !== undefined && { project: spec.project }),
    ...(spec.apiVersion !== undefined && { apiVersion: spec.apiVersion }),
    keyOwnership: toSnapshot('keyOwnership', spec.keyOwnership),
    credentials: Object.freeze(compileCredentials(compilation, resource)),
    models: compileModels(spec.models ?? []),
    ...(spec.onlyListedModels === true && { onlyListedModels: true }),
    attempts: spec.retry.attempts,
    circuitBreaker: Object.freeze({ ...spec.circuitBreaker }),
    ...(promptCache !== undefined && { promptCache: toSnapshot('promptCache', promptCache) }),
    ...(nativeFiles !== undefined && { nativeFiles }),
  });
}

/** Who may edit some namespace has no say in what the organizations of others reach. */
function refuseForeigners({ faults, platformNamespace }: Compilation, resource: Resource<'Provider'>): void {
  if (resource.body.spec.keyOwnership !== 'Managed') return;
  if (platformNamespace === undefined || resource.namespace === platformNamespace) return;
  const message = `can be Managed only in ${platformNamespace}, the namespace of the platform`;
  faults.add(resource, 'spec.keyOwnership', message, 'NamespaceNotPermitted');
}

/** Link-local addresses tell machines about themselves: a Provider there would have the gateway fetch credentials. */
function refuseMachines({ faults }: Compilation, resource: Resource<'Provider'>, url: string): void {
  if (!isMachineAddress(new URL(url).hostname)) return;
  const message = 'must not be a link-local address or a metadata service';
  faults.add(resource, 'spec.endpoint.url', message);
}

/** Residency depends on declared places, so a declaration that is plainly false must not compile. */
function refuseFalsePlaces({ faults }: Compilation, resource: Resource<'Provider'>, place: string | undefined): void {
  if (place === undefined) return;
  const { jurisdiction, models = [] } = resource.body.spec;
  const refuse = (field: string, declared: string | undefined): void => {
    if (declared === undefined || mayBeDeclared(declared, place)) return;
    const whole = place === 'GLOBAL' ? 'anywhere' : `in ${place}`;
    faults.add(resource, field, `is not where this address is served: it processes data ${whole}`);
  };
  refuse('spec.jurisdiction', jurisdiction);
  for (const [index, model] of models.entries()) refuse(`spec.models[${index}].jurisdiction`, model.jurisdiction);
}

/** What the secrets of these credentials must say, each a string in a JSON object. */
const SECRET_MEMBERS: Readonly<Partial<Record<ResourceSpelling<'credentialType'>, readonly string[]>>> = {
  AWSSigV4: ['accessKeyId', 'secretAccessKey'],
  AzureAD: ['tenantId', 'clientId', 'clientSecret'],
  GCPServiceAccount: ['client_email', 'private_key'],
};

/** Required members, if the secret lacks some of them. */
function missingMembers(secret: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(secret);
  } catch {
    // Told below, without the text: it is a secret.
  }
  const said = typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  return names.every((name) => typeof said[name] === 'string' && said[name] !== '') ? undefined : names.join(', ');
}

function compileCredentials({ secrets, faults }: Compilation, resource: Resource<'Provider'>): CredentialConfig[] {
  return (resource.body.spec.credentials ?? []).flatMap((credential, index) => {
    const { name, type, weight, secretKeyRef } = credential;
    const secret = secrets.read(resource, `spec.credentials[${index}].secretKeyRef`, secretKeyRef);
    if (secret === undefined) return [];
    const missing = missingMembers(secret, SECRET_MEMBERS[type] ?? []);
    if (missing !== undefined) {
      faults.add(resource, `spec.credentials[${index}].secretKeyRef`, `must be a JSON object with ${missing}`);
      return [];
    }
    return Object.freeze({ name, type: toSnapshot('credentialType', type), secret, weight });
  });
}

function compileModels(models: NonNullable<ProviderSpec['models']>): ReadonlyMap<string, ModelConfig> {
  return new Map(
    models.map(({ reasoning, decisions, ...model }) => [
      model.id,
      Object.freeze({
        ...model,
        ...(reasoning !== undefined && { reasoning: toSnapshot('reasoning', reasoning) }),
        ...(decisions !== undefined && { decisions: toSnapshot('decisions', decisions) }),
      }),
    ]),
  );
}
