import { CATALOGUE, type ErrorKind } from '../../src/errors/catalogue.ts';
import { page, table } from './page.ts';

/** Every error code that a client can receive. */
export function errorsPage(): string {
  const kinds: readonly (readonly [string, ErrorKind])[] = Object.entries(CATALOGUE);
  const rows = kinds.map(([code, { status, chatType, messagesType, shouldRetry, retryAfter, meaning, remedy }]) => [
    `\`${code}\``,
    String(status),
    `\`${chatType}\``,
    `\`${messagesType}\``,
    shouldRetry ? `after ${retryAfter} s` : 'no',
    meaning,
    remedy,
  ]);
  return page(
    'Error codes',
    'src/errors/catalogue.ts',
    'Every failure has one code. The chat protocol and those like it send it as `error.code` with the chat type as `error.type`; ' +
      'the messages protocol sends the messages type as `error.type`. `error.message` names what is wrong in this request, and `error.param` ' +
      'the field or header, where there is one.',
    'Retry says whether the same request may succeed later: with a time, the answer has `retry-after` (a more exact figure ' +
      'where the gateway knows one); with "no", it has `x-should-retry: false`. A single failure may differ from its ' +
      'code, for example when nothing was sent yet and a repetition does no harm: go by the headers.',
    table(['code', 'status', 'chat type', 'messages type', 'retry', 'meaning', 'what to do'], rows),
  );
}
