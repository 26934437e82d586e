import { hash, randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { openApiClient } from '#/adapters/kubernetes/api-client.ts';
import { collectionPath } from '#/adapters/kubernetes/cluster.ts';
import type { Output } from '../terminal/output.ts';
import { UsageError } from '../terminal/usage-error.ts';

export const KEY_CREATE_HELP = `gwctl key create --workload NAME [--namespace NAME] [--display-name TEXT] [--expires-at TIME] [--test] [--apply]

Creates a key for a workload. Writes the VirtualKey resource, which holds the SHA-256 of the key, to standard output, and
shows the key itself once, on standard error:

  gwctl key create --workload support | kubectl apply -f -

With --apply it creates the resource in the cluster instead, and then shows the key.

  --workload NAME       The Workload that the key is for: NAME or NAMESPACE/NAME
  --namespace NAME      Namespace of the workload (default: that of the kubeconfig's context; "default" in a folder of
                        resources)
  --display-name TEXT   Name shown to people
  --expires-at TIME     When the key stops working (RFC 3339, such as 2027-01-31T00:00:00Z)
  --test                Creates a gw_test_ key instead of a gw_live_ one
  --apply               Creates the VirtualKey in the cluster of the kubeconfig, with its credentials
  --kubeconfig FILE     Kubeconfig to use (default: KUBECONFIG, or ~/.kube/config)
`;

/** What a Kubernetes name looks like. */
const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Makes a key and its resource. Resolves with the exit status, 0; throws UsageError, or what the cluster answered. */
export function keyCreate(
  args: readonly string[],
  { out, err }: Output,
  kubeconfig?: string,
): number | Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      workload: { type: 'string' },
      namespace: { type: 'string' },
      'display-name': { type: 'string' },
      'expires-at': { type: 'string' },
      test: { type: 'boolean', default: false },
      apply: { type: 'boolean', default: false },
      kubeconfig: { type: 'string' },
    },
  });
  const { test, 'display-name': displayName, 'expires-at': expiresAt } = values;
  const [workload, namespace] = placeOf(values.workload, values.namespace);
  if (workload === undefined) throw new UsageError('--workload is missing: name the workload that the key is for');
  for (const name of [workload, namespace]) {
    if (name !== undefined && !NAME.test(name))
      throw new UsageError(`"${name}" is not a name: use a-z, 0-9 and dashes`);
  }
  if (displayName !== undefined && displayName.length > 128)
    throw new UsageError('--display-name must have at most 128 characters');
  if (expiresAt !== undefined && (!RFC3339.test(expiresAt) || Number.isNaN(Date.parse(expiresAt)))) {
    throw new UsageError(`"${expiresAt}" is not a time: write it as 2027-01-31T00:00:00Z`);
  }
  // 256 random bits. The hash is over all of the key, its prefix included.
  const secret = `gw_${test ? 'test' : 'live'}_${randomBytes(32).toString('base64url')}`;
  const sha256 = hash('sha256', secret, 'hex');
  const resource = {
    apiVersion: 'gatewarden.dev/v1alpha1',
    kind: 'VirtualKey',
    metadata: { name: `${workload}-${sha256.slice(0, 8)}`, ...(namespace !== undefined && { namespace }) },
    spec: {
      workloadRef: { name: workload },
      ...(displayName !== undefined && { displayName }),
      hash: { algorithm: 'SHA256', value: sha256 },
      hint: secret.slice(0, 12),
      ...(expiresAt !== undefined && { expiresAt }),
    },
  };
  const show = (): number => {
    err(`The key, shown this once:\n\n  ${secret}\n`);
    return 0;
  };
  if (values.apply) return create(resource, namespace, values.kubeconfig ?? kubeconfig, out).then(show);
  // YAML 1.1 quotes what kubectl would else read as a time or a number.
  out(stringify(resource, { version: '1.1' }).trimEnd());
  return show();
}

/** A workload may be named with its namespace: `default/support`. */
function placeOf(workload: string | undefined, namespace: string | undefined): readonly (string | undefined)[] {
  const slash = workload?.indexOf('/') ?? -1;
  if (workload === undefined || slash < 0) return [workload, namespace];
  const named = workload.slice(0, slash);
  if (namespace !== undefined && namespace !== named) {
    throw new UsageError(`--workload names the namespace "${named}" and --namespace "${namespace}": name one`);
  }
  return [workload.slice(slash + 1), named];
}

/** A key whose resource was not taken is never shown: it would be one that works nowhere. */
async function create(
  resource: { readonly metadata: { readonly name: string } },
  namespace: string | undefined,
  kubeconfig: string | undefined,
  out: Output['out'],
): Promise<void> {
  if (kubeconfig === undefined) throw new UsageError('--apply needs --kubeconfig or KUBECONFIG');
  const client = openApiClient(kubeconfig);
  try {
    const place = namespace ?? client.namespace;
    const body = { ...resource, metadata: { ...resource.metadata, namespace: place } };
    await client.ask({ method: 'POST', path: collectionPath('VirtualKey', place), body });
    out(`VirtualKey ${place}/${resource.metadata.name} created`);
  } finally {
    client.close();
  }
}
