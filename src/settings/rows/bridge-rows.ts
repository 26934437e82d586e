import { LOG_LEVELS } from '#/telemetry/log.ts';
import { ANY, mebibytes, secondsAsMs, text, whole, words } from './forms.ts';
import type { SettingRows } from './setting.ts';

/** Settings of the bridge to MCP servers over standard input. Its server gets all other variables of its environment. */
export const BRIDGE_ROWS = {
  GW_BRIDGE_CALLS: {
    form: whole(1, 1000),
    readers: ['bridge'],
    as: 'calls',
    default: '32',
    meaning: 'Requests that the server may work on at the same time. Beyond it the bridge answers 503.',
  },
  GW_BRIDGE_DRAIN_SECONDS: {
    form: secondsAsMs(0, 3600),
    readers: ['bridge'],
    as: 'drainMs',
    default: '20',
    meaning: 'Seconds that requests in progress may still take after SIGTERM.',
  },
  GW_BRIDGE_HOST: {
    form: ANY,
    readers: ['bridge'],
    as: 'host',
    default: '127.0.0.1',
    meaning: 'Address on which `GW_BRIDGE_PORT` listens. `0.0.0.0` where the bridge is a pod of its own.',
  },
  GW_BRIDGE_LOG_LEVEL: {
    form: words(...LOG_LEVELS),
    readers: ['bridge'],
    as: 'logLevel',
    default: 'info',
    meaning: 'How much the bridge logs. What its server writes to standard error is passed on at every level.',
  },
  GW_BRIDGE_MAX_MIB: {
    form: mebibytes(1, 64),
    readers: ['bridge'],
    as: 'maxBytes',
    default: '16',
    meaning: 'Largest message of the server, in MiB. Requests have at most 4 MiB.',
  },
  GW_BRIDGE_PORT: {
    form: whole(0, 65_535),
    readers: ['bridge'],
    as: 'port',
    default: '3100',
    chart: 'own',
    meaning: 'Port of the bridge: `/mcp`, `/livez` and `/readyz`.',
  },
  GW_BRIDGE_START_SECONDS: {
    form: secondsAsMs(1, 600),
    readers: ['bridge'],
    as: 'startMs',
    default: '60',
    meaning: 'Seconds that the server may take to answer its handshake.',
  },
  GW_BRIDGE_TOKEN: {
    form: text(/^[\x21-\x7e]{16,512}$/, 'be 16 to 512 printable ASCII characters without spaces'),
    readers: ['bridge'],
    as: 'token',
    required: true,
    secret: true,
    chart: 'own',
    meaning:
      'Token that every request must have: put the same into the Secret of the MCPServer, with `auth.type: Bearer`. The server does not get it.',
  },
} as const satisfies SettingRows;
