import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';

/** What a model is for. */
export type ModelKind = 'names' | 'router' | 'typed';

const SHA256 = Type.String({ pattern: '^[0-9a-f]{64}$' });
const MANIFEST = Type.Object({
  v: Type.Literal(1),
  kind: Type.Union([Type.Literal('names'), Type.Literal('router'), Type.Literal('typed')]),
  name: Type.String({ minLength: 1 }),
  licence: Type.String({ minLength: 1 }),
  languages: Type.Array(Type.String()),
  /** Every file that is read, with its SHA-256. */
  files: Type.Record(Type.String({ pattern: '^[\\w.-]+$' }), SHA256),
  tokenizer: Type.Union([
    Type.Object({ type: Type.Literal('hashed-words'), lists: Type.String() }),
    Type.Object({
      type: Type.Literal('huggingface'),
      file: Type.String(),
      /** The piece that fills texts up to the same length; 0 where it is not told. */
      pad: Type.Optional(Type.Integer({ minimum: 0 })),
      /** English words for those of other languages, where the model was trained to read those. */
      glossary: Type.Optional(Type.String()),
    }),
  ]),
  /** Names of the outputs' last dimension, in order. */
  labels: Type.Array(Type.String(), { minItems: 1 }),
  /** Of a name model: labels that are not used here, such as `MISC`. */
  ignored: Type.Optional(Type.Array(Type.String())),
  /** Of a model of names: by kind, how sure it must be of one, 0 to 1. */
  least: Type.Optional(Type.Record(Type.String(), Type.Number({ minimum: 0, maximum: 1 }))),
  /** Of a model of typed decisions: how its numbers become probabilities. */
  calibration: Type.Optional(Type.Unknown()),
  /** Maximum input; each kind of model has further limits. */
  limits: Type.Object({ tokens: Type.Integer({ minimum: 16, maximum: 8192 }) }),
});

const CHECK = Compile(MANIFEST);

/** What a model's folder says of itself; fields that are for people (training, metrics) are left alone. */
export type Manifest = Static<typeof MANIFEST>;

/** A model's files, each as its manifest vouches for it. */
export interface ModelFolder {
  readonly manifest: Manifest;
  /** SHA-256 of the weights (hex): what answers name the model by. // spec 2.6 */
  readonly revision: string;
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** A folder that is no model, or not the one that its manifest tells of. The message names the file, never its content. */
export class ModelFault extends Error {
  override readonly name = 'ModelFault';
}

/** File of the weights in every model's folder. */
export const WEIGHTS = 'model.onnx';

/**
 * Reads a model's folder whole, and gives nothing of it out unless every file is what the manifest says. Throws
 * `ModelFault`. // spec 4.4.7
 */
export async function readModelFolder(folder: string, kind: ModelKind): Promise<ModelFolder> {
  const manifest = parseManifest(await read(folder, 'manifest.json'), folder);
  if (manifest.kind !== kind)
    throw new ModelFault(`${folder}: the model is of kind ${manifest.kind}, but must be of kind ${kind}`);
  const files = new Map<string, Uint8Array>();
  for (const [name, expected] of Object.entries(manifest.files)) {
    const bytes = await read(folder, name);
    if (sha256(bytes) !== expected) throw new ModelFault(`${join(folder, name)}: the file does not match the manifest`);
    files.set(name, bytes);
  }
  const { tokenizer } = manifest;
  const needed =
    tokenizer.type === 'huggingface'
      ? [WEIGHTS, tokenizer.file, ...(tokenizer.glossary === undefined ? [] : [tokenizer.glossary])]
      : [WEIGHTS, tokenizer.lists];
  for (const name of needed) if (!files.has(name)) throw new ModelFault(`${folder}: the manifest lacks ${name}`);
  return { manifest, revision: manifest.files[WEIGHTS]!, files };
}

function parseManifest(bytes: Uint8Array, folder: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw new ModelFault(`${folder}: manifest.json is not JSON`);
  }
  if (!CHECK.Check(value)) {
    const [first] = CHECK.Errors(value);
    throw new ModelFault(
      `${folder}: manifest.json: ${first?.instancePath ?? ''} ${first?.message ?? 'is not a manifest'}`,
    );
  }
  return value;
}

async function read(folder: string, name: string): Promise<Uint8Array> {
  // A manifest cannot lead out of its folder.
  if (/^\.*$/.test(name) || basename(name) !== name) throw new ModelFault(`${folder}: ${name} is not a file name`);
  try {
    return await readFile(join(folder, name));
  } catch {
    throw new ModelFault(`${join(folder, name)}: cannot be read`);
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
