import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const CHART = 'charts/gatewarden/Chart.yaml';

function git(args: readonly string[], input?: Buffer): Buffer | undefined {
  const { status, stdout } = spawnSync('git', args, {
    cwd: ROOT,
    maxBuffer: 64 * 1024 * 1024,
    ...(input && { input }),
  });
  return status === 0 ? stdout : undefined;
}

/**
 * The commit of the repository that has the charts of the previous version: the one before the version last changed.
 * undefined where the history is not there, as in a shallow clone.
 */
export function previousRelease(): string | undefined {
  const changed = git(['log', '-1', '--format=%H', '-G^version:', '--', CHART])?.toString().trim();
  return changed && git(['cat-file', '-e', `${changed}^:${CHART}`]) ? `${changed}^` : undefined;
}

/** Writes charts and samples, as they were at a commit, into a folder that is there. Throws where that fails. */
export function checkOut(commit: string, folder: string): void {
  const archive = git(['archive', commit, 'charts', 'k8s/samples']);
  if (!archive) throw new Error(`no charts at ${commit}`);
  const { status, stderr } = spawnSync('tar', ['-x', '-C', folder], { input: archive });
  if (status !== 0) throw new Error(`tar ended with ${status}: ${stderr.toString()}`);
}
