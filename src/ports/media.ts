/** Content fetched from an address. */
export interface FetchedMedia {
  /** IANA media type, lower case, without parameters. */
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
}

/** Fetches images and documents that a client named by address, from public servers only. */
export interface MediaFetcher {
  /** Rejects with `MediaUnavailable`. */
  fetchMedia(url: string, signal: AbortSignal): Promise<FetchedMedia>;
}

/** An address that was not fetched. The message is sent to the client: never internals of our network. */
export class MediaUnavailable extends Error {
  override readonly name = 'MediaUnavailable';
}
