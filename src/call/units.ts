import type { BESIDE_TOKENS } from '#/wire/answer/usage.ts';

/** Units that are billed besides tokens. Seconds are whole, rounded up by who measures them. */
export type Unit = 'pages' | 'images' | 'calls' | 'seconds' | (typeof BESIDE_TOKENS)[number];

/** How much of each unit a call used. Absent means none, except that a call counts as one. */
export type Units = { readonly [U in Unit]?: number };

/** What a price can be asked for: tokens, or one of the units. */
export type Quantity = 'tokens' | Unit;
