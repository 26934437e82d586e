import { anthropic } from './anthropic.ts';
import { azure } from './azure.ts';
import { bedrock } from './bedrock.ts';
import { cerebras } from './cerebras.ts';
import { custom } from './custom.ts';
import { deepseek } from './deepseek.ts';
import { fireworks } from './fireworks.ts';
import { gemini } from './gemini.ts';
import { groq } from './groq.ts';
import { ionos } from './ionos.ts';
import { mistral } from './mistral.ts';
import { nebius } from './nebius.ts';
import { openai } from './openai.ts';
import { ovhcloud } from './ovhcloud.ts';
import { scaleway } from './scaleway.ts';
import { together } from './together.ts';
import { typesafe } from './typesafe.ts';
import type { CompatibleVendor, Vendor } from './vendor.ts';
import { vertex } from './vertex.ts';
import { xai } from './xai.ts';

const LISTED = {
  openai,
  azure,
  anthropic,
  bedrock,
  gemini,
  vertex,
  mistral,
  deepseek,
  xai,
  groq,
  together,
  fireworks,
  cerebras,
  scaleway,
  ovhcloud,
  ionos,
  nebius,
  typesafe,
  custom,
};

/** Who serves a provider's models: decides address, credentials, families and quirks. */
export type VendorId = keyof typeof LISTED;

/** Vendors that data alone does not describe: their requests are made by code (`src/providers/registry.ts`). */
export type CodedVendorId = {
  [Id in VendorId]: (typeof LISTED)[Id] extends CompatibleVendor ? never : Id;
}[VendorId];

/** Every vendor, in the order in which schemas and pages list them. */
export const VENDORS: { readonly [Id in VendorId]: Vendor<Id> } = LISTED;

/** The ids of all vendors. */
export const VENDOR_IDS = Object.keys(VENDORS) as readonly VendorId[];
