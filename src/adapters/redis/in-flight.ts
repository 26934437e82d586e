/** The holds that this process placed or took over and has not seen closed, by organization. */
export interface InFlight {
  add(organization: string, callId: string): void;
  remove(organization: string, callId: string): void;
  /** After a restore: what this process has in flight are `callIds`. */
  replace(organization: string, callIds: readonly string[]): void;
  /** An open hold of the organization, the latest if possible; empty without one. */
  witness(organization: string): string;
}

/**
 * Lets each `hold` name another that this process has in flight. A store that does not know it lost data (all of it,
 * or the latest writes in a failover), and answers `cold`: so every process puts its own holds back, not only the
 * first to find a counter missing.
 */
export function trackInFlight(): InFlight {
  const byOrganization = new Map<string, { readonly open: Set<string>; latest: string }>();
  return {
    add(organization, callId) {
      const known = byOrganization.get(organization);
      if (!known) byOrganization.set(organization, { open: new Set([callId]), latest: callId });
      else {
        known.open.add(callId);
        known.latest = callId;
      }
    },
    remove(organization, callId) {
      const known = byOrganization.get(organization);
      if (known?.open.delete(callId) && known.open.size === 0) byOrganization.delete(organization);
    },
    replace(organization, callIds) {
      const latest = callIds.at(-1);
      if (latest === undefined) byOrganization.delete(organization);
      else byOrganization.set(organization, { open: new Set(callIds), latest });
    },
    witness(organization) {
      const known = byOrganization.get(organization);
      if (!known) return '';
      if (known.open.has(known.latest)) return known.latest;
      for (const callId of known.open) return callId;
      return '';
    },
  };
}
