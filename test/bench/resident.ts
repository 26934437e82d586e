import { setTimeout as sleep } from 'node:timers/promises';
import { closedLoop, createClient, openStream } from './load.ts';
import { measure, type Measure } from './measures.ts';
import { residentBytes } from './processes.ts';
import { prompt } from './prompts.ts';
import type { Side, Sides } from './sides.ts';

/**
 * What the system gives a process for each stream that is open: growth of the resident memory of fresh, warmed processes
 * over many that stay open. Garbage that waits for a collection is in it.
 */
export async function residentStreams(sides: Sides, name: string, bytes: number, streams: number): Promise<Measure> {
  const warm = prompt(2048, { stream: true });
  const held = prompt(bytes, { stream: true, model: 'upstream/stall' });
  const hold = async (side: Side): Promise<number> => {
    await closedLoop(sides.client, side, warm, 16, 200);
    await sleep(2000);
    const before = residentBytes(side.pid);
    const client = createClient();
    await Promise.all(Array.from({ length: streams }, () => openStream(client, side, held)));
    await sleep(2000);
    const grown = (residentBytes(side.pid) - before) / streams;
    await client.destroy();
    return grown;
  };
  await using pair = await sides.another({});
  return measure(`${name}, open stream: resident`, 'bytes', [await hold(pair.bare)], [await hold(pair.governed)]);
}
