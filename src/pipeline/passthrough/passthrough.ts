import { randomBytes } from 'node:crypto';
import type { CustomTerm } from '#/config/snapshot.ts';
import { asGatewayError } from '#/errors/gateway-error.ts';
import type { Inspection, OnFindings } from '#/inspect/inspect.ts';
import type { Demand } from '#/meter/usage-bounds.ts';
import type { Debited, Hold } from '#/meter/meter.ts';
import type { Quantity } from '#/meter/pricing/price.ts';
import type { Outbound } from '#/dispatch/passthrough/pass.ts';
import { MAX_OUTPUT_TOKENS } from '#/dispatch/passthrough/passed-answer.ts';
import type { Target } from '#/route/plan.ts';
import type { PassedMethod } from '#/ports/provider.ts';
import type { Entry } from '#/seal/call-record.ts';
import type { Codec } from '#/wire/codec.ts';
import type { WireDocument } from '#/wire/document.ts';
import { encodeForm, type FormPart } from '#/wire/form.ts';
import { answerTimeout, refuseAtTheDoor } from '../admit.ts';
import type { Limits, Opening } from '#/call/call.ts';
import type { OperationObjects } from '#/wire/kept/table.ts';
import type { Claim } from '#/dispatch/kept/ownership.ts';
import { readPassageBody, type ReadBody } from './body.ts';
import { claimsOfPath } from './claims.ts';
import { pricedAs, withQuantities, type Gate } from './gate.ts';
import type { Spoken } from '#/inspect/user-text.ts';

/** A call that is passed on without being translated: its bytes stream both ways. // spec 1.3, 4.1 */
export interface Passage extends Opening {
  readonly method: PassedMethod;
  /** Path and query below the provider's base address, without the prefix the gateway puts before ids. */
  readonly path: string;
  /** Slug of the provider, where the call names no model; behind a gate also beside a model. */
  readonly provider: string | undefined;
  /** A path without a surface of its own: policy must open it. */
  readonly gate?: Gate | undefined;
  /** What the call is billed by; empty: it is not billed. */
  readonly quantities: readonly Quantity[];
  /** Only with the organization's own key. // spec 4.1 */
  readonly ownKeyOnly: boolean;
  /** What it does with objects that the provider keeps. */
  readonly objects: OperationObjects | 'none';
  /** The id that its path names, as the provider knows it. */
  readonly objectId: string | undefined;
  /** Other steps of its path that may be ids. */
  readonly namedIds?: readonly string[];
  /** Ids in a JSON answer are given the provider's slug, so that later calls find their way. */
  readonly prefixIds: boolean;
  readonly body: PassageBody;
}

export type PassageBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly text: string }
  /** What nobody can read. */
  | {
      readonly kind: 'bytes';
      readonly bytes: AsyncIterable<Uint8Array>;
      readonly contentType: string;
      readonly length: number | undefined;
    }
  | {
      readonly kind: 'form';
      readonly parts: AsyncIterator<FormPart>;
      /** Bytes of the whole form, where they are known. */
      readonly length: number | undefined;
      /** Takes room for bytes that are kept. Throws `GatewayError` where there is none. */
      readonly keep: (bytes: number) => void;
    };

/** What the corridor hands to the passthrough surface: one head, then bytes as they come. */
export type PassageAnswer =
  | {
      readonly kind: 'head';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly limits: Limits;
    }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array };

/** Steps of the corridor as a passage walks them; each throws a `GatewayError` to refuse. */
export interface PassageStages {
  open(passage: Passage): Entry;
  /** Asks whether what is said is within the workload's purpose. Throws `scope_violation`, `scope_guard_unavailable`. */
  guard(passage: Passage, spoken: Spoken, entry: Entry): Promise<void>;
  inspect(
    document: WireDocument,
    codec: Pick<Codec, 'contents'>,
    passage: Passage,
    remove: readonly CustomTerm[],
    onFindings: OnFindings,
  ): Promise<Inspection>;
  /** Who has looked through it, where nobody looked for `unscanned`. */
  detectors(passage: Passage, unscanned: readonly string[]): string;
  /** The passage with the provider of what its path names, where its id alone must say. Throws `not_found`, `objects_unavailable`. */
  locate(passage: Passage): Promise<Passage>;
  route(passage: Passage, model: string | undefined, entry: Entry): Target;
  /**
   * Refuses what the passage names and its workload has not made there. Resolves with the credential to ask with, if only one
   * will do. Throws `not_found`, `permission_denied`, `invalid_request` or `objects_unavailable`.
   */
  claim(passage: Passage, target: Target, claims: readonly Claim[]): Promise<string | undefined>;
  meter(subject: Debited, target: Target, demand: PassageDemand): Promise<Hold>;
  pass(passage: Passage, target: Target, outbound: Outbound, entry: Entry): AsyncGenerator<PassageAnswer>;
}

/** What a passage may use. */
export type PassageDemand = Pick<Demand, 'ceiling' | 'quantities' | 'reservedTokens'>;

/** A call's way when nothing of it is translated: the same steps, the same sealing and settling. // spec 1.1 */
export async function* servePassage(arrived: Passage, stages: PassageStages): AsyncGenerator<PassageAnswer> {
  using entry = stages.open(arrived);
  try {
    refuseAtTheDoor(arrived);
    const timeoutMs = answerTimeout(arrived);
    entry.step = 'inspect';
    const body = await readPassageBody(arrived, stages, entry);
    const model = body.model ?? null;
    entry.admitted({ model, stream: false });
    entry.step = 'route';
    const passage = await stages.locate(withQuantities(arrived, body.model));
    const routed = pricedAs(stages.route(passage, body.model, entry), passage, body.model);
    const account = await stages.claim(passage, routed, [...claimsOfPath(passage, body.path), ...body.claims]);
    const target = account === undefined ? routed : { ...routed, account };
    const { slug } = target.provider.config;
    entry.step = 'meter';
    const hold = await stages.meter({ ...passage, model, stream: false }, target, demandOf(passage, body));
    entry.hold = hold;
    entry.step = 'dispatch';
    const boundary = `gatewarden-${randomBytes(18).toString('hex')}`;
    const parts = body.parts?.(target.provider.upstreamModel(target.model));
    const passing = {
      method: passage.method,
      path: body.path,
      contentType: parts ? `multipart/form-data; boundary=${boundary}` : body.contentType,
      body: parts ? encodeForm(parts, boundary) : body.json?.(target.provider.upstreamModel(target.model), slug),
      headers: passage.headers,
      timeoutMs,
      signal: passage.signal,
    };
    const sent = { ...body, isForm: body.parts !== undefined };
    yield* stages.pass(passage, target, { passing, sent, limits: hold.limits }, entry);
  } catch (thrown) {
    const error = asGatewayError(thrown);
    entry.failed(error);
    throw error;
  }
}

/** Worst cases of what a passage may be billed by; sound is bounded by its bytes at a very low bit rate, or its words. */
function demandOf(
  { quantities, surface }: Passage,
  { textLength, fileLength, images, seconds, outputTokens }: ReadBody,
): PassageDemand {
  if (surface === 'passthrough') {
    const output = quantities.includes('tokens') ? (outputTokens ?? MAX_OUTPUT_TOKENS) : 0;
    return {
      quantities,
      ceiling: { inputTokens: textLength + fileLength, outputTokens: output },
      reservedTokens: 0,
    };
  }
  const heard = Math.ceil(fileLength / LEAST_BYTES_PER_SECOND);
  const spoken = surface === 'audio' && fileLength === 0 ? Math.ceil(textLength * MOST_SECONDS_PER_BYTE) : 0;
  return {
    quantities,
    ceiling: {
      inputTokens: textLength + heard * TOKENS_PER_SECOND + images * IMAGE_TOKENS,
      outputTokens: quantities.includes('tokens')
        ? Math.max(MAX_OUTPUT_TOKENS, spoken * TOKENS_PER_SECOND) * images
        : 0,
      images,
      seconds: surface === 'videos' ? (seconds ?? MOST_VIDEO_SECONDS) : heard + spoken,
    },
    reservedTokens: 0,
  };
}

const LEAST_BYTES_PER_SECOND = 1000;
/** The slowest voice, asked to speak at a quarter of its speed. */
const MOST_SECONDS_PER_BYTE = 0.5;
/** What a vendor makes at most where nobody says how long. */
const MOST_VIDEO_SECONDS = 12;
const TOKENS_PER_SECOND = 25;
const IMAGE_TOKENS = 16_384;
