import type { PinChange, ServerPins, ToolPin } from '#/ports/tool-pins.ts';

/**
 * Accepts the quarantined definitions of a server: of one tool, or of all. A tool has one accepted definition, so that the
 * one before is forgotten. Undefined: no definition of it is quarantined. `by`: the name of a person; `now`: milliseconds
 * since the epoch.
 */
export function acceptPins(
  { mode, pins }: ServerPins,
  tool: string | undefined,
  by: string,
  now: number,
): Pick<PinChange, 'mode' | 'put' | 'drop'> | undefined {
  const held = pins.filter((pin) => pin.state === 'quarantined' && (tool === undefined || pin.tool === tool));
  if (held.length === 0) return undefined;
  const put = held.map((pin): ToolPin => ({ ...pin, state: 'accepted', since: now, by }));
  const hashes = new Map(put.map((pin) => [pin.tool, pin.sha256]));
  const drop = pins.filter((pin) => hashes.has(pin.tool) && hashes.get(pin.tool) !== pin.sha256);
  return { mode, put, drop };
}
