import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { LISTED_GROUPS } from '../harness/metric-groups.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The metrics that programs have. */
const METRICS = new Set(LISTED_GROUPS.flatMap(({ metrics }) => Object.values(metrics).map(({ name }) => name)));

const DASHBOARDS = globSync('charts/gatewarden/dashboards/*.json', { cwd: ROOT });

interface Dashboard {
  readonly uid: string;
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] };
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly gridPos: { readonly x: number; readonly y: number };
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

const metricsIn = (text: string): readonly string[] => [...text.matchAll(/\bgw_\w+/g)].map(([name]) => name);

describe('what is watched', () => {
  test('the code has metrics', () => {
    expect(METRICS).toContain('gw_calls_total');
    expect(METRICS).toContain('gw_inference_model_ready');
    expect(METRICS.size).toBeGreaterThan(40);
  });

  test.each(DASHBOARDS)('%s asks for metrics that are there', (path) => {
    const { templating, panels } = JSON.parse(read(path)) as Dashboard;
    const asked = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => metricsIn(expr)));
    expect(asked.length).toBeGreaterThan(8);
    for (const name of [...asked, ...templating.list.flatMap(({ query }) => metricsIn(query))])
      expect(METRICS, `${path}: ${name}`).toContain(name);
  });

  test.each(DASHBOARDS)('%s has panels of their own ids and places, bound to the chosen namespace', (path) => {
    const { panels } = JSON.parse(read(path)) as Dashboard;
    for (const of of ['id', 'title'] as const)
      expect(new Set(panels.map((panel) => panel[of])).size).toBe(panels.length);
    expect(new Set(panels.map(({ gridPos }) => `${gridPos.x} ${gridPos.y}`)).size).toBe(panels.length);
    for (const { expr } of panels.flatMap(({ targets }) => targets))
      expect(expr.match(/namespace=~"\$namespace"/g)?.length, expr).toBe(metricsIn(expr).length);
  });

  test('dashboards have ids of their own', () => {
    const ids = DASHBOARDS.map((path) => (JSON.parse(read(path)) as Dashboard).uid);
    expect(ids.length).toBe(3);
    expect(new Set(ids).size).toBe(3);
  });

  test('alerts ask for metrics that are there', () => {
    const alerts = parse(read('charts/gatewarden/alerts.yaml')) as readonly {
      readonly alert: string;
      readonly expr: string;
    }[];
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
    for (const { alert, expr } of alerts) {
      expect(metricsIn(expr).length, alert).toBeGreaterThan(0);
      for (const name of metricsIn(expr)) expect(METRICS, alert).toContain(name);
    }
  });
});
