import type { FastifyReply } from 'fastify';
import { ClientHungUp } from '#/call/call.ts';

/** Aborted with `ClientHungUp` when the client leaves before its answer is complete. */
export function hangUpOf({ raw }: FastifyReply): AbortController {
  const hangUp = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) hangUp.abort(new ClientHungUp());
  });
  return hangUp;
}
