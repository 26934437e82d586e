import { detectionFor } from '#/inspect/detection.ts';
import { inspect } from '#/inspect/inspect.ts';
import { hold, type MeterDeps } from '#/meter/meter.ts';
import type { Endpoints } from '#/dispatch/endpoints.ts';
import { listsOwn, ownList } from '#/dispatch/kept/own-list.ts';
import type { Ownership } from '#/dispatch/kept/ownership.ts';
import { pass } from '#/dispatch/passthrough/pass.ts';
import type { RouteDeps } from '#/route/plan.ts';
import { routePassage } from '#/route/route.ts';
import type { Entry } from '#/seal/call-record.ts';
import type { Family } from '#/wire/document/document.ts';
import type { Opening } from '#/call/call.ts';
import type { CorridorDeps } from '../pipeline-deps.ts';
import { turnsFor } from '#/runtime/loop-turns.ts';
import type { PassageStages } from './passthrough.ts';

/** What the steps of a passage are put together from. */
export interface PassageParts
  extends RouteDeps, Pick<PassageStages, 'guard'>, Pick<CorridorDeps, 'detection' | 'detectors'> {
  readonly openEntry: (opening: Opening, family: Family) => Entry;
  /** Throws `ledger_unavailable`. */
  readonly requireRoom: () => void;
  readonly meterDeps: MeterDeps;
  readonly endpoints: Endpoints;
  readonly ownership: Ownership;
}

/** The steps that passages walk. */
export function createPassageStages(parts: PassageParts): PassageStages {
  const { detection, ownership, endpoints } = parts;
  return {
    open: (passage) => parts.openEntry(passage, 'passthrough'),
    guard: parts.guard,
    inspect(document, codec, passage, remove, told) {
      const turns = turnsFor(document.text, passage);
      const { dlp } = passage.key.workload.policy;
      return inspect(document, codec, dlp, remove, detectionFor(passage, detection), told, undefined, [], turns);
    },
    detectors: ({ key }, unscanned) => parts.detectors.of(key.workload.policy.dlp, unscanned),
    async locate(passage) {
      const { objects, objectId: id, provider, prefixIds } = passage;
      if (objects === 'none' || id === undefined || provider !== undefined || prefixIds) return passage;
      return { ...passage, provider: await ownership.providerOf(passage, { kind: objects.kind, id, param: 'id' }) };
    },
    route: (passage, model, entry) => routePassage(passage, model, parts, entry),
    claim: (passage, { provider }, claims) => ownership.check(passage, provider.config, claims),
    meter(subject, target, demand) {
      parts.requireRoom();
      return hold(subject, [target], demand, parts.meterDeps);
    },
    pass(passage, target, outbound, entry) {
      const passDeps = { endpoints, ownership };
      if (!listsOwn(passage, target)) return pass(passage, target, outbound, passDeps, entry);
      const { limits, passing } = outbound;
      return ownList(passage, target, { ...passing, limits }, passDeps, entry);
    },
  };
}
