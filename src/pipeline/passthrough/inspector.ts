import { Stopped, type CallFacts } from '#/call/facts.ts';
import type { PassthroughCall } from '#/call/passthrough-call.ts';
import type { CustomTerm } from '#/config/snapshot.ts';
import { detectionFor } from '#/inspect/detection.ts';
import { inspect } from '#/inspect/inspect.ts';
import { guardScope } from '#/inspect/scope/scope-guard.ts';
import type { UserText } from '#/inspect/user-text.ts';
import { slicesFor } from '#/runtime/loop-slices.ts';
import type { Edit, WireDocument } from '#/wire/document/document.ts';
import type { Codec } from '#/wire/hub/codec.ts';
import { collectContents, type MembersByName } from '#/wire/request/collect-contents.ts';
import { mediaIn } from '#/wire/request/media-fields.ts';
import type { PipelineParts } from '../pipeline-parts.ts';

const OWN: MembersByName = new Map([['metadata', ['']]]);

/** No field of a passthrough body is structural: every string is inspected, except the bytes of an image or file. */
const PASSED_ON: Pick<Codec, 'contents'> = {
  contents: (document) =>
    collectContents(document, {
      promptOrder: ['instructions', 'prompt', 'input'],
      roleOf: () => undefined,
      mediaOf: () => undefined,
      mediaIn,
      isBareMedia: () => true,
      own: OWN,
    }),
};

/**
 * Looks through a call that is passed on, piece by piece: its path, its body, the fields of its form while they are sent.
 * What it has found so far is in `facts`.
 */
export class PassthroughInspector {
  readonly call: PassthroughCall;
  readonly #parts: Pick<PipelineParts, 'detection' | 'detectors' | 'models'>;
  #facts: CallFacts & Required<Pick<CallFacts, 'findings' | 'unscanned'>> = { findings: {}, unscanned: [] };

  constructor(call: PassthroughCall, parts: Pick<PipelineParts, 'detection' | 'detectors' | 'models'>) {
    this.call = call;
    this.#parts = parts;
  }

  get facts(): CallFacts {
    return this.#facts;
  }

  /** Kinds of content that were not inspected so far. */
  get unscanned(): readonly string[] {
    return this.#facts.unscanned;
  }

  /** Edits that keep in what must not leave. Throws `data_protection`. */
  async edits(document: WireDocument, remove: readonly CustomTerm[], codec = PASSED_ON): Promise<readonly Edit[]> {
    const { dlp } = this.call.key.workload.policy;
    const detection = detectionFor(this.call, this.#parts.detection);
    try {
      const slices = slicesFor(document.text, this.call);
      const { edits, facts } = await inspect(document, codec, dlp, remove, detection, undefined, [], slices);
      this.#found(facts);
      return edits;
    } catch (thrown) {
      if (!(thrown instanceof Stopped)) throw thrown;
      this.#found(thrown.facts);
      throw thrown.cause;
    }
  }

  /** Checks user text against the workload's purpose. Throws `scope_violation`, `scope_guard_unavailable`. */
  async guard(userText: UserText): Promise<void> {
    const { models } = this.#parts;
    try {
      const { facts } = await guardScope(this.call.key.workload.policy, userText, { models, signal: this.call.signal });
      this.#facts = { ...this.#facts, ...facts };
    } catch (thrown) {
      if (!(thrown instanceof Stopped)) throw thrown;
      this.#facts = { ...this.#facts, ...thrown.facts };
      throw thrown.cause;
    }
  }

  /** The request itself asks to remove these terms. */
  removes(terms: readonly CustomTerm[]): void {
    this.#facts = { ...this.#facts, removed: terms.map(({ label }) => label) };
  }

  /** There is content of a kind that is not inspected. */
  misses(kind: string): void {
    const { unscanned } = this.#facts;
    if (!unscanned.includes(kind)) this.#facts = { ...this.#facts, unscanned: [...unscanned, kind] };
  }

  #found({ findings = {}, unscanned = [] }: CallFacts): void {
    const sum: Record<string, number> = { ...this.#facts.findings };
    for (const [category, count] of Object.entries(findings)) sum[category] = (sum[category] ?? 0) + count;
    const all = [...new Set([...this.#facts.unscanned, ...unscanned])];
    const detectors = this.#parts.detectors.of(this.call.key.workload.policy.dlp, all);
    this.#facts = { ...this.#facts, findings: sum, unscanned: all, detectors };
  }
}
