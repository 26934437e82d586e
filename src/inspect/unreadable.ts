import type { ResolvedPolicy } from '#/config/snapshot.ts';
import { ENGINE_IS_OFF } from '#/ports/documents.ts';
import type { Media } from '#/wire/hub/codec.ts';

/** Why nobody has looked into content that is no text. `form`: nobody looks into content of its form. */
export type Unread = 'address' | 'engine' | 'form' | 'passed';

/** What would have to be otherwise, as the rest of a sentence. */
const REASONS: Readonly<Record<Unread, string>> = {
  address: 'is at an address or an id, and only what is sent inline is read: send its bytes in a content part',
  engine: `cannot be read: ${ENGINE_IS_OFF}`,
  form: 'is in a form that nobody reads: send a PDF, an office file, a picture or a text in a content part',
  passed: 'is passed on as it is, and nobody reads it',
};

/** Whether documents leave without anybody having looked into them. */
export function documentsPass({ mode, documents }: ResolvedPolicy['dlp']): boolean {
  return mode === 'allow_log' && documents === 'off';
}

/** What happens to pictures: where policy says nothing, a mode that refuses must know what it refuses. */
export function imagesRule({
  mode,
  images,
}: Pick<ResolvedPolicy['dlp'], 'mode' | 'images'>): 'pass' | 'inspect' | 'refuse' {
  return images ?? (mode === 'block' ? 'inspect' : 'pass');
}

/**
 * What keeps content that nobody has read from leaving under a policy; undefined where nothing does. `kind`: one of
 * `Media`. `why`: it was not read. One cause, one sentence. // spec 4.3.5
 */
export function unreadableReason(kind: string, policy: ResolvedPolicy['dlp'], why: Unread): string | undefined {
  switch (kind) {
    case 'audio':
      return policy.mode === 'block' ? 'audio cannot be scanned, and the mode Block sends nothing unread' : undefined;
    case 'file':
      if (documentsPass(policy)) return undefined;
      if (policy.documents === 'refuse') return 'attached documents are not allowed (dlp.documents: Refuse)';
      return `an attached document ${REASONS[why]}`;
    case 'image':
      return pictureReason(policy, why);
    default:
      return undefined;
  }
}

function pictureReason(policy: ResolvedPolicy['dlp'], why: Unread): string | undefined {
  const rule = imagesRule(policy);
  if (rule === 'refuse') return 'pictures are not allowed (dlp.images: Refuse)';
  if (rule === 'inspect') return `pictures are read first (dlp.images: Inspect), and one ${REASONS[why]}`;
  // A picture may be that of a document.
  if (policy.documents === 'off') return undefined;
  if (policy.documents === 'refuse')
    return 'a picture may show a document, and those are not allowed (dlp.documents: Refuse)';
  return `a picture may show a document, and this one ${REASONS[why]}`;
}

/** Why an item of a request was not looked into. */
export function unreadBecause({ source }: Media, hasEngine: boolean): Unread {
  if (source === 'remote') return 'address';
  return hasEngine ? 'form' : 'engine';
}
