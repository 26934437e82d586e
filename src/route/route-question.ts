import type { Call } from '#/call/call.ts';
import type { Media } from '#/wire/hub/codec.ts';

/** A call as routing sees it. */
export interface RouteQuestion extends Pick<
  Call,
  'key' | 'codec' | 'ask' | 'document' | 'headers' | 'startedAt' | 'toolServers'
> {
  /** Content besides text that inspection found. */
  readonly media: readonly Media[];
}
