import { isThisMachine, portOf } from '#/config/own-ports.ts';
import type { Settings } from '#/settings/gateway-settings.ts';

type PortSettings = Pick<Settings, 'port' | 'adminPort' | 'inference'>;

/** Where this gateway listens, and the engine that settings name on this machine. `engine`: of the one that it started. */
export function ownPorts({ port, adminPort, inference }: PortSettings, engine?: string): ReadonlySet<number> {
  const ports = new Set([port, adminPort]);
  for (const address of [engine, typeof inference === 'object' ? inference.url : undefined]) {
    const url = address === undefined ? undefined : new URL(address);
    if (url && isThisMachine(url.hostname)) ports.add(portOf(url));
  }
  // Any free one: it is not known.
  ports.delete(0);
  return ports;
}
