/** An object, or one of its versions. */
export interface ListedVersion {
  readonly key: string;
  readonly versionId: string | undefined;
}

export interface Listed {
  /** Without delete markers; the versions that they hide are still listed. */
  readonly versions: readonly ListedVersion[];
  /** Where the next page begins, by the names of S3; empty on the last. */
  readonly next: Readonly<Record<string, string>>;
}

/**
 * Reads S3's answer to a listing (ListObjectsV2, ListObjectVersions). Its XML is flat where it matters, and keys of ours
 * have no characters to escape but those of their folder.
 */
export function listed(xml: string): Listed {
  const versions = [...xml.matchAll(/<(Contents|Version)>([^]*?)<\/\1>/g)].map(([, , inner]) => {
    const versionId = element(inner!, 'VersionId');
    return { key: element(inner!, 'Key') ?? '', versionId: versionId === 'null' ? undefined : versionId };
  });
  const outer = xml.replace(/<(Contents|Version|DeleteMarker|CommonPrefixes)>[^]*?<\/\1>/g, '');
  const names = ['NextContinuationToken', 'NextKeyMarker', 'NextVersionIdMarker'];
  const next: Record<string, string> = {};
  for (const name of element(outer, 'IsTruncated') === 'true' ? names : []) {
    const value = element(outer, name);
    if (value !== undefined) next[name] = value;
  }
  return { versions, next };
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function element(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  if (text === undefined || text === '') return undefined;
  return text.replace(/&(?:#x([0-9a-fA-F]{1,6})|#(\d{1,7})|([a-z]{2,4}));/g, (all, hex, decimal, entity) => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(String(hex), 16));
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    return ENTITIES[String(entity)] ?? String(all);
  });
}
