import { MediaUnavailable, type MediaFetcher } from '#/ports/media.ts';
import type { MediaPart, ModelRequest, Part } from '#/wire/hub/canonical.ts';
import { BadRequestShape } from '#/wire/hub/codec.ts';

/** Most files fetched for one request. */
const MAX_FETCHED = 20;

/**
 * Puts the bytes of images and documents that were given by address into the request, for providers that take no
 * addresses. Throws `BadRequestShape` when one cannot be had.
 */
export async function inlineRemoteMedia(
  request: ModelRequest,
  media: MediaFetcher,
  signal: AbortSignal,
): Promise<ModelRequest> {
  if (!request.turns.some(({ parts }) => parts.some(hasRemote))) return request;
  let fetched = 0;
  const inline = async (part: Part): Promise<Part> => {
    if (part.type === 'tool-result') return { ...part, parts: await all(part.parts) };
    if (part.type !== 'media' || !('url' in part.source)) return part;
    if (++fetched > MAX_FETCHED)
      throw new BadRequestShape(`A request may have at most ${MAX_FETCHED} files to fetch`, 'messages');
    return fetchPart(part, part.source.url, media, signal);
  };
  const all = async (parts: readonly Part[]): Promise<readonly Part[]> => {
    const done: Part[] = [];
    // One after the other: a request is not a way to make the gateway open many connections at once.
    for (const part of parts) done.push(await inline(part));
    return done;
  };
  const turns = [];
  for (const turn of request.turns) turns.push({ ...turn, parts: await all(turn.parts) });
  return { ...request, turns };
}

function hasRemote(part: Part): boolean {
  if (part.type === 'tool-result') return part.parts.some(hasRemote);
  return part.type === 'media' && 'url' in part.source;
}

async function fetchPart(part: MediaPart, url: string, media: MediaFetcher, signal: AbortSignal): Promise<MediaPart> {
  try {
    const { mediaType, data } = await media.fetchMedia(url, signal);
    const kind = mediaType.startsWith('image/') ? 'image' : 'document';
    // Text behind an address was not inspected, so only media that is never inspected as text is accepted.
    if (kind !== part.kind || mediaType.startsWith('text/')) {
      throw new BadRequestShape(
        `The address of a file must lead to ${part.kind === 'image' ? 'an image' : 'a PDF'}`,
        'messages',
      );
    }
    return { ...part, mediaType, source: { data } };
  } catch (thrown) {
    if (thrown instanceof MediaUnavailable) throw new BadRequestShape(thrown.message, 'messages');
    throw thrown;
  }
}
