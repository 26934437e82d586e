import { GatewayError } from '#/errors/gateway-error.ts';
import type { ReachableModel } from '#/route/reachable.ts';

/** When models were made is not ours to say; clients expect a time. // spec 4.5.2 */
const CREATED_AT = '1970-01-01T00:00:00Z';
/** Also where none is named: chat applications ask once, and would show the first few providers alone. */
const MAX_LIMIT = 1000;

/** A model as the chat surface shows it. // spec 2.1 */
export function chatModel({ id, ownedBy }: ReachableModel): object {
  return { id, object: 'model', created: 0, owned_by: ownedBy };
}

/** All models as the chat surface lists them: it knows no pages. // spec 2.1 */
export function chatModels(models: readonly ReachableModel[]): object {
  return { object: 'list', data: models.map(chatModel) };
}

/** A model as the messages surface shows it. // spec 4.5.2 */
export function vendorModel({ id }: ReachableModel): object {
  return { type: 'model', id, display_name: id, created_at: CREATED_AT };
}

/**
 * A page of models as the messages surface lists them: at most `limit` after `after_id`, or just before `before_id`.
 * The ids may be gone since: models are sorted by id. Throws `invalid_request`. // spec 4.5.2
 */
export function vendorModels(models: readonly ReachableModel[], query: Readonly<Record<string, unknown>>): object {
  const limit = limitOf(query['limit']);
  const after = cursorOf(query, 'after_id');
  const before = cursorOf(query, 'before_id');
  if (after !== undefined && before !== undefined) {
    throw new GatewayError('invalid_request', 'after_id and before_id must not be used together.', {
      param: 'after_id',
    });
  }
  const rest = models.filter(({ id }) => (after === undefined || id > after) && (before === undefined || id < before));
  const page = before === undefined ? rest.slice(0, limit) : rest.slice(-limit);
  return {
    data: page.map(vendorModel),
    has_more: rest.length > page.length,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}

function limitOf(value: unknown): number {
  if (value === undefined) return MAX_LIMIT;
  const limit = typeof value === 'string' && /^\d{1,4}$/.test(value) ? Number(value) : 0;
  if (limit < 1 || limit > MAX_LIMIT) {
    throw new GatewayError('invalid_request', `limit must be a whole number from 1 to ${MAX_LIMIT}.`, {
      param: 'limit',
    });
  }
  return limit;
}

function cursorOf(query: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || (typeof value === 'string' && value !== '')) return value;
  throw new GatewayError('invalid_request', `${name} must be a single model id.`, { param: name });
}
