import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

const ROOT = join(import.meta.dirname, '../..');
const HELM = join(ROOT, '.tools/bin/helm');

/** Whether Helm is there: `make helm` builds it. */
export const HAS_HELM = existsSync(HELM);

/** An object of a manifest, as far as tests look at every one. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [part: string]: unknown;
}

/** What a run of Helm came to. */
export interface HelmRun {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs Helm, without anything that a user of the machine has set up. Throws where it is not built. */
export function helm(args: readonly string[]): HelmRun {
  if (!HAS_HELM) throw new Error('helm is not there: `make helm` builds it');
  const home = mkdtempSync(join(tmpdir(), 'gatewarden-helm-'));
  try {
    const { status, stdout, stderr } = spawnSync(HELM, args, {
      cwd: ROOT,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: home, HELM_NAMESPACE: 'gateway' },
    });
    return { status, out: stdout, err: stderr };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Renders a chart of the repository as the release `gw` in the namespace `gateway`. */
export function template(chart: string, values: object = {}, more: readonly string[] = []): HelmRun {
  return withValues(['template', 'gw', `charts/${chart}`, '--kube-version', '1.36.4', ...more], values);
}

/** What installing a chart would say, notes and all; no cluster is asked. */
export function install(chart: string, values: object = {}): HelmRun {
  return withValues(['install', 'gw', `charts/${chart}`, '--dry-run=client'], values);
}

function withValues(args: readonly string[], values: object): HelmRun {
  const folder = mkdtempSync(join(tmpdir(), 'gatewarden-values-'));
  const file = join(folder, 'values.json');
  writeFileSync(file, JSON.stringify(values));
  try {
    return helm([...args, '--values', file]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The objects of what was rendered. Throws where that failed. */
export function manifests({ status, out, err }: HelmRun): readonly Manifest[] {
  if (status !== 0) throw new Error(`helm ended with ${status}: ${err}`);
  return parseAllDocuments(out)
    .map((document) => {
      // Kubernetes and Helm refuse nothing here, but take the last of two keys that are alike.
      for (const fault of [...document.errors, ...document.warnings]) throw fault;
      return document.toJS() as Manifest | null;
    })
    .filter((object) => object !== null);
}
