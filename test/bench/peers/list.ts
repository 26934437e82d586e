import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { newKey, startGateway } from '../../harness/gateway.ts';
import { startProgram } from '../processes.ts';
import { governedResources } from '../resources.ts';
import { startCommand, type Peer } from './peer.ts';

const ROOT = new URL('../../../', import.meta.url).pathname;
const MODEL = 'upstream/static';
const MASTER_KEY = 'sk-bench-peers';

const readRoot = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8');

function pinned(list: string, name: string): string {
  return new RegExp(`^${name}==(\\S+)$`, 'm').exec(readRoot(`tools/peers/${list}`))?.[1] ?? 'unknown';
}

const nginx: Peer = {
  name: 'nginx',
  version: nginxVersion(),
  on: 'nothing: passes bytes, reads no request; one worker',
  async start({ upstream, port }) {
    const server = await startCommand(
      { program: 'nginx', args: ['-p', '{folder}', '-c', '{folder}/nginx.conf'] },
      { 'nginx.conf': nginxConf(upstream, port) },
    );
    return { ...server, target: { origin: `http://127.0.0.1:${port}`, key: 'none' }, model: MODEL };
  },
};

function nginxVersion(): string {
  const said = execFileSync('sh', ['-c', 'nginx -v 2>&1'], { encoding: 'utf8' });
  return /nginx\/(\S+)/.exec(said)?.[1] ?? 'unknown';
}

function nginxConf(upstream: string, port: number): string {
  return `daemon off;
worker_processes 1;
pid nginx.pid;
error_log stderr crit;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  client_body_buffer_size 256k;
  keepalive_requests 1000000;
  upstream provider { server ${upstream.replace('http://', '')}; keepalive 256; keepalive_requests 1000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://provider;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`;
}

const bare: Peer = {
  name: 'bare proxy',
  version: `Fastify ${versionOf('fastify')}, undici ${versionOf('undici')}`,
  on: 'nothing: parses and writes each request and answer',
  async start({ upstream }) {
    const program = await startProgram('./bare.ts', [upstream]);
    return {
      target: { origin: `http://127.0.0.1:${program.port}`, key: 'none' },
      model: MODEL,
      pid: program.pid,
      stop: async () => program.stop(),
    };
  },
};

function versionOf(name: string): string {
  return (JSON.parse(readRoot(`node_modules/${name}/package.json`)) as { version: string }).version;
}

const gatewarden: Peer = {
  name: 'Gatewarden',
  version: (JSON.parse(readRoot('package.json')) as { version: string }).version,
  on: 'everything: key, personal data tagged and restored, two rate limits, budget, cap and hold in Redis, audit row sealed to PostgreSQL',
  async start({ upstream, redisUrl, databaseUrl }) {
    const key = newKey();
    const gateway = await startGateway({
      resources: governedResources(upstream, key, newKey()),
      redisUrl,
      databaseUrl,
    });
    return {
      target: { origin: gateway.url, key },
      model: MODEL,
      pid: gateway.pid,
      stop: async () => void (await gateway.stop()),
    };
  },
};

const portkey: Peer = {
  name: 'Portkey',
  version: (JSON.parse(readRoot('tools/peers/package.json')) as { dependencies: Record<string, string> }).dependencies[
    '@portkey-ai/gateway'
  ]!,
  on: 'nothing: no key is checked, nothing is limited, searched or recorded',
  async start({ upstream, port }) {
    const server = `${ROOT}tools/peers/node_modules/@portkey-ai/gateway/build/start-server.js`;
    const running = await startCommand({
      program: process.execPath,
      args: [server, `--port=${port}`, '--headless'],
      env: { NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost' },
    });
    const headers = { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${upstream}/v1` };
    return { ...running, target: { origin: `http://127.0.0.1:${port}`, key: 'upstream', headers }, model: MODEL };
  },
};

const litellm: Peer = {
  name: 'LiteLLM',
  version: pinned('litellm.txt', 'litellm'),
  on: 'one master key; no database, so no keys, budgets or records; one worker',
  async start({ upstream, port }) {
    const config = {
      model_list: [
        {
          model_name: MODEL,
          litellm_params: { model: 'openai/static', api_base: `${upstream}/v1`, api_key: 'upstream' },
        },
      ],
      general_settings: { master_key: MASTER_KEY },
    };
    const running = await startCommand(
      {
        program: `${ROOT}.tools/litellm/bin/litellm`,
        args: ['--config', '{folder}/config.yaml', '--host', '127.0.0.1', '--port', String(port), '--num_workers', '1'],
        env: { LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_TELEMETRY: 'False', LITELLM_LOG: 'ERROR' },
      },
      { 'config.yaml': JSON.stringify(config) },
    );
    return { ...running, target: { origin: `http://127.0.0.1:${port}`, key: MASTER_KEY }, model: MODEL };
  },
};

/** In the order of the table. */
export const PEERS: readonly Peer[] = [nginx, bare, gatewarden, portkey, litellm];
