import type { VirtualKeyConfig } from '#/config/snapshot.ts';
import type { Claim } from '#/dispatch/kept/ownership.ts';
import { BadRequestShape } from '#/wire/hub/codec.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import { readDocument } from '#/wire/document/document.ts';
import { namesIn } from '#/wire/kept/names.ts';
import type { PassthroughCall } from '#/call/passthrough-call.ts';
import { permittedToolServers } from '#/route/provider-side-tools.ts';

/** Members of a query that say from which object a list goes on. */
const CURSORS: readonly string[] = ['after', 'before'];

/** Objects that path and query of a passthrough call name. */
export function claimsOfPath({ objects, objectId, namedIds = [] }: PassthroughCall, path: string): readonly Claim[] {
  if (objects === 'none') return [];
  const { kind } = objects;
  const query = new URLSearchParams(path.includes('?') ? path.slice(path.indexOf('?') + 1) : '');
  const cursors =
    objects.act === 'list' ? CURSORS.flatMap((name) => query.getAll(name).map((id) => ({ name, id }))) : [];
  return [
    ...(objectId === undefined ? [] : [{ id: objectId, kind, param: 'id' }]),
    ...namedIds.map((id) => ({ id, kind, param: 'path' })),
    ...cursors.map(({ name, id }) => ({ id, kind, param: name })),
    ...[...query].flatMap(([name, value]) => claimsOfField(name, value)),
  ];
}

/** Objects that a field of a form or of a query names: by its name (`image[file_id]`), or in JSON that it holds. */
function claimsOfField(name: string, value: string): readonly Claim[] {
  const named = namesIn('passthrough', JSON.parse(bodyOfField(name, value)) as JsonObject);
  return named.map(({ id, kind }) => ({ id, kind, param: name }));
}

/** What a field says, as the body of a request would say it, word for word: readers may differ on what it means. */
function bodyOfField(name: string, value: string): string {
  let body = isJson(value) ? value.trim() : JSON.stringify(value);
  const steps = name.split(/[[\].]+/).filter((step) => step !== '');
  for (const step of steps.slice(0, MOST_STEPS).toReversed())
    body = /^\d+$/.test(step) ? `[${body}]` : `{${JSON.stringify(step)}:${body}}`;
  return body.startsWith('{') ? body : `{"":${body}}`;
}

function isJson(value: string): boolean {
  if (!/^\s*[[{]/.test(value)) return false;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

/** Names nested deeper than this are names of nothing. */
const MOST_STEPS = 16;

/** A form may be on its way to the provider when it comes to what it names. Throws `BadRequestShape`. */
export function refuseClaimsOfForm(name: string, value: string): void {
  if (claimsOfField(name, value).length === 0) return;
  const message = `${name} names an object that the provider stores: send it in a JSON body instead of a form`;
  throw new BadRequestShape(message, name);
}

/** Throws `invalid_request` where a field of a form names a server of tools. // spec 4.5.3 */
export function refuseToolServersOfForm(name: string, value: string, key: VirtualKeyConfig): void {
  permittedToolServers(readDocument('passthrough', bodyOfField(name, value)), key);
}
