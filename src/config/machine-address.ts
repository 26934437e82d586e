import { BlockList, isIP } from 'node:net';

/** Where a host serves metadata and credentials to its machine: never a provider. // RFC 3927, RFC 4291 */
const addresses = new BlockList();
addresses.addSubnet('169.254.0.0', 16, 'ipv4');
addresses.addSubnet('fe80::', 10, 'ipv6');
// The hosts of Azure, Alibaba, Oracle and, over IPv6, Amazon.
addresses.addAddress('168.63.129.16', 'ipv4');
addresses.addAddress('100.100.100.200', 'ipv4');
addresses.addAddress('192.0.0.192', 'ipv4');
addresses.addAddress('fd00:ec2::254', 'ipv6');

/** Translations of IPv4 into IPv6, which the list of IPv4 addresses does not cover. // RFC 6052 */
const NAT64 = /^64:ff9b::([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

const NAMES: ReadonlySet<string> = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'instance-data',
  'instance-data.ec2.internal',
]);

/** Whether a host, as `URL.hostname` writes it or an IP address, is link-local or a cloud's metadata service. */
export function isMachineAddress(host: string): boolean {
  const name = host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  const version = isIP(name);
  if (version === 4) return addresses.check(name, 'ipv4');
  if (version !== 6) return NAMES.has(name);
  // A zone (`fe80::1%eth0`) names an interface of this machine.
  if (name.includes('%')) return true;
  const translated = NAT64.exec(new URL(`http://[${name}]`).hostname.slice(1, -1));
  if (translated) {
    const [high, low] = [Number.parseInt(translated[1]!, 16), Number.parseInt(translated[2]!, 16)];
    return addresses.check([high >> 8, high & 255, low >> 8, low & 255].join('.'), 'ipv4');
  }
  return addresses.check(name, 'ipv6');
}
