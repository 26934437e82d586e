import { BlockList, isIP } from 'node:net';

/** Where a gateway and an engine next to it listen unless their settings say otherwise. */
export const USUAL_PORTS: ReadonlySet<number> = new Set([8080, 8081, 8090]);

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');
// Connections to no address reach this machine.
loopback.addAddress('0.0.0.0', 'ipv4');
loopback.addAddress('::', 'ipv6');

/** Whether a host, as `URL.hostname` writes it or an IP address, is this machine without that a name is resolved. */
export function isThisMachine(host: string): boolean {
  const name = host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  const version = isIP(name);
  if (version === 0) return name === 'localhost' || name.endsWith('.localhost');
  return loopback.check(name, version === 4 ? 'ipv4' : 'ipv6');
}

/** The port of an address. `port` and `protocol` as `URL` writes them. */
export function portOf({ port, protocol }: { readonly port: string; readonly protocol: string }): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}
