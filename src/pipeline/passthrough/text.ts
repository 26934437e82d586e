import type { Codec, IdRole } from '#/wire/hub/codec.ts';
import { readDocument, render } from '#/wire/document/document.ts';
import type { FormField } from '#/wire/request/multipart-form.ts';
import type { PassthroughInspector } from './inspector.ts';

/** Strings that are no text, which cannot be rewritten either. */
function idsOf(role: IdRole): Pick<Codec, 'contents'> {
  return {
    contents({ root }) {
      const ids = root.members.map(({ value }) => value).filter((node) => node.kind === 'string');
      return { leaves: [], media: [], ids: ids.map((node) => ({ node, role })) };
    },
  };
}

/** Inspects ids, or the name of a model. Throws `data_protection`, or `invalid_request` for a model. */
export async function inspectIdsOf(
  role: IdRole,
  ids: readonly string[],
  inspector: PassthroughInspector,
): Promise<void> {
  if (ids.length === 0) return;
  const document = readDocument('passthrough', JSON.stringify(Object.fromEntries(ids.map((id, at) => [`i${at}`, id]))));
  await inspector.edits(document, [], idsOf(role));
}

/** Members of a query that say from where a list goes on. */
const CURSORS = new Set(['after', 'before']);
const OPAQUE_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** Texts without what must not leave; as many as were given. Throws `data_protection`. */
export async function inspectedTexts(
  texts: readonly string[],
  inspector: PassthroughInspector,
): Promise<readonly string[]> {
  if (texts.length === 0) return texts;
  const document = readDocument('passthrough', JSON.stringify({ texts }));
  const edits = await inspector.edits(document, []);
  if (edits.length === 0) return texts;
  return (JSON.parse(render(document.text, edits)) as { readonly texts: readonly string[] }).texts;
}

/** A field of a form without personal data. Throws `data_protection`, or `BadRequestShape` for unknown media. */
export async function inspectedField(
  { name, value }: Pick<FormField, 'name' | 'value'>,
  inspector: PassthroughInspector,
): Promise<readonly [name: string, value: string]> {
  const document = readDocument('passthrough', JSON.stringify({ [name]: value }));
  const edits = await inspector.edits(document, []);
  if (edits.length === 0) return [name, value];
  const [written] = Object.entries(JSON.parse(render(document.text, edits)) as Record<string, string>);
  return written ?? [name, value];
}

/** The words of the operations themselves tell nothing. */
function mayTell(step: string): boolean {
  return !/^[a-z]{0,16}$|^v1$/.test(step);
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

/** Path and query of a passthrough call: what a query says is text as any other. Throws `data_protection`. */
export async function inspectedPath(inspector: PassthroughInspector): Promise<string> {
  const { path } = inspector.call;
  const at = path.indexOf('?');
  const steps = path.slice(0, at < 0 ? path.length : at).split('/');
  await inspectIdsOf('kept', steps.filter(mayTell).map(decoded), inspector);
  if (at < 0) return path;
  const query = [...new URLSearchParams(path.slice(at + 1))];
  const isCursor = ([name, value]: readonly [string, string]): boolean => CURSORS.has(name) && OPAQUE_ID.test(value);
  const cursors = query.filter(isCursor).map(([, value]) => value);
  await inspectIdsOf('kept', cursors, inspector);
  const said = query.filter((one) => !isCursor(one)).flat();
  const left = await inspectedTexts(said, inspector);
  if (left.every((text, index) => text === said[index])) return path;
  const written = new URLSearchParams(query.filter(isCursor));
  for (let index = 0; index < left.length; index += 2) written.append(left[index] ?? '', left[index + 1] ?? '');
  return `${path.slice(0, at)}?${written.toString()}`;
}
