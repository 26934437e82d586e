import type { Family } from '#/wire/document/document.ts';
import type { Traits } from '#/wire/hub/traits.ts';
import type { VendorRules } from './rules.ts';

/** The wire format of an API, as a Provider resource names it. */
export type VendorProtocol = 'chat_completions' | 'messages' | 'converse' | 'generate_content' | 'custom';

/** How a credential is used. */
export type CredentialType = 'api_key' | 'aws_sigv4' | 'azure_ad' | 'gcp_service_account';

/** How a provider caches prompts. // spec 4.3.2 */
export type PromptCacheMode = 'explicit_markers' | 'cache_point' | 'automatic' | 'implicit' | 'passthrough' | 'none';

/** Where a vendor processes data that is sent to hosts of its own, whatever a Provider declares. */
type Hosts =
  /** Host -> country, group of countries or `GLOBAL`. */
  | Readonly<Record<string, string>>
  /** The region that one of its hosts processes in; undefined: the host is not the vendor's. `region`: the Provider's. */
  | ((host: string, region: string | undefined) => string | undefined)
  /** Every customer has a host, and only the customer knows where it is. */
  | 'of its customers';

/** A vendor in the price lists that this build brings along, or an operator fetches. */
export interface PriceNames {
  /** Its id in the bundled list (genai-prices). Absent: the list does not have it, and files of prices use the vendor's id. */
  readonly bundled?: string;
  /** Its ids in LiteLLM's list, each with the prefix of a model's name. Earlier ones win. */
  readonly litellm: readonly (readonly [id: string, prefix: string])[];
  /** Its ids in the list of models.dev. Earlier ones win. */
  readonly modelsDev: readonly string[];
}

/** What a Provider resource of this vendor says in `k8s/samples/providers`, beyond slug and credentials. */
interface Sample {
  /** Comment above the resource, a line each. */
  readonly comment?: readonly string[];
  /** Absent: the vendor's id. */
  readonly slug?: string;
  /** Absent: where the vendor's own address processes data. */
  readonly jurisdiction?: string;
  /** More fields of `spec`, as lines of YAML: before `jurisdiction`, and after the credentials. */
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

/** All that the gateway knows of one vendor. Data alone: what needs code is in `src/providers`. */
export interface Vendor<Id extends string = string> {
  /** As Provider resources name it, and the default of their slug. */
  readonly id: Id;
  /** What people call it. */
  readonly name: string;
  /** The protocol of its API, unless a Provider says otherwise. */
  readonly protocol: VendorProtocol;
  /**
   * Wire families that it is asked in, the one to translate to first. A model may be served in fewer, and in those of
   * typed decisions where the catalogue says that it answers them.
   */
  readonly families: readonly Family[];
  /** Base address; `{region}` stands for the Provider's. Absent: every customer has one. */
  readonly address?: string;
  /** Its address in regions that `address` does not fit; undefined: `address` fits. */
  readonly addressIn?: (region: string) => string | undefined;
  /** Models are served from a region that the address or the path names. */
  readonly regional?: true;
  /** Calls belong to a project of the customer's. */
  readonly projects?: true;
  readonly hosts: Hosts;
  /** Types of credentials that it takes, the usual one first. */
  readonly credentials: readonly [CredentialType, ...CredentialType[]];
  /** Unless a Provider says otherwise. */
  readonly promptCache: PromptCacheMode;
  /** `prompt_cache_key` steers its cache, so that tenants of one account are kept apart. */
  readonly cachesByKey?: true;
  /** What holds for its models of which nothing else is known. */
  readonly traits: Partial<Traits>;
  /**
   * Models to list where nothing else names them. Each needs a price in the bundled list or in
   * `src/meter/pricing/own-prices.ts`.
   */
  readonly models?: readonly string[];
  readonly prices: PriceNames;
  /** The usual environment variable of its key: `make run` adds the vendor when it is set. */
  readonly environment?: string;
  readonly sample: Sample;
}

/** A vendor that speaks OpenAI's families at OpenAI's paths. */
export interface CompatibleVendor<Id extends string = string> extends Vendor<Id> {
  /** What it takes in requests. */
  readonly rules: VendorRules;
}

/** Whether data alone describes a vendor. */
export function isCompatible(vendor: Vendor): vendor is CompatibleVendor {
  return 'rules' in vendor;
}

/** Where a vendor's own address processes data; undefined where it has none, or the region decides. */
export function homeOf({ address, hosts }: Vendor): string | undefined {
  if (typeof hosts !== 'object' || address === undefined) return undefined;
  return hosts[new URL(address).hostname];
}
