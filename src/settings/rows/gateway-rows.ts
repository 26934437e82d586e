import { LOG_LEVELS } from '#/telemetry/log.ts';
import { ANY, list, mebibytes, NAMESPACE, text, WEB_URL, whole, words } from './forms.ts';
import type { SettingRows } from './setting.ts';

const MASTER_KEYS = 'a line `id:base64 of 32 bytes` for each key, the newest first';

/** Settings of the gateway, also those that it shares with other programs. */
export const GATEWAY_ROWS = {
  ADMIN_HOST: {
    form: ANY,
    readers: ['gateway', 'controller'],
    as: 'adminHost',
    default: '127.0.0.1',
    chart: 'own',
    meaning: 'Address on which `ADMIN_PORT` listens. The chart sets `0.0.0.0`, for the probes of a pod.',
  },
  ADMIN_PORT: {
    form: whole(0, 65_535),
    readers: ['gateway', 'controller'],
    as: 'adminPort',
    default: '8081',
    chart: 'own',
    meaning: 'Port for `/livez`, `/readyz` and `/metrics`.',
  },
  GW_AUTH_DELAY_MS: {
    form: whole(0, 10_000),
    readers: ['gateway'],
    as: 'authDelayMs',
    default: '0',
    meaning: 'Milliseconds that a request with an unknown key waits for its 401.',
  },
  GW_BODY_LIMIT_MIB: {
    form: mebibytes(1, 512),
    readers: ['gateway'],
    as: 'bodyLimitBytes',
    default: '64',
    chart: { values: { gateway: 'gateway.bodyLimitMiB' } },
    meaning: 'Largest request body, in MiB.',
  },
  GW_BODY_MEMORY_MIB: {
    form: mebibytes(16, 1_048_576),
    readers: ['gateway'],
    as: 'bodyMemoryBytes',
    unset: 'half of the memory limit, at most what the heap may grow to',
    meaning: 'Memory for the bodies of all requests in progress, in MiB. A body takes 8 to 14 times its size.',
  },
  GW_BOOTSTRAP_KEY: {
    form: text(/^\S{16,200}$/, 'have 16 to 200 characters and no spaces'),
    readers: ['gateway'],
    as: 'bootstrapKey',
    unset: 'a random key',
    secret: true,
    chart: 'refused',
    meaning: 'Development key of the embedded run.',
  },
  GW_CONFIG_DIR: {
    form: ANY,
    readers: ['gateway', 'gwctl'],
    as: 'configDir',
    unset: 'the samples',
    chart: 'own',
    meaning: 'Folder of resources.',
  },
  GW_CONFIG_KEY_FILE: {
    form: ANY,
    readers: ['gateway', 'controller'],
    chart: 'own',
    meaning: `File of the keys that the controller shares with gateways: ${MASTER_KEYS}. The controller needs it, and so do gateways with \`GW_CONFIG_SOURCE=redis\`.`,
  },
  GW_CONFIG_SOURCE: {
    form: words('folder', 'redis'),
    readers: ['gateway'],
    default: 'folder',
    chart: 'own',
    meaning: 'Where the configuration comes from: a folder, or what a controller publishes in `REDIS_URL`.',
  },
  GW_DOCS_URL: {
    form: WEB_URL,
    readers: ['gateway'],
    as: 'docsUrl',
    default: 'https://gatewarden.dev/docs',
    chart: { values: { gateway: 'gateway.docsUrl' }, default: '' },
    meaning: 'Where browsers on unknown paths are sent.',
  },
  GW_DRAIN_SECONDS: {
    form: whole(0, 300), // spec 6.1.5
    readers: ['gateway'],
    as: 'drainSeconds',
    default: '300',
    chart: { values: { gateway: 'gateway.drainSeconds' } },
    meaning: 'Seconds that open streams may still run after `GW_LEAVE_SECONDS`. Load balancers need as much patience.',
  },
  GW_GATEWAY_NAME: {
    form: text(/^[A-Za-z0-9._-]{1,253}$/, 'be letters, digits, dashes and dots'),
    readers: ['gateway'],
    unset: 'host name and process id',
    chart: 'own',
    meaning:
      'Name that a gateway reports itself as, with `GW_CONFIG_SOURCE=redis`. Each gateway needs a name of its own.',
  },
  GW_INFERENCE: {
    form: words('on', 'off'),
    readers: ['gateway'],
    default: 'on',
    chart: 'own',
    meaning: '`off`: no document is processed, and there are no local models.',
  },
  GW_INFERENCE_URL: {
    form: WEB_URL,
    readers: ['gateway'],
    unset: 'the gateway starts an engine as a child process',
    chart: 'own',
    meaning: 'Address of a document engine.',
  },
  GW_LEAVE_SECONDS: {
    form: whole(0, 300),
    readers: ['gateway'],
    as: 'leaveSeconds',
    default: '0',
    chart: { values: { gateway: 'gateway.leaveSeconds' }, default: '15' },
    meaning:
      'Seconds that the gateway still serves new calls after SIGTERM, each with the request to connect elsewhere next time, until load balancers notice.',
  },
  GW_MCP_ISSUER: {
    form: WEB_URL,
    readers: ['gateway'],
    unset: '`/v1/mcp` takes virtual keys only',
    meaning:
      'Authorization server whose access tokens `/v1/mcp` takes: `iss` of its tokens, character by character. Needs `GW_MCP_JWKS_URL` and `GW_PUBLIC_URL`; `accessTokens` of an Organization says which VirtualKey a token stands for.',
  },
  GW_MCP_JWKS_URL: {
    form: WEB_URL,
    readers: ['gateway'],
    unset: 'see `GW_MCP_ISSUER`',
    meaning:
      'Address of the public keys (JWKS) of `GW_MCP_ISSUER`: `https://`, unless it is on this machine or in the cluster.',
  },
  GW_MCP_ORIGINS: {
    form: list(/^https?:\/\/[^\s,/?#]+$/, 'be origins of web pages: https://one.example,http://localhost:6274'),
    readers: ['gateway'],
    as: 'mcpOrigins',
    unset: 'none',
    meaning:
      'Origins of web pages that may call `/v1/mcp`, as `one,two`, in addition to `corsOrigins` of the organization. Other requests with an `Origin` are refused.',
  },
  GW_MCP_TOKEN_ORIGINS: {
    form: list(
      /^(?:https:\/\/[^\s,/?#@\\]+|http:\/\/(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?)$/,
      'be origins of token endpoints, https:// unless they are on this machine: https://one.example,https://two.example',
    ),
    readers: ['gateway'],
    unset: 'that of `GW_MCP_ISSUER` only',
    meaning:
      'Origins of token endpoints that access tokens of callers may be sent to, as `one,two`, besides that of `GW_MCP_ISSUER`. An MCPServer with `auth.type: TokenExchange` and a `tokenUrl` elsewhere is not called.',
  },
  GW_MODEL_LIST_SECONDS: {
    form: whole(0, 86_400),
    readers: ['gateway'],
    as: 'modelListSeconds',
    default: '3600',
    meaning: "Seconds between two requests for a vendor's own list of models, in the background. `0`: never.",
  },
  GW_PHONE_REGIONS: {
    form: list(/^[A-Z]{2}$/, 'be two-letter regions with commas between, such as DE,FR,US'),
    readers: ['gateway'],
    as: 'phoneRegions',
    unset: '`DE,FR,GB,ES,IT,NL,PL,PT,AT,CH,BE,IE,US`',
    meaning: 'Regions (ISO 3166) whose national phone numbers are found. International numbers always are.',
  },
  GW_PLATFORM_NAMESPACE: {
    form: text(NAMESPACE, 'be the name of a namespace'),
    readers: ['gateway', 'controller'],
    as: 'platformNamespace',
    unset: 'gateway: anywhere; controller: the namespace of the lease',
    chart: 'own',
    meaning: 'Namespace of `Managed` providers, and of the organizations that may price `gw/…`.',
  },
  GW_PROCESSES: {
    form: whole(1, 64),
    readers: ['gateway'],
    as: 'processes',
    default: '1',
    chart: 'refused',
    meaning:
      'Processes that serve `PORT` together, for machines without an orchestrator. More than one need `REDIS_URL`, `DATABASE_URL`, a configuration, and a document engine of its own or none.',
  },
  GW_PUBLIC_URL: {
    form: WEB_URL,
    readers: ['gateway'],
    unset: '`result_url` is a path without a host',
    chart: { values: { gateway: 'gateway.publicUrl' }, default: '' },
    meaning: 'Address where clients reach the gateway, for `result_url`. The `Host` of a request is not trusted.',
  },
  GW_SECRETS_DIR: {
    form: ANY,
    readers: ['gateway', 'gwctl'],
    as: 'secretsDir',
    chart: 'own',
    meaning:
      'Folder of `<name>/<key>` files for `secretKeyRef`, in addition to `kind: Secret` objects in `GW_CONFIG_DIR`.',
  },
  GW_STREAM_SECONDS: {
    form: whole(1, 86_400),
    readers: ['gateway'],
    as: 'streamSeconds',
    default: '3600',
    meaning:
      'Seconds that a stream of a provider, or a file it sends, may take. The answer timeout of a workload is for silence in it.',
  },
  GW_USD_TO_EUR: {
    form: ANY,
    readers: ['gateway', 'controller', 'gwctl'],
    as: 'usdToEur',
    default: '0.92',
    chart: { values: { gateway: 'configuration.usdToEur', controller: 'configuration.usdToEur' } },
    meaning: 'Euro per US dollar, for prices in dollars. With rates to come: `0.92,2026-12-01=0.91`.',
  },
  HOME: {
    form: ANY,
    readers: ['gwctl'],
    meaning: 'Home folder, for `.kube/config`.',
  },
  HOST: {
    form: ANY,
    readers: ['gateway', 'engine'],
    as: 'host',
    default: '127.0.0.1',
    chart: 'own',
    meaning: 'Address on which `PORT` listens.',
  },
  KUBECONFIG: {
    form: ANY,
    readers: ['controller', 'gwctl'],
    as: 'kubeconfig',
    unset: 'controller: as the cluster tells its pods; gwctl: `~/.kube/config`',
    meaning: 'File that says where the API server is and how to sign in.',
  },
  LOG_LEVEL: {
    form: words(...LOG_LEVELS),
    readers: ['gateway', 'controller', 'engine'],
    as: 'logLevel',
    default: 'info',
    chart: {
      values: { gateway: 'gateway.logLevel', controller: 'controller.logLevel', engine: 'inference.logLevel' },
    },
    meaning: 'Least severe log events that are written.',
  },
  PORT: {
    form: whole(0, 65_535),
    readers: ['gateway', 'engine'],
    as: 'port',
    default: { gateway: '8080', engine: '8090' },
    chart: 'own',
    meaning: 'Port where clients connect. `0`: any free port.',
  },
  USER: {
    form: ANY,
    readers: ['gwctl'],
    unset: '`gwctl`',
    meaning: 'Who enters credit.',
  },
} as const satisfies SettingRows;
