import type { ProviderProtocol, VendorId } from '../snapshot.ts';
import type { ResourceSpelling } from './names.ts';

/** What configuration knows of a vendor. */
interface VendorFacts {
  /** The protocol its API speaks, where the resource does not say. */
  readonly protocol: ProviderProtocol;
  /** Its base address; `{region}` stands for the provider's. Absent: every customer has one of their own. */
  readonly address?: string;
  /** Models are served from a region that the address or the path names. */
  readonly regional?: boolean;
  /** Calls belong to a project of the customer's. */
  readonly projects?: boolean;
}

const CHAT = 'chat_completions';

/** Every vendor, and the only place that knows their addresses. */
export const VENDORS: Readonly<Record<VendorId, VendorFacts>> = {
  openai: { protocol: CHAT, address: 'https://api.openai.com/v1' },
  azure: { protocol: CHAT },
  anthropic: { protocol: 'messages', address: 'https://api.anthropic.com/v1' },
  bedrock: { protocol: 'converse', address: 'https://bedrock-runtime.{region}.amazonaws.com', regional: true },
  gemini: { protocol: 'generate_content', address: 'https://generativelanguage.googleapis.com/v1beta' },
  vertex: {
    protocol: 'generate_content',
    address: 'https://{region}-aiplatform.googleapis.com',
    regional: true,
    projects: true,
  },
  mistral: { protocol: CHAT, address: 'https://api.mistral.ai/v1' },
  deepseek: { protocol: CHAT, address: 'https://api.deepseek.com' },
  xai: { protocol: CHAT, address: 'https://api.x.ai/v1' },
  groq: { protocol: CHAT, address: 'https://api.groq.com/openai/v1' },
  together: { protocol: CHAT, address: 'https://api.together.xyz/v1' },
  fireworks: { protocol: CHAT, address: 'https://api.fireworks.ai/inference/v1' },
  cerebras: { protocol: CHAT, address: 'https://api.cerebras.ai/v1' },
  scaleway: { protocol: CHAT, address: 'https://api.scaleway.ai/v1' },
  ovhcloud: { protocol: CHAT, address: 'https://oai.endpoints.kepler.ai.cloud.ovh.net/v1' },
  ionos: { protocol: CHAT, address: 'https://openai.inference.de-txl.ionos.com/v1' },
  nebius: { protocol: CHAT, address: 'https://api.tokenfactory.nebius.com/v1' },
  typesafe: { protocol: 'custom', address: 'https://api.typesafe.ai/v1' },
  custom: { protocol: 'custom' },
};

/** The ids of all vendors, as resources spell them too. */
export const VENDOR_IDS = Object.keys(VENDORS) as readonly VendorId[];

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
  const { address, regional } = VENDORS[vendor];
  if (!regional || address === undefined) return address;
  if (region === undefined) return undefined;
  if (vendor === 'vertex' && region === 'global') return 'https://aiplatform.googleapis.com';
  if (vendor === 'vertex' && !region.includes('-')) return `https://aiplatform.${region}.rep.googleapis.com`;
  const host = address.replace('{region}', region);
  if (region.startsWith('cn-')) return `${host}.cn`;
  return region.startsWith('eusc-') ? host.replace(/\.com$/, '.eu') : host;
}
