import { lookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { buildConnector } from 'undici';
import { isMachineAddress } from '#/config/machine-address.ts';
import { isThisMachine, portOf } from '#/config/own-ports.ts';

/** An address that no provider has: nothing is connected to. */
class MachineAddress extends Error {
  override readonly name = 'MachineAddress';
  readonly code = 'ERR_MACHINE_ADDRESS';
}

/** What `buildConnector` takes, how names are resolved (default: as the system does), and ports of this machine to refuse. */
type GuardedOptions = buildConnector.BuildOptions & {
  readonly resolve?: typeof lookup;
  readonly ownPorts?: () => ReadonlySet<number>;
};

/**
 * Connects to any host but link-local addresses and metadata services, and to `ownPorts` only on other machines. A name may
 * turn out as such an address only when it is resolved: the addresses that were looked at are those that are connected to.
 */
export function guardedConnector({ resolve = lookup, ownPorts, ...options }: GuardedOptions): buildConnector.connector {
  const connecting = (isRefused: (host: string) => boolean): buildConnector.connector => {
    const connect = buildConnector({ ...options, lookup: lookupBut(isRefused, resolve) });
    return (wanted, callback) => {
      if (isRefused(wanted.hostname)) return callback(new MachineAddress('a refused address'), null);
      connect(wanted, callback);
    };
  };
  const anyPort = connecting(isMachineAddress);
  const ownPort = connecting((host) => isMachineAddress(host) || isOfThisMachine(host));
  return (wanted, callback) => (ownPorts?.().has(portOf(wanted)) ? ownPort : anyPort)(wanted, callback);
}

function lookupBut(isRefused: (address: string) => boolean, resolve: typeof lookup): LookupFunction {
  return (hostname, how, callback) => {
    resolve(hostname, { ...how, all: true }, (error, addresses: LookupAddress[]) => {
      if (error) return callback(error, '', 0);
      const [first] = addresses;
      if (!first || addresses.some(({ address }) => isRefused(address)))
        return callback(new MachineAddress('the name leads to a refused address'), '', 0);
      if (how.all === true) return (callback as (error: null, all: LookupAddress[]) => void)(null, addresses);
      callback(null, first.address, first.family);
    });
  };
}

/** Loopback, and every address that this machine has in its networks. */
function isOfThisMachine(host: string): boolean {
  if (isThisMachine(host)) return true;
  const own = Object.values(networkInterfaces()).flatMap((some) => some ?? []);
  return own.some(({ address }) => address === host.replace(/^::ffff:(?=\d+\.)/i, ''));
}
