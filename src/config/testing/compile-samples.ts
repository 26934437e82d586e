import type { CompiledSnapshot } from '../compile/compile.ts';
import { make } from './resources.ts';

export const acme = make('Organization', 'acme');
export const bot = make('Workload', 'bot');
export const key = make('VirtualKey', 'key');
export const base = [acme, bot, key];
export const secretKeyRef = { name: 'keys', key: 'main' };
export const credentials = [{ name: 'main', type: 'APIKey', secretKeyRef }];
export const workloadPolicy = { targetRefs: [{ kind: 'Workload', name: 'bot' }] };
export const term = (ref = secretKeyRef) => ({ dlp: { customTerms: [{ label: 'project', secretKeyRef: ref }] } });
export const older = { creationTimestamp: '2026-01-01T00:00:00Z' };
export const newer = { creationTimestamp: '2026-02-01T00:00:00Z' };

export function only(snapshot: CompiledSnapshot) {
  const [virtualKey] = snapshot.keys.values();
  return virtualKey!.workload;
}
