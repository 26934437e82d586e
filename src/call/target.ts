import type { ModelConfig, ProviderConfig } from '#/config/snapshot.ts';
import type { Provider } from '#/ports/provider.ts';
import type { ClientCodec, UpstreamCodec, Media } from '#/wire/hub/codec.ts';
import type { Family } from '#/wire/document/document.ts';
import type { JsonObject } from '#/wire/document/json.ts';

/** What a call is debited for and asks: a model of a provider, or a tool of a server. */
export interface DebitedTarget {
  readonly provider: {
    readonly config: Pick<ProviderConfig, 'slug'> &
      Partial<Pick<ProviderConfig, 'vendor' | 'protocol' | 'url' | 'region' | 'keyOwnership'>>;
    jurisdiction(model: string): string;
  };
  readonly model: string;
  readonly family: Family;
}

/** A model of a provider that policy lets a caller reach. */
export interface Offer {
  readonly provider: Provider;
  /** Model id without the provider. */
  readonly model: string;
  /** What the configuration says of the model, if anything. */
  readonly settings: ModelConfig | undefined;
}

/** One way to serve a call: a provider, the id it offers the model by, and the family it is asked in. */
export interface Target extends Offer {
  /** The surface's own family where the provider speaks it for this model; else one to translate to. */
  readonly family: Family;
  /** Name of the credential to use, if the request names objects made with it. Absent: any. */
  readonly account?: string;
}

/** A target with the request as it is sent there. */
export interface Candidate extends Target {
  readonly body: string;
  /** What the way there dropped, by name. */
  readonly losses: readonly string[];
  /** Set where the provider is asked in another family than the surface's. */
  readonly translation: Translation | undefined;
  /** Kinds of content that were not inspected and are sent there. */
  readonly unscanned: readonly string[];
  /** What it is sent in the place of attached files. */
  readonly instead: readonly Instead[];
}

/** Between which families a call is translated. */
export interface Translation {
  readonly client: ClientCodec;
  readonly upstream: UpstreamCodec;
  /** The client's request without its conversation. */
  readonly settings: JsonObject;
}

/** What a target is sent in the place of a file: a file of `fileLength` code units, pictures, and text of so many bytes. */
export interface Instead {
  readonly media: Media;
  readonly fileLength: number;
  readonly images: number;
  readonly textBytes: number;
}

/** In the order they are tried. */
export type Candidates = readonly [Candidate, ...Candidate[]];
