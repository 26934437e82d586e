import type { ResolvedPolicy } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { disguisedKindOf } from '#/values/document-text.ts';
import { attachmentAt, sharePart, type Attachment } from '#/wire/request/attachment.ts';
import type { Media } from '#/wire/hub/codec.ts';
import { isPicture, isTextMedia } from '#/wire/request/media.ts';
import { member } from '#/wire/document/scan.ts';
import { AttachedFile, type AttachScope, type FileKind } from './attached-file.ts';
import { documentsPass, imagesRule } from '../unreadable.ts';

/** Most files of one request that are looked into. */
const MOST_FILES = 20;

/**
 * The inline files of a request that are looked into before they travel; images too where policy inspects them, or
 * anonymizes documents.
 * None if policy refuses files, or if they can only be refused because no engine can read them: files that are not
 * returned count as unreadable content. Throws `invalid_request`. // spec 4.3.5
 */
export function attach(media: readonly Media[], scope: AttachScope): readonly AttachedFile[] {
  const { documents } = scope.policy;
  if (documents === 'refuse') return [];
  const rule = imagesRule(scope.policy);
  const wanted = rule === 'inspect' || (rule === 'pass' && documents === 'anonymize');
  const images = wanted && scope.reader.engine !== undefined;
  const inline = media.filter((item) => item.source === 'inline' && (isDocument(item) || (images && isImage(item))));
  if (inline.some((one) => media.some((other) => sharePart(one, other))))
    throw invalid('A content part must hold exactly one file.');
  if (inline.length > MOST_FILES) throw invalid(`A request may have at most ${MOST_FILES} attached files.`);
  return inline.map((item) => open(item, scope)).filter((file) => canBeRead(file, scope));
}

/** A file that a person would call one: film and the like are passed on as they are, where policy lets them. */
function isDocument({ kind, place }: Media): boolean {
  const type = member(place?.part, 'type');
  return kind === 'file' && type?.kind === 'string' && /file|document/.test(type.value);
}

function isImage({ kind, place }: Media): boolean {
  return kind === 'image' && place !== undefined;
}

/** If content is protected and there is no engine, only plain text can be inspected. */
function canBeRead({ kind }: AttachedFile, { policy, reader }: AttachScope): boolean {
  return reader.engine !== undefined || kind === 'text' || documentsPass(policy);
}

function open(media: Media, scope: AttachScope): AttachedFile {
  const { place } = media;
  if (!place) throw new TypeError('a file without a place in the request cannot be read');
  const attachment = attachmentAt(place);
  return new AttachedFile(media, place, attachment, kindOf(attachment, scope.policy), scope);
}

/** What a file is, its bytes say. What hides its words is for the engine where something must be found in it. */
function kindOf(attachment: Attachment, { mode, documents }: ResolvedPolicy['dlp']): FileKind {
  const { head, mediaType } = attachment;
  if (head.includes('%PDF')) return 'pdf';
  if (isPicture(head)) return 'image';
  const isProtected = mode !== 'allow_log' || documents === 'anonymize';
  if (!isTextMedia(mediaType) || (isProtected && mediaType.includes('html'))) return 'other';
  const file = attachment.decode();
  if (!isText(file)) return 'other';
  return isProtected && disguisedKindOf(file.toString(), mediaType) ? 'other' : 'text';
}

/** Tab, line ends, form feed and escape: no other control character is in a text. */
const SPACES = new Set([0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1b]);
const DECODER = new TextDecoder('utf-8', { fatal: true });

function isText(file: Buffer): boolean {
  try {
    DECODER.decode(file);
    return !file.some((byte) => byte < 0x20 && !SPACES.has(byte));
  } catch {
    return false;
  }
}

function invalid(message: string): GatewayError {
  return new GatewayError('invalid_request', message);
}
