import { wordsOf } from '#inspect/scope-guard.ts';
import type { Part, Turn } from '#wire/canonical.ts';
import { BadRequestShape, type DoorCodec } from '#wire/codec.ts';
import type { Call } from './call.ts';

/** What a call says for the scope guard: of a conversation the user's last words, else all there are. */
export function saidIn({ codec, document }: Pick<Call, 'codec' | 'document'>): string {
  if (!('decodeRequest' in codec)) return wordsOf(document.body);
  const turns = turnsOf(codec as DoorCodec, document);
  if (!turns) return wordsOf(document.body);
  const texts = turns.filter(({ role }) => role === 'user').map(({ parts }) => textOf(parts));
  return texts.findLast((text) => text.trim() !== '') ?? '';
}

/** Undefined where the request is none of its family's: whoever is sent it says so. */
function turnsOf(codec: DoorCodec, document: Call['document']): readonly Turn[] | undefined {
  try {
    return codec.decodeRequest(document, () => {}).turns;
  } catch (thrown) {
    if (thrown instanceof BadRequestShape) return undefined;
    throw thrown;
  }
}

function textOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}
