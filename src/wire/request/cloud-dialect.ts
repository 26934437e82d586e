import type { Json } from '../document/json.ts';

/** Clouds whose Claude is asked in words of its own. */
export type CloudDialect = 'bedrock' | 'vertex';

/** The dialect that a body's `anthropic_version` names; undefined where it names a date, or nothing. // wire-formats 1.1 */
export function dialectOf(version: Json | undefined): CloudDialect | undefined {
  if (typeof version !== 'string') return undefined;
  return (['bedrock', 'vertex'] as const).find((cloud) => version.startsWith(`${cloud}-`));
}
