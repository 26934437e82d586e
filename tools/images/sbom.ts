import { hash } from 'node:crypto';
import type { DebianRecord } from './debian.ts';
import { packageIn, type Lock } from './lock.ts';

/** A package of an SPDX document. */
interface SpdxPackage {
  readonly SPDXID: string;
  readonly name: string;
  readonly versionInfo: string;
  readonly downloadLocation: 'NOASSERTION';
  readonly filesAnalyzed: false;
  readonly licenseConcluded: 'NOASSERTION';
  readonly licenseDeclared: string;
  readonly copyrightText: 'NOASSERTION';
  readonly checksums?: readonly { readonly algorithm: string; readonly checksumValue: string }[];
  readonly externalRefs: readonly {
    readonly referenceCategory: 'PACKAGE-MANAGER';
    readonly referenceType: 'purl';
    readonly referenceLocator: string;
  }[];
}

export interface SbomInput {
  /** Name of the image. */
  readonly name: string;
  readonly version: string;
  /** Seconds since 1970 that the image is dated at. */
  readonly epoch: number;
  readonly lock: Lock;
  /** Folders of the lock file that the image holds. */
  readonly folders: readonly string[];
  readonly debian: readonly DebianRecord[];
}

const SPDX_LICENSE = /^[A-Za-z0-9.+\-() ]+$/;

/** The bill of materials of an image as SPDX 2.3: what came from npm by the lock file, what from Debian by its own records. */
export function sbom({ name, version, epoch, lock, folders, debian: records }: SbomInput): object {
  // A version may lie in several folders.
  const npm = [...new Map(folders.map((folder) => npmPackage(folder, lock)).map((one) => [one.SPDXID, one])).values()];
  const debian = records.map(debianPackage);
  const own: SpdxPackage = describe('Gatewarden', name, version, `pkg:generic/${name}@${version}`, undefined);
  const packages = [own, ...npm, ...debian];
  const content = JSON.stringify(packages);
  return {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name,
    documentNamespace: `https://gatewarden.dev/spdx/${name}-${version}-${hash('sha256', content, 'hex')}`,
    creationInfo: {
      created: new Date(epoch * 1000).toISOString().replace('.000Z', 'Z'),
      creators: ['Tool: gatewarden-tools-images'],
    },
    packages,
    relationships: [
      { spdxElementId: 'SPDXRef-DOCUMENT', relationshipType: 'DESCRIBES', relatedSpdxElement: own.SPDXID },
      ...[...npm, ...debian].map(({ SPDXID }) => ({
        spdxElementId: own.SPDXID,
        relationshipType: 'CONTAINS',
        relatedSpdxElement: SPDXID,
      })),
    ],
  };
}

function describe(
  kind: string,
  name: string,
  version: string,
  purl: string,
  license: string | undefined,
  checksums?: SpdxPackage['checksums'],
): SpdxPackage {
  return {
    SPDXID: `SPDXRef-${`${kind}-${name}-${version}`.replace(/[^A-Za-z0-9.-]+/g, '-')}`,
    name,
    versionInfo: version,
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    licenseConcluded: 'NOASSERTION',
    licenseDeclared: license !== undefined && SPDX_LICENSE.test(license) ? license : 'NOASSERTION',
    copyrightText: 'NOASSERTION',
    ...(checksums && { checksums }),
    externalRefs: [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purl }],
  };
}

function npmPackage(folder: string, lock: Lock): SpdxPackage {
  const { version = '', license, integrity } = lock[folder] ?? {};
  const name = packageIn(folder);
  const [algorithm = '', value = ''] = integrity?.split(/-(.*)/) ?? [];
  const checksums = integrity && [
    { algorithm: algorithm.toUpperCase(), checksumValue: Buffer.from(value, 'base64').toString('hex') },
  ];
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return describe('npm', name, version, purl, license, checksums || undefined);
}

function debianPackage({ name, version, architecture, distribution }: DebianRecord): SpdxPackage {
  const purl = `pkg:deb/${distribution}/${name}@${encodeURIComponent(version)}?arch=${architecture}`;
  return describe('deb', name, version, purl, undefined);
}
