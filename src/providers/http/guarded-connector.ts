import { lookup, type LookupAddress } from 'node:dns';
import { buildConnector } from 'undici';
import { isMachineAddress } from '#/config/machine-address.ts';

/** An address that no provider has: nothing is connected to. */
class MachineAddress extends Error {
  override readonly name = 'MachineAddress';
  readonly code = 'ERR_MACHINE_ADDRESS';
}

/** What `buildConnector` takes, and how names are resolved; default: as the system does. */
type GuardedOptions = buildConnector.BuildOptions & { readonly resolve?: typeof lookup };

/**
 * Connects to any host but link-local addresses and metadata services, as which a name may turn out only when it is
 * resolved: the addresses that were looked at are those that are connected to.
 */
export function guardedConnector({ resolve = lookup, ...options }: GuardedOptions): buildConnector.connector {
  const connect = buildConnector({
    ...options,
    lookup: (hostname, how, callback) => {
      resolve(hostname, { ...how, all: true }, (error, addresses: LookupAddress[]) => {
        if (error) return callback(error, '', 0);
        const [first] = addresses;
        if (!first || addresses.some(({ address }) => isMachineAddress(address)))
          return callback(new MachineAddress('the name leads to a link-local address'), '', 0);
        if (how.all === true) return (callback as (error: null, all: LookupAddress[]) => void)(null, addresses);
        callback(null, first.address, first.family);
      });
    },
  });
  return (wanted, callback) => {
    if (isMachineAddress(wanted.hostname)) return callback(new MachineAddress('a link-local address'), null);
    connect(wanted, callback);
  };
}
