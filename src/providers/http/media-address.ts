import { BlockList, isIP } from 'node:net';

/** IPv4 networks that are not the public internet. // IANA special-purpose registry, RFC 6890 */
const PRIVATE_V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  // The host of Azure's machines: a public address that only they reach.
  ['168.63.129.16', 32],
];

/** Parts of the global unicast network that lead elsewhere: tunnels into IPv4, documentation, protocols. */
const PRIVATE_V6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
];

const privateNetworks = new BlockList();
for (const [network, bits] of PRIVATE_V4) privateNetworks.addSubnet(network, bits, 'ipv4');
for (const [network, bits] of PRIVATE_V6) privateNetworks.addSubnet(network, bits, 'ipv6');

/** Everything outside is local, mapped, translated, multicast or not given out. */
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');

/** Whether an IP address belongs to the public internet. False for invalid addresses. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !privateNetworks.check(address, 'ipv4');
  // A zone (`fe80::1%eth0`) names an interface of this machine.
  if (version !== 6 || address.includes('%')) return false;
  return globalUnicast.check(address, 'ipv6') && !privateNetworks.check(address, 'ipv6');
}
