import type { JsonNode } from '#/wire/document/scan.ts';
import type { Traits } from '#/wire/hub/traits.ts';
import type { Fitting } from './fitting.ts';

/**
 * Drops sampling parameters and stop strings that a model does not take; `quiet`: thinking is off. // wire-formats 2.5
 */
export function fitSampling(fitting: Fitting, traits: Traits, quiet: boolean): void {
  if (traits.sampling === 'fixed' || (traits.sampling === 'quiet' && !quiet)) {
    for (const name of ['temperature', 'top_p', 'top_k']) fitting.drop(name);
  } else if (traits.sampling === 'either' && typeof fitting.value('temperature') === 'number') fitting.drop('top_p');
  const temperature = fitting.value('temperature');
  if (typeof temperature === 'number' && temperature > traits.maxTemperature) {
    fitting.lose('temperature');
    fitting.set('temperature', String(traits.maxTemperature));
  }
  const stop = fitting.node('stop');
  if (stop) fitStop(fitting, stop, traits.maxStops);
}

function fitStop(fitting: Fitting, stop: JsonNode, most: number): void {
  if (most === 0) return fitting.drop('stop');
  if (stop.kind !== 'array' || stop.items.length <= most) return;
  fitting.lose('stop');
  fitting.edit({ start: stop.items[most - 1]!.end, end: stop.items.at(-1)!.end, text: '' });
}
