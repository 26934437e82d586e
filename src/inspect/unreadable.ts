import type { ResolvedPolicy } from '#/config/snapshot.ts';
import { ENGINE_IS_OFF } from '#/ports/documents.ts';
import type { Media } from '#/wire/hub/codec.ts';

/** Why nobody has looked into content that is no text. `form`: nobody looks into content of its form. */
export type Unread = 'address' | 'engine' | 'form' | 'passed';

/** What would have to be otherwise, as the rest of a sentence. */
const REASONS: Readonly<Record<Unread, string>> = {
  address: 'is given by an address or an id, and only inline content is inspected: send its bytes in a content part',
  engine: `cannot be read: ${ENGINE_IS_OFF}`,
  form: 'has a format that cannot be inspected: send a PDF, an office file, an image or a text in a content part',
  passed: 'is passed through without inspection',
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
      return policy.mode === 'block'
        ? 'audio cannot be inspected, and the mode Block sends nothing that is not inspected'
        : undefined;
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
  if (rule === 'refuse') return 'images are not allowed (dlp.images: Refuse)';
  if (rule === 'inspect') return `images must be inspected (dlp.images: Inspect), and one of them ${REASONS[why]}`;
  // A picture may be that of a document.
  if (policy.documents === 'off') return undefined;
  if (policy.documents === 'refuse')
    return 'an image may show a document, and documents are not allowed (dlp.documents: Refuse)';
  return `an image may show a document, and this one ${REASONS[why]}`;
}

/** Why an item of a request was not looked into. */
export function unreadBecause({ source }: Media, hasEngine: boolean): Unread {
  if (source === 'remote') return 'address';
  return hasEngine ? 'form' : 'engine';
}
