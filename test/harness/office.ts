import { strToU8, unzipSync, zipSync } from 'fflate';

const OOXML = 'application/vnd.openxmlformats-officedocument';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006';

/** A part of an Office document for a test: `type` is what follows `application/vnd.openxmlformats-officedocument.`, or a whole media type. */
export interface TestPart {
  readonly type: string;
  readonly content: string | Uint8Array;
  /** Identifier to type and target; one with a scheme leads outside. */
  readonly relations?: Readonly<Record<string, readonly [type: string, target: string]>>;
}

/** An Office document of these parts, the first of which is the main one. */
export function officeFile(
  parts: Readonly<Record<string, TestPart>>,
  more: Readonly<Record<string, Uint8Array>> = {},
): Uint8Array {
  const entries: Record<string, Uint8Array> = {};
  const [main = ''] = Object.keys(parts);
  const overrides = Object.entries(parts).map(
    ([name, { type }]) =>
      `<Override PartName="/${name}" ContentType="${type.includes('/') ? type : `${OOXML}.${type}`}"/>`,
  );
  entries['[Content_Types].xml'] = strToU8(
    `<?xml version="1.0"?><Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${overrides.join('')}</Types>`,
  );
  entries['_rels/.rels'] = strToU8(relationships({ rId1: ['officeDocument', main] }));
  for (const [name, { content, relations }] of Object.entries(parts)) {
    entries[name] = typeof content === 'string' ? strToU8(content) : content;
    const at = name.lastIndexOf('/');
    if (relations) entries[`${name.slice(0, at)}/_rels/${name.slice(at + 1)}.rels`] = strToU8(relationships(relations));
  }
  return zipSync({ ...entries, ...more });
}

function relationships(relations: Readonly<Record<string, readonly [string, string]>>): string {
  const written = Object.entries(relations).map(([id, [type, target]]) => {
    const mode = /^[a-z]+:/.test(target) ? ' TargetMode="External"' : '';
    const uri = type.startsWith('http') ? type : `${OFFICE}/relationships/${type}`;
    return `<Relationship Id="${id}" Type="${uri}" Target="${target}"${mode}/>`;
  });
  return `<?xml version="1.0"?><Relationships xmlns="${PACKAGE}/relationships">${written.join('')}</Relationships>`;
}

/** Every part of an Office document as text, by name. */
export function partsOf(bytes: Uint8Array): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(unzipSync(bytes)).map(([name, data]) => [name, Buffer.from(data).toString('utf8')]),
  );
}

/** All that can be read in an Office document but for pixels, as a search through its files would find it, tags of XML left out too. */
export function stringsOf(bytes: Uint8Array): string {
  const parts = Object.entries(unzipSync(bytes)).map(([name, data]) => {
    const text = /\.(?:png|jpeg)$/.test(name) ? '' : Buffer.from(data).toString('utf8');
    return [name, text, text.replace(/<[^>]*>/g, '')].join('\n');
  });
  return parts.join('\n');
}
