import { UpstreamFault, type Incoming, type Outgoing } from '#/ports/provider.ts';
import type { Lose } from '#/wire/hub/canonical.ts';
import { fromSystemOne, toSystemOne, type OptionBounds } from '#/wire/decisions/systemone.ts';
import type { Family, WireDocument } from '#/wire/document/document.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import { says } from '#/wire/hub/defined-members.ts';
import type { Traits } from '#/wire/hub/traits.ts';
import { madeAnswer, readObject, succeeded } from '../http/made-answer.ts';

const MAX_ANSWER = 16 * 1024 * 1024;
/** // docs.langchain4j.dev and docs.rs/graphrt-llm, System One API: 255 options and 10 levels */
const SYSTEM_ONE_OPTIONS = { choices: 255, levels: 10 };

/** Families of typed decisions that a model is asked in: in either, where it knows the shape that the other maps to. */
export function decidingFamilies({ decides }: Pick<Traits, 'decides'>): readonly Family[] {
  if (decides === undefined) return [];
  return decides === 'systemone' ? ['systemone', 'decisions'] : ['decisions'];
}

/** Checks that decisions can be requested in the other shape, and reports losses. Throws `BadRequestShape`. */
export function fitDecisions(
  { family, body }: WireDocument,
  { decides }: Pick<Traits, 'decides'>,
  model: string,
  lose: Lose,
  bounds: Pick<OptionBounds, 'choices' | 'levels'> = SYSTEM_ONE_OPTIONS,
): void {
  if (family !== 'decisions' || decides !== 'systemone') return;
  toSystemOne(body, { model, ...bounds });
  if (says(body['safety_identifier'])) lose('safety_identifier');
}

/** Asks for decisions in the shape of System One, and tells the answer in the client's. */
export async function decideBySystemOne(
  outgoing: Outgoing,
  send: (outgoing: Outgoing) => Promise<Incoming>,
): Promise<Incoming> {
  const body = JSON.parse(outgoing.body) as JsonObject;
  const incoming = await send({ ...outgoing, family: 'systemone', body: JSON.stringify(toSystemOne(body)) });
  if (!succeeded(incoming)) return incoming;
  const answer = fromSystemOne(await readObject(incoming, MAX_ANSWER), body);
  if (!answer) throw new UpstreamFault('protocol', 'the answer does not cover every question');
  return { ...madeAnswer(incoming.status, answer), header: (name) => incoming.header(name) };
}
