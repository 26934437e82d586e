import type { OrganizationConfig, WorkloadConfig } from '../snapshot.ts';
import { toSnapshot } from '../resources/names.ts';
import type { Resource } from './catalog.ts';
import { follow, type Compilation } from './context.ts';
import { compileMcpServers } from './mcp-servers.ts';
import { permitsNamespace, toAlertPercent, toBudget } from './organizations.ts';
import { compilePolicies } from './policies.ts';
import { mergePolicy } from './policy-merge.ts';

/** Compiles every Workload, by id, with the policy in force for it. */
export function compileWorkloads(
  compilation: Compilation,
  organizations: ReadonlyMap<string, OrganizationConfig>,
): ReadonlyMap<string, WorkloadConfig> {
  const serversOf = compileMcpServers(compilation);
  const policies = compilePolicies(compilation);
  const workloads = new Map<string, WorkloadConfig>();
  for (const resource of compilation.catalog.all('Workload')) {
    const { spec } = resource.body;
    const owner = findOrganization(compilation, resource);
    const organization = owner && organizations.get(owner.id);
    if (!organization) continue;
    const target = { organization: `Organization ${organization.id}`, workload: `Workload ${resource.id}` };
    const subject = { id: resource.id, ...spec };
    const { Enforced: enforced, Shadow: shadow } = policies;
    const [ofOrganization, ofWorkload] = [enforced.get(target.organization), enforced.get(target.workload)];
    const [organizationShadow, workloadShadow] = [shadow.get(target.organization), shadow.get(target.workload)];
    workloads.set(
      resource.id,
      Object.freeze({
        id: resource.id,
        organization,
        ...spec.limits,
        ...(spec.budget && { budget: toBudget(compilation, spec.budget, owner.body.spec.currency) }),
        alertPercent: toAlertPercent(spec.alerts, organization.alertPercent),
        onHangUp: toSnapshot('onHangUp', spec.onHangUp),
        mcpServers: serversOf(resource, owner),
        policy: mergePolicy(subject, ofOrganization, ofWorkload),
        ...((organizationShadow ?? workloadShadow) && {
          shadow: mergePolicy(subject, organizationShadow ?? ofOrganization, workloadShadow ?? ofWorkload),
        }),
      }),
    );
  }
  return workloads;
}

function findOrganization(
  compilation: Compilation,
  workload: Resource<'Workload'>,
): Resource<'Organization'> | undefined {
  const { name, namespace = workload.namespace } = workload.body.spec.organizationRef;
  const field = 'spec.organizationRef';
  const organization = follow(compilation, workload, field, 'Organization', `${namespace}/${name}`);
  if (!organization) return undefined;
  if (permitsNamespace(compilation, organization, workload.namespace)) return organization;
  const message = `Organization ${organization.id} does not accept workloads of namespace ${workload.namespace}`;
  compilation.faults.add(workload, field, message, 'RefNotPermitted');
  return undefined;
}
