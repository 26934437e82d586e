import type { Lose } from '#/wire/hub/canonical.ts';
import type { Edit, WireDocument } from '#/wire/document/document.ts';
import type { Traits } from '#/wire/hub/traits.ts';
import { Fitting, fitMembers } from './fitting.ts';

/** Drops what a model or its host refuses and nothing else: the rest was written for it by its family's encoder. */
export function fitRejected(document: WireDocument, { rejects }: Traits, lose: Lose): readonly Edit[] {
  if (rejects.size === 0) return [];
  const fitting = new Fitting(document, lose);
  fitMembers(fitting, {}, rejects);
  return fitting.edits();
}
