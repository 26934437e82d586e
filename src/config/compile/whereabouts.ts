import { VENDOR_IDS, VENDORS, type VendorId } from '#/vendors/list.ts';
import { GROUPS } from '#/values/places.ts';

/** Where hosts of any vendor process data, for an address may be configured under another vendor. Others are believed. */
const PLACES_BY_HOST: ReadonlyMap<string, string> = new Map(
  VENDOR_IDS.flatMap((id) => {
    const { hosts } = VENDORS[id];
    return typeof hosts === 'object' ? Object.entries(hosts) : [];
  }),
);

/** Cloud regions by what they begin with, longest first. */
const REGIONS: readonly (readonly [string, string])[] = [
  ['eu-west-2', 'GB'],
  ['eu-central-2', 'CH'],
  ['eu-central-1', 'DE'],
  ['eu-west-1', 'IE'],
  ['eu-west-3', 'FR'],
  ['eu-north-1', 'SE'],
  ['eu-south-1', 'IT'],
  ['eu-south-2', 'ES'],
  ['eusc-de', 'DE'],
  ['us-', 'US'],
  ['ap-northeast-2', 'KR'],
  ['ap-northeast-', 'JP'],
  ['ap-south-', 'IN'],
  ['ap-southeast-2', 'AU'],
  ['ap-southeast-4', 'AU'],
  ['ap-', 'APAC'],
  ['ca-', 'CA'],
  ['mx-', 'MX'],
  ['af-south-1', 'ZA'],
  ['il-central-1', 'IL'],
  ['me-central-1', 'AE'],
  ['me-south-1', 'BH'],
  ['cn-', 'CN'],
  ['sa-', 'BR'],
  ['europe-west2', 'GB'],
  ['europe-west6', 'CH'],
  ['europe-west3', 'DE'],
  ['europe-west10', 'DE'],
  ['europe-west4', 'NL'],
  ['europe-west9', 'FR'],
  ['europe-', 'EU'],
  ['asia-northeast3', 'KR'],
  ['asia-northeast', 'JP'],
  ['asia-south1', 'IN'],
  ['asia-', 'APAC'],
  ['australia-', 'AU'],
  ['northamerica-northeast', 'CA'],
  ['southamerica-east1', 'BR'],
  ['southamerica-west1', 'CL'],
  ['africa-south1', 'ZA'],
  ['me-west1', 'IL'],
  ['me-central1', 'QA'],
  ['me-central2', 'SA'],
];

/** Locations that are more than a region. // wire-formats 1.3 */
const WIDE = ['global', 'us', 'eu'];

/** Where calls to an address are processed: a country, a group of them or `GLOBAL`. Undefined: only its owner knows. */
export function placeOf(vendor: VendorId, url: string, region: string | undefined): string | undefined {
  const host = new URL(url).hostname;
  const { hosts } = VENDORS[vendor];
  if (typeof hosts !== 'function') return PLACES_BY_HOST.get(host);
  const named = hosts(host, region);
  if (named === undefined) return undefined;
  return WIDE.includes(named) ? named.toUpperCase() : REGIONS.find(([prefix]) => named.startsWith(prefix))?.[1];
}

/**
 * Whether a declaration can be true of a place. A wider one than needed may be declared (`EU` of Paris, `GLOBAL` of
 * anything), and a country of a group that a place is said to be in.
 */
export function mayBeDeclared(declared: string, place: string): boolean {
  if (declared === place || declared === 'GLOBAL') return true;
  return (GROUPS[declared]?.includes(place) ?? false) || (GROUPS[place]?.includes(declared) ?? false);
}
