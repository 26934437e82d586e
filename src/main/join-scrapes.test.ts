import { expect, test } from 'vitest';
import { counter, histogram, Metrics } from '#/telemetry/metrics.ts';
import { joinScrapes } from './join-scrapes.ts';

test('series of several processes stand together, those of a histogram too', () => {
  const scrape = (seconds: number): string => {
    const metrics = new Metrics();
    const count = metrics.open({
      seconds: histogram('gw_g_seconds', 'Times.', [1], 'server'),
      plain: counter('gw_h_total', 'Others.'),
    });
    count.seconds.observe(seconds, 'a');
    count.plain.inc();
    return metrics.text();
  };
  const text = joinScrapes(
    new Map([
      [1, scrape(0.5)],
      [2, scrape(3)],
    ]),
  );
  expect(text.split('\n')).toEqual([
    '# HELP gw_g_seconds Times.',
    '# TYPE gw_g_seconds histogram',
    'gw_g_seconds_bucket{process="1",server="a",le="1"} 1',
    'gw_g_seconds_bucket{process="1",server="a",le="+Inf"} 1',
    'gw_g_seconds_sum{process="1",server="a"} 0.5',
    'gw_g_seconds_count{process="1",server="a"} 1',
    'gw_g_seconds_bucket{process="2",server="a",le="1"} 0',
    'gw_g_seconds_bucket{process="2",server="a",le="+Inf"} 1',
    'gw_g_seconds_sum{process="2",server="a"} 3',
    'gw_g_seconds_count{process="2",server="a"} 1',
    '# HELP gw_h_total Others.',
    '# TYPE gw_h_total counter',
    'gw_h_total{process="1"} 1',
    'gw_h_total{process="2"} 1',
    '',
  ]);
});
