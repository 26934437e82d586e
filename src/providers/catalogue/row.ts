import type { VendorId } from '#/vendors/list.ts';
import type { Traits } from '#/wire/hub/traits.ts';

/** Traits of the models whose ids match. Later rows override earlier ones; rejected parameters add up. */
export interface Row {
  /** Only at these vendors; absent: wherever the model is hosted. */
  readonly vendors?: readonly VendorId[];
  /** Tried on the id in lower case. Must be linear. */
  readonly match: RegExp;
  readonly traits: Partial<Traits>;
}
