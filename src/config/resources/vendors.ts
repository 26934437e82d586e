import { VENDORS, type VendorId } from '#/vendors/list.ts';
import type { Vendor } from '#/vendors/vendor.ts';
import type { ResourceSpelling } from './names.ts';

/** What a provider's vendor follows from. */
export interface VendorSource {
  readonly slug: string;
  readonly vendor?: VendorId;
  readonly protocol?: ResourceSpelling<'protocol'>;
}

/** Who serves a provider's models: as it says, else its slug where that is a vendor's id, else by its protocol. */
export function vendorOf({ vendor, slug, protocol }: VendorSource): VendorId {
  if (vendor) return vendor;
  if (isVendor(slug)) return slug;
  if (protocol === 'Converse') return 'bedrock';
  return protocol === 'GenerateContent' ? 'gemini' : 'custom';
}

/** Whether a slug is the id of a vendor. */
export function isVendor(slug: string): slug is VendorId {
  return Object.hasOwn(VENDORS, slug);
}

/** The base address of a vendor in a region. Undefined when it has none of its own, or a region is missing. */
export function addressOf(vendor: VendorId, region: string | undefined): string | undefined {
  const { address, addressIn, regional }: Vendor = VENDORS[vendor];
  if (!regional || address === undefined) return address;
  if (region === undefined) return undefined;
  return addressIn?.(region) ?? address.replace('{region}', region);
}
