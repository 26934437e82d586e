import { expect, test } from 'vitest';
import { counter, gauge, histogram, Metrics, total } from './metrics.ts';

const GROUP = {
  calls: counter('gw_a_total', 'Calls.', 'outcome', 'code'),
  plain: counter('gw_b_total', 'Others.'),
  open: gauge('gw_c', 'Open calls.'),
  ages: gauge('gw_d_seconds', 'Ages.', 'provider'),
  kept: total('gw_e_total', 'Counted elsewhere.'),
  unread: gauge('gw_f', 'Of nothing.'),
};

test('writes counts and the values that are read now, in the order of the declarations that have a value', () => {
  const metrics = new Metrics();
  const count = metrics.open(GROUP);
  let now = 1;
  count.open.from(() => now);
  count.ages.from(() => [
    ['openai', 3.5],
    ['a"b\\c', 0],
  ]);
  count.kept.from(() => 7);
  count.calls.inc('ok', '');
  count.calls.add(2, 'ok', '');
  count.calls.inc('refused', 'a');
  count.plain.inc();
  now = 2;
  expect(metrics.text()).toBe(
    [
      '# HELP gw_a_total Calls.',
      '# TYPE gw_a_total counter',
      'gw_a_total{outcome="ok",code=""} 3',
      'gw_a_total{outcome="refused",code="a"} 1',
      '# HELP gw_b_total Others.',
      '# TYPE gw_b_total counter',
      'gw_b_total 1',
      '# HELP gw_c Open calls.',
      '# TYPE gw_c gauge',
      'gw_c 2',
      '# HELP gw_d_seconds Ages.',
      '# TYPE gw_d_seconds gauge',
      'gw_d_seconds{provider="openai"} 3.5',
      'gw_d_seconds{provider="a\\"b\\\\c"} 0',
      '# HELP gw_e_total Counted elsewhere.',
      '# TYPE gw_e_total counter',
      'gw_e_total 7',
      '',
    ].join('\n'),
  );
});

test('writes how values are distributed, in sums from the lowest bucket on', () => {
  const metrics = new Metrics();
  const count = metrics.open({ seconds: histogram('gw_g_seconds', 'Times.', [0.1, 1], 'server') });
  expect(metrics.text()).toBe('# HELP gw_g_seconds Times.\n# TYPE gw_g_seconds histogram\n');
  for (const seconds of [0.1, 0.5, 1, 7]) count.seconds.observe(seconds, 'a"b');
  expect(metrics.text().split('\n').slice(2, -1)).toEqual([
    'gw_g_seconds_bucket{server="a\\"b",le="0.1"} 1',
    'gw_g_seconds_bucket{server="a\\"b",le="1"} 3',
    'gw_g_seconds_bucket{server="a\\"b",le="+Inf"} 4',
    'gw_g_seconds_sum{server="a\\"b"} 8.6',
    'gw_g_seconds_count{server="a\\"b"} 4',
  ]);
});
