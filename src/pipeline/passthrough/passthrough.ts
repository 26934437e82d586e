import type { PassthroughAnswer, PassthroughCall } from '#/call/passthrough-call.ts';
import type { Claim } from '#/dispatch/kept/ownership.ts';
import { randomBytes } from 'node:crypto';
import type { CustomTerm } from '#/config/snapshot.ts';
import { asGatewayError } from '#/errors/gateway-error.ts';
import type { Inspection, OnFindings } from '#/inspect/inspect.ts';
import type { Demand } from '#/meter/usage-bounds.ts';
import type { Debited, Hold } from '#/meter/meter.ts';
import type { Outbound } from '#/dispatch/passthrough/pass.ts';
import { MAX_OUTPUT_TOKENS } from '#/dispatch/passthrough/passed-answer.ts';
import type { Target } from '#/call/target.ts';
import type { Entry } from '#/seal/call-record.ts';
import type { Codec } from '#/wire/hub/codec.ts';
import type { WireDocument } from '#/wire/document/document.ts';
import { encodeForm } from '#/wire/request/multipart-form.ts';
import { answerTimeout, refuseAtTheDoor } from '../admit.ts';
import { readPassageBody, type ReadBody } from './body.ts';
import { claimsOfPath } from './claims.ts';
import { pricedAs, withQuantities } from './gate.ts';
import type { Spoken } from '#/inspect/user-text.ts';

/** Steps of the corridor as a passage walks them; each throws a `GatewayError` to refuse. */
export interface PassageStages {
  open(passage: PassthroughCall): Entry;
  /** Asks whether what is said is within the workload's purpose. Throws `scope_violation`, `scope_guard_unavailable`. */
  guard(passage: PassthroughCall, spoken: Spoken, entry: Entry): Promise<void>;
  inspect(
    document: WireDocument,
    codec: Pick<Codec, 'contents'>,
    passage: PassthroughCall,
    remove: readonly CustomTerm[],
    onFindings: OnFindings,
  ): Promise<Inspection>;
  /** Who has looked through it, where nobody looked for `unscanned`. */
  detectors(passage: PassthroughCall, unscanned: readonly string[]): string;
  /** The passage with the provider of what its path names, where its id alone must say. Throws `not_found`, `objects_unavailable`. */
  locate(passage: PassthroughCall): Promise<PassthroughCall>;
  route(passage: PassthroughCall, model: string | undefined, entry: Entry): Target;
  /**
   * Refuses what the passage names and its workload has not made there. Resolves with the credential to ask with, if only one
   * will do. Throws `not_found`, `permission_denied`, `invalid_request` or `objects_unavailable`.
   */
  claim(passage: PassthroughCall, target: Target, claims: readonly Claim[]): Promise<string | undefined>;
  meter(subject: Debited, target: Target, demand: PassageDemand): Promise<Hold>;
  pass(passage: PassthroughCall, target: Target, outbound: Outbound, entry: Entry): AsyncGenerator<PassthroughAnswer>;
}

/** What a passage may use. */
export type PassageDemand = Pick<Demand, 'ceiling' | 'quantities' | 'reservedTokens'>;

/** A call's way when nothing of it is translated: the same steps, the same sealing and settling. // spec 1.1 */
export async function* servePassage(
  arrived: PassthroughCall,
  stages: PassageStages,
): AsyncGenerator<PassthroughAnswer> {
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
  { quantities, surface }: PassthroughCall,
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
