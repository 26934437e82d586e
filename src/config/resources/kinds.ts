import type { Static } from 'typebox';
import { namespace, secret } from './core.ts';
import { mcpServer } from './mcp-server.ts';
import { modelAlias } from './model-alias.ts';
import { organization } from './organization.ts';
import { policy } from './policy.ts';
import { priceBook } from './price-book.ts';
import { provider } from './provider.ts';
import { virtualKey } from './virtual-key.ts';
import { workload } from './workload.ts';

/** Every kind that configuration may hold. */
export const KINDS = {
  Organization: organization,
  Workload: workload,
  Policy: policy,
  Provider: provider,
  PriceBook: priceBook,
  VirtualKey: virtualKey,
  ModelAlias: modelAlias,
  MCPServer: mcpServer,
  Secret: secret,
  Namespace: namespace,
} as const;

/** The name of a kind. */
export type KindName = keyof typeof KINDS;

/** How many resources there are of each kind. */
export type ResourceCounts = Readonly<Record<KindName, number>>;

/** The kinds of our own, each with a `spec`. */
export type CustomKindName = Exclude<KindName, 'Secret' | 'Namespace'>;

/** The kinds of our own, in the order in which one refers to another. */
export const CUSTOM_KINDS = Object.keys(KINDS).filter(
  (kind): kind is CustomKindName => kind !== 'Secret' && kind !== 'Namespace',
);

/** A resource of a kind, with defaults filled in. */
export type ResourceOf<K extends KindName> = Static<(typeof KINDS)[K]['schema']>;

/** The kinds, by name: for documents whose kind is not known yet. */
export function isKindName(kind: unknown): kind is KindName {
  return typeof kind === 'string' && Object.hasOwn(KINDS, kind);
}
