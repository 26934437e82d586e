import { ANY, list, NAMESPACE, whole } from './forms.ts';
import type { SettingRows } from './setting.ts';

/** Settings that the controller alone reads. */
export const CONTROLLER_ROWS = {
  GW_CONTROLLER_NAME: {
    form: ANY,
    readers: ['controller'],
    unset: 'host name and process id',
    chart: 'own',
    meaning: 'Name of this controller in the lease.',
  },
  GW_CONTROLLER_NAMESPACE: {
    form: ANY,
    readers: ['controller'],
    as: 'leaseNamespace',
    unset: 'the namespace of the credentials',
    chart: 'own',
    meaning: 'Namespace of the lease.',
  },
  GW_LEASE_SECONDS: {
    form: whole(3, 300),
    readers: ['controller'],
    as: 'leaseSeconds',
    default: '15',
    meaning: 'Seconds that the lease of the leading controller lasts.',
  },
  GW_ORGANIZATION_NAMESPACES: {
    form: ANY,
    readers: ['controller'],
    unset: '`GW_PLATFORM_NAMESPACE` alone',
    chart: 'own',
    meaning: 'Namespaces whose organizations are accepted, as `one,two`. `*`: all.',
  },
  GW_WATCH_NAMESPACES: {
    form: list(NAMESPACE, 'be names of namespaces: one,two'),
    readers: ['controller'],
    unset: 'all namespaces',
    chart: 'own',
    meaning: 'Namespaces that the controller reads, as `one,two`.',
  },
} as const satisfies SettingRows;
