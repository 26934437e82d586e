/** What every installation has to say. */
const STORES = {
  redis: { existingSecret: 'stores', key: 'redis' },
  database: { existingSecret: 'stores', key: 'database' },
  keys: { existingSecret: 'keys' },
};

const GPU = { resource: 'nvidia.com/mig-1g.10gb' };

/** Installations whose manifests are kept in `golden/`, by name. */
export const INSTALLATIONS: Readonly<Record<string, object>> = {
  small: STORES,
  gpu: { ...STORES, inference: { gpu: GPU, image: { tag: '1.2.3-cuda' }, models: { existingClaim: 'models' } } },
  sidecar: { ...STORES, inference: { mode: 'Sidecar' } },
  'sidecar-gpu': { ...STORES, inference: { mode: 'Sidecar', gpu: GPU, image: { tag: '1.2.3-cuda' } } },
  folder: {
    ...STORES,
    configuration: {
      source: 'Folder',
      folder: { configMap: 'resources', secrets: [{ name: 'providers', keys: ['a'] }] },
    },
    inference: { mode: 'Disabled' },
    migrations: { enabled: false },
    networkPolicy: { enabled: false },
    rbac: { aggregate: false },
    gateway: { autoscaling: { enabled: false }, replicas: 3 },
  },
  everything: {
    ...STORES,
    redis: { ...STORES.redis, cluster: true, cacheKey: 'cache' },
    database: { ...STORES.database, migrationsKey: 'owner', gatewayRole: 'gateway' },
    image: { repository: 'registry.example/gatewarden', digest: `sha256:${'a'.repeat(64)}` },
    imagePullSecrets: [{ name: 'registry' }],
    gateway: {
      publicUrl: 'https://models.example',
      docsUrl: 'https://docs.example',
      env: [{ name: 'GW_PHONE_REGIONS', value: 'DE,FR' }],
      autoscaling: { openCalls: 200 },
      stdioServers: [
        {
          name: 'files',
          image: `registry.example/mcp-files@sha256:${'b'.repeat(64)}`,
          args: ['node', '/server/index.js', '/files'],
          port: 3100,
          token: { secret: 'files-bridge', key: 'token' },
          envFrom: [{ secretRef: { name: 'files' } }],
          volumes: [{ name: 'files', emptyDir: { sizeLimit: '1Gi' } }],
          volumeMounts: [{ name: 'files', mountPath: '/files' }],
        },
        {
          name: 'memory',
          image: `registry.example/mcp-memory@sha256:${'c'.repeat(64)}`,
          args: ['mcp-server-memory'],
          port: 3101,
          token: { secret: 'memory-bridge', key: 'token' },
          resources: { limits: { memory: '256Mi' } },
        },
      ],
      podAnnotations: { 'example.com/note': 'x' },
      nodeSelector: { 'kubernetes.io/arch': 'amd64' },
      priorityClassName: 'serving',
      service: { type: 'LoadBalancer', port: 8443, annotations: { 'example.com/idle-timeout': '330' } },
    },
    controller: { allNamespaces: true },
    networkPolicy: {
      ingressFrom: [{ namespaceSelector: { matchLabels: { team: 'apps' } } }],
      metricsFrom: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
      dns: { to: [{ ipBlock: { cidr: '169.254.20.10/32' } }, { namespaceSelector: {} }], ports: [53, 5353] },
      redis: { to: [{ ipBlock: { cidr: '10.1.0.0/24' } }], port: 6380 },
      cacheRedis: { to: [{ ipBlock: { cidr: '10.2.0.0/24' } }], port: 6381 },
      extraEgress: [
        { to: [{ podSelector: { matchLabels: { app: 'models' } } }], ports: [{ protocol: 'TCP', port: 8000 }] },
      ],
      apiServer: { cidrs: ['10.0.0.1/32'], ports: [443] },
    },
    dashboards: { enabled: true },
    alerts: { enabled: true, labels: { release: 'prometheus' } },
    serviceMonitor: { labels: { release: 'prometheus' } },
  },
  namespaces: { ...STORES, controller: { namespaces: ['team-a', 'team-b'] } },
};

/** What a cluster with Prometheus' operator says it can do. */
export const WITH_MONITORING = ['--api-versions', 'monitoring.coreos.com/v1'];
