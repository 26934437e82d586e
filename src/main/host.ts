import type { Server } from 'node:net';
import type { Settings } from '#/settings/gateway-settings.ts';
import { createAdminServer, type AdminDeps } from '#/telemetry/admin-server.ts';
import type { Log } from '#/telemetry/log.ts';

/** What a gateway runs in: a process of its own, or one of several. */
export interface Host {
  /** Whether others listen on the same port: the system gives each connection to one of them. */
  readonly sharesPort: boolean;
  /** Shows operators its state from now on. */
  show(state: AdminDeps): Promise<void>;
  /** Told once that it listens, and of the development key if there is one. */
  announce(url: string, key: string | undefined): void;
  close(): void;
}

/** A process of its own: it serves its state on `ADMIN_PORT`. */
export function createOwnHost(settings: Settings, log: Log): Host {
  let admin: Server | undefined;
  return {
    sharesPort: false,
    async show(state) {
      admin = createAdminServer(state);
      await listen(admin, settings.adminPort, settings.adminHost);
    },
    announce: (url, key) => announce(log, settings, url, addressOf(admin!), key),
    close: () => void admin?.close(),
  };
}

/** Resolves when the server listens; rejects when it cannot. */
export function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
}

interface ListenAt {
  readonly host: string;
  readonly port: number;
  readonly reusePort?: boolean;
}

/** Where calls come in. */
export function listenOptions({ host, port }: Settings, { sharesPort }: Host): ListenAt {
  return { host, port, ...(sharesPort && { reusePort: true }) };
}

/** The address where a server listens, as a client on this machine writes it. */
export function addressOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') return String(address);
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${address.port}`;
}

function announce(log: Log, settings: Settings, url: string, admin: string, key: string | undefined): void {
  log.info({ event: 'gateway.listening', url, admin, embedded: settings.databaseUrl === undefined });
  if (key === undefined) return;
  const body =
    '{"model":"sandbox/echo","stream":true,"messages":[{"role":"user","content":"Write to ada@example.com"}]}';
  process.stdout.write(`
  Gatewarden is up. This key works until the process ends${settings.bootstrapKey === undefined ? ' and is not shown again' : ''}:

    ${key}

  Try it:

    curl -N ${url}/v1/chat/completions -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${body}'

  Readiness: ${admin}/readyz   Metrics: ${admin}/metrics

`);
}
