import {
  ClusterFault,
  type Cluster,
  type ClusterEvent,
  type ClusterKind,
  type ClusterObject,
  type Collection,
  type LeaseState,
  type LeaseStore,
  type ObjectRef,
} from '#/ports/cluster.ts';
import type { ApiClient } from './api-client.ts';

const GROUP = '/apis/gatewarden.dev/v1alpha1';
const PLURALS: Readonly<Record<ClusterKind, readonly [api: string, plural: string]>> = {
  Organization: [GROUP, 'organizations'],
  Workload: [GROUP, 'workloads'],
  Policy: [GROUP, 'policies'],
  Provider: [GROUP, 'providers'],
  PriceBook: [GROUP, 'pricebooks'],
  VirtualKey: [GROUP, 'virtualkeys'],
  ModelAlias: [GROUP, 'modelaliases'],
  MCPServer: [GROUP, 'mcpservers'],
  Secret: ['/api/v1', 'secrets'],
  Namespace: ['/api/v1', 'namespaces'],
};

/** Only these Secrets are read: no other secret of the cluster comes near the controller. */
const SECRET_TYPE = 'gatewarden.dev/credentials';
/** Whose word our part of a status is. */
const MANAGER = 'gatewarden-controller';
const PAGE = 500;
/** The server ends a watch after that; spread, so that not all end at once. */
const WATCH_SECONDS = [300, 600] as const;

/** Resources of a cluster by its API. `controller` names this process in events. */
export function openCluster(client: ApiClient, controller: string): Cluster {
  return {
    async list(collection, next) {
      const query = { ...selectorOf(collection), limit: String(PAGE), ...(next !== undefined && { continue: next }) };
      const answer = (await client.ask({ method: 'GET', path: pathOf(collection, query) })) as {
        readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
        readonly items: readonly ClusterObject[];
      };
      const { resourceVersion, continue: more } = answer.metadata;
      return { items: answer.items, resourceVersion, ...(more && { next: more }) };
    },
    async watch(collection, since, onEvent, signal) {
      const [least, most] = WATCH_SECONDS;
      const query = {
        ...selectorOf(collection),
        watch: 'true',
        resourceVersion: since,
        allowWatchBookmarks: 'true',
        timeoutSeconds: String(Math.round(least + Math.random() * (most - least))),
      };
      await client.follow(pathOf(collection, query), (line) => onEvent(toEvent(line)), signal);
    },
    async applyStatus(object, status) {
      const { kind, namespace, name } = object;
      const body = { apiVersion: 'gatewarden.dev/v1alpha1', kind, metadata: { name, namespace }, status };
      const path = `${objectPath(object)}/status?fieldManager=${MANAGER}&force=true`;
      await unlessGone(client.ask({ method: 'PATCH', path, body, contentType: 'application/apply-patch+yaml' }));
    },
    async setFinalizers(object, resourceVersion, finalizers) {
      const body = { metadata: { resourceVersion, finalizers } };
      const path = objectPath(object);
      await unlessGone(client.ask({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' }));
    },
    async record(event) {
      const path = `/apis/events.k8s.io/v1/namespaces/${event.about.namespace}/events`;
      await client.ask({ method: 'POST', path, body: toEventObject(event, controller) });
    },
  };
}

/** The lease of controllers in a namespace. */
export function openLeaseStore(client: ApiClient, namespace: string, name: string): LeaseStore {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
  return {
    async read() {
      const lease = (await client.ask({ method: 'GET', path: `${path}/${name}` }).catch((error: unknown) => {
        if (error instanceof ClusterFault && error.status === 404) return undefined;
        throw error;
      })) as LeaseObject | undefined;
      return lease && { state: toLeaseState(lease), version: lease.metadata.resourceVersion };
    },
    async write(state, version) {
      const { holder, seconds, transitions, acquiredAt, renewedAt } = state;
      const body = {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name, namespace, ...(version !== undefined && { resourceVersion: version }) },
        spec: {
          holderIdentity: holder,
          leaseDurationSeconds: seconds,
          leaseTransitions: transitions,
          acquireTime: microTime(acquiredAt),
          renewTime: microTime(renewedAt),
        },
      };
      try {
        if (version === undefined) await client.ask({ method: 'POST', path, body });
        else await client.ask({ method: 'PUT', path: `${path}/${name}`, body });
        return true;
      } catch (error) {
        if (error instanceof ClusterFault && error.status === 409) return false;
        throw error;
      }
    },
  };
}

/** Where objects of a kind are, and the path of one of them. */
export function collectionPath(kind: ClusterKind, namespace: string | undefined): string {
  const [api, plural] = PLURALS[kind];
  const within = namespace === undefined || kind === 'Namespace' ? '' : `/namespaces/${namespace}`;
  return `${api}${within}/${plural}`;
}

function pathOf({ kind, namespace }: Collection, query: Readonly<Record<string, string>>): string {
  return `${collectionPath(kind, namespace)}?${new URLSearchParams(query).toString()}`;
}

function objectPath({ kind, namespace, name }: ObjectRef): string {
  return `${collectionPath(kind, namespace)}/${name}`;
}

function selectorOf({ kind, namespace }: Collection): Readonly<Record<string, string>> {
  if (kind === 'Secret') return { fieldSelector: `type=${SECRET_TYPE}` };
  return kind === 'Namespace' && namespace !== undefined ? { fieldSelector: `metadata.name=${namespace}` } : {};
}

/** A line of a watch. The server tells of its own end as an `ERROR`. */
function toEvent(line: unknown) {
  const { type, object } = line as { type: string; object: ClusterObject & { code?: number } };
  if (type === 'ERROR') throw new ClusterFault('the watch ended with an error', object.code ?? 500);
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED' && type !== 'BOOKMARK')
    throw new ClusterFault('the watch sent an event of an unknown type', 500);
  return { type, object } as const;
}

async function unlessGone(asked: Promise<unknown>): Promise<void> {
  await asked.catch((error: unknown) => {
    if (!(error instanceof ClusterFault && error.status === 404)) throw error;
  });
}

function toEventObject({ about, uid, type, reason, message }: ClusterEvent, controller: string): object {
  const { kind, namespace, name } = about;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    // The API server adds to it; what a resource is called may not end a name, nor be cut anywhere.
    metadata: { generateName: `${kind.toLowerCase()}-`, namespace },
    eventTime: microTime(Date.now()),
    reportingController: 'gatewarden.dev/controller',
    reportingInstance: controller,
    action: 'Reconcile',
    type,
    reason,
    note: message.slice(0, 1024),
    regarding: { apiVersion: 'gatewarden.dev/v1alpha1', kind, namespace, name, ...(uid !== undefined && { uid }) },
  };
}

interface LeaseObject {
  readonly metadata: { readonly resourceVersion: string };
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly leaseTransitions?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
  };
}

function toLeaseState({ spec = {} }: LeaseObject): LeaseState {
  return {
    holder: spec.holderIdentity ?? '',
    seconds: spec.leaseDurationSeconds ?? 0,
    transitions: spec.leaseTransitions ?? 0,
    acquiredAt: Date.parse(spec.acquireTime ?? '') || 0,
    renewedAt: Date.parse(spec.renewTime ?? '') || 0,
  };
}

/** As the API server wants times of leases and events: with six digits. */
function microTime(at: number): string {
  return new Date(at).toISOString().replace('Z', '000Z');
}
