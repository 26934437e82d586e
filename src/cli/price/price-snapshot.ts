import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { fraction } from '#/meter/pricing/fraction.ts';
import { mergePrices, type PriceSource } from '#/meter/pricing/price-merge.ts';
import { signSnapshot, type Difference, type SnapshotContent } from '#/meter/pricing/price-snapshot.ts';
import { bundledSource } from '#/meter/pricing/source-bundled.ts';
import { FILE_SOURCES, fileSource, type FileSource } from '#/meter/pricing/source-files.ts';
import type { Output } from '../terminal/output.ts';
import { snapshotOf } from './price.ts';
import { UsageError } from '../terminal/usage-error.ts';

export const PRICE_SNAPSHOT_HELP = `gwctl price snapshot --key FILE --out FILE [--litellm FILE] [--models-dev FILE]
                     [--order NAMES] [--tolerance SHARE] [--at TIME]

Merges price lists into one dated file and signs it. The first source that has a price wins, later ones fill the gaps, and
every difference above the tolerance is listed here and in the file. Fetches nothing.

  --key FILE           Ed25519 private key (PEM): openssl genpkey -algorithm ed25519 -out FILE
                       (its public half: openssl pkey -in FILE -pubout -out FILE.pub)
  --out FILE           File to write the snapshot to; an existing file is replaced
  --litellm FILE       A copy of LiteLLM's model_prices_and_context_window.json
  --models-dev FILE    A copy of models.dev's api.json
  --order NAMES        Sources by precedence (default: genai-prices,litellm,models-dev); genai-prices is the data of this
                       build, used only if it is listed
  --tolerance SHARE    Relative difference from which sources are reported to differ (default: 0.01)
  --at TIME            The date of the snapshot (RFC 3339; default: now)
`;

export const PRICE_VERIFY_HELP = `gwctl price verify FILE [--public-key FILE] [--differences]

Checks the signature of a price snapshot and summarizes its contents. Exits with 1 when it must not be used.

  --public-key FILE    Trusted Ed25519 public keys (PEM) (default: GW_PRICES_KEY_FILE)
  --differences        Also lists every difference between its sources
`;

const BUNDLED = 'genai-prices';
const OPTIONS = {
  key: { type: 'string' },
  out: { type: 'string' },
  litellm: { type: 'string' },
  'models-dev': { type: 'string' },
  order: { type: 'string' },
  tolerance: { type: 'string', default: '0.01' },
  at: { type: 'string' },
} as const;

/** Builds and signs a snapshot. Returns the exit status; throws UsageError. */
export function priceSnapshot(args: readonly string[], { out }: Output): number {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  const { key, out: file, tolerance } = values;
  if (key === undefined || file === undefined)
    throw new UsageError('give the private key and the file to write: --key FILE --out FILE');
  if (!/^\d(\.\d{1,6})?$/.test(tolerance)) throw new UsageError('--tolerance takes a share such as 0.01');
  const at = values.at === undefined ? Date.now() : Date.parse(values.at);
  if (Number.isNaN(at)) throw new UsageError(`"${values.at}" is not a time: write it as 2027-01-31T00:00:00Z`);
  const privateKey = readPrivateKey(key);
  const files = { litellm: values.litellm, 'models-dev': values['models-dev'] };
  const sources = orderOf(values.order, files).map((name) => sourceOf(name, files));
  const content: SnapshotContent = {
    builtAt: at,
    sources: sources.map(({ name, revision }) => ({ name, revision })),
    tolerance,
    ...mergePrices(sources, fraction(tolerance)),
  };
  writeFileSync(`${file}.new`, signSnapshot(content, privateKey));
  renameSync(`${file}.new`, file);
  for (const line of differenceLines(content.differences)) out(line);
  out(`${file}: ${content.prices.size} models, ${content.differences.length} differences`);
  return 0;
}

/** Checks a snapshot. Returns the exit status: 0, or 1 when it is not to be used. Throws UsageError. */
export function priceVerify(
  args: readonly string[],
  defaults: { readonly publicKeyFile: string | undefined },
  { out, err }: Output,
): number {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { 'public-key': { type: 'string' }, differences: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const [file, ...others] = positionals;
  const publicKey = values['public-key'] ?? defaults.publicKeyFile;
  if (file === undefined || others.length > 0) throw new UsageError('give one snapshot file');
  if (publicKey === undefined) throw new UsageError('give the public key: --public-key FILE');
  let snapshot;
  try {
    snapshot = snapshotOf(file, publicKey)!;
  } catch (error) {
    err((error as Error).message);
    return 1;
  }
  const days = Math.floor((Date.now() - snapshot.builtAt) / 86_400_000);
  out(`good: snapshot ${snapshot.id} of ${new Date(snapshot.builtAt).toISOString()}, ${days} days old`);
  for (const { name, revision } of snapshot.sources) out(`  ${name} ${revision}`);
  out(`${snapshot.prices.size} models, ${snapshot.differences.length} differences above ${snapshot.tolerance}`);
  if (values.differences) for (const line of differenceLines(snapshot.differences)) out(line);
  return 0;
}

function orderOf(
  order: string | undefined,
  files: Readonly<Record<FileSource, string | undefined>>,
): readonly string[] {
  const given = FILE_SOURCES.filter((name) => files[name] !== undefined);
  const names = order === undefined ? [BUNDLED, ...given] : order.split(',');
  const left = given.find((name) => !names.includes(name));
  if (left !== undefined) throw new UsageError(`--order lacks ${left}, which has a file`);
  if (new Set(names).size < names.length) throw new UsageError('--order names a source twice');
  return names;
}

function sourceOf(name: string, files: Readonly<Record<FileSource, string | undefined>>): PriceSource {
  if (name === BUNDLED) return bundledSource();
  const known = FILE_SOURCES.find((one) => one === name);
  const file = known && files[known];
  if (known === undefined)
    throw new UsageError(`--order takes ${[BUNDLED, ...FILE_SOURCES].join(', ')}, not "${name}"`);
  if (file === undefined) throw new UsageError(`--order names ${name}, but there is no --${name} FILE`);
  try {
    return fileSource(known, readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`);
  }
}

function readPrivateKey(file: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(readFileSync(file, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(code === 'ENOENT' ? `there is no file ${file}` : `${file} holds no private key (PEM)`);
  }
  if (key.asymmetricKeyType !== 'ed25519') throw new UsageError(`${file} holds a key that is not Ed25519`);
  return key;
}

/** `openai/gpt-4o input: litellm 2.6, genai-prices 2.5; taken 2.5 of genai-prices`, in dollars. */
function* differenceLines(differences: readonly Difference[]): Generator<string> {
  for (const { model, quantity, taken, values } of differences) {
    const said = Object.entries(values).map(([name, amount]) => `${name} ${amount}`);
    yield `${model} ${quantity}: ${said.join(', ')} USD; taken from ${taken}`;
  }
}
