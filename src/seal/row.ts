import type { ValueOf } from './row-forms.ts';
import type { ROW_FIELDS } from './row-fields.ts';

type Fields = typeof ROW_FIELDS;

type Optional = { [K in keyof Fields]: Fields[K] extends { readonly when: string } ? K : never }[keyof Fields];
type Always = { readonly [K in Exclude<keyof Fields, Optional>]: ValueOf<Fields[K]['form']> };
type Sometimes = { readonly [K in Optional]?: ValueOf<Fields[K]['form']> | undefined };

/**
 * The sealed facts of one call, as `ROW_FIELDS` defines them. Money is decimal text of nano-euro. Never any content.
 */
export interface AuditRow extends Always, Sometimes {}

/** Where a row stands in the chain. */
export type RowPosition = Pick<AuditRow, 'strand' | 'sequence'>;

/** A row that has no place in the chain yet. */
export type UnplacedRow = Omit<AuditRow, keyof RowPosition>;

/** An unplaced row as it is made: it names every field, also those that rows may lack, so that none is forgotten. */
export type StatedRow = Readonly<Required<Omit<UnplacedRow, 'dlp'>>> & { readonly dlp: Required<AuditRow['dlp']> };

/** How a call ended. */
export type Outcome = AuditRow['outcome'];

/** Where a call was refused or failed. */
export type Step = NonNullable<AuditRow['step']>;
