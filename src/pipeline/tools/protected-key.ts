import type { McpServerConfig, VirtualKeyConfig } from '#/config/snapshot.ts';

type Trust = McpServerConfig['trust'];

const KNOWN = new WeakMap<VirtualKeyConfig, { [T in Trust]?: VirtualKeyConfig }>();

/** A key as it calls servers of this trust: the policies of its workload protect with the mode for what these are sent. */
export function keyFor(key: VirtualKeyConfig, trust: Trust): VirtualKeyConfig {
  const { policy, shadow } = key.workload;
  const isSame = (one: typeof policy): boolean => one.toolDlp[trust] === one.dlp.mode;
  if (isSame(policy) && (!shadow || isSame(shadow))) return key;
  let known = KNOWN.get(key);
  if (!known) KNOWN.set(key, (known = {}));
  known[trust] ??= {
    ...key,
    workload: {
      ...key.workload,
      policy: protecting(policy, trust),
      ...(shadow && { shadow: protecting(shadow, trust) }),
    },
  };
  return known[trust];
}

function protecting(
  policy: VirtualKeyConfig['workload']['policy'],
  trust: Trust,
): VirtualKeyConfig['workload']['policy'] {
  return { ...policy, dlp: { ...policy.dlp, mode: policy.toolDlp[trust] } };
}
