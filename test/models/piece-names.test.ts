import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readFileSync } from 'node:fs';
import { LOADERS } from '../../inference/decide/loaders.ts';
import { ModelFault, type Manifest, type ModelFolder } from '../../inference/decide/manifest.ts';
import { openTokenizer } from '../../inference/decide/tokenizer.ts';
import { onnxFile, type Graph } from '../harness/onnx.ts';

const TOKENIZER = new URL('../../inference/models/router/tokenizer.json', import.meta.url);
const PIECES = 30_522;
const ROOM = 32;
const LABELS = ['O', 'B-PER', 'I-PER', 'B-ORG', 'I-ORG', 'B-MISC', 'I-MISC'];
/** Words by their first piece, and the label that the model gives each. */
const KNOWN: Readonly<Record<string, string>> = {
  ada: 'B-PER',
  lovelace: 'I-PER',
  acme: 'B-ORG',
  monday: 'B-MISC',
  hopper: 'B-PER',
  1815: 'B-PER',
};

const bytes = readFileSync(TOKENIZER);
const { pieces } = openTokenizer(bytes);

/** Looks every piece up in a table; a run of more pieces than there are places fails, as in models with positions. */
function graph(more: Graph['inputs'] = {}): Graph {
  const width = LABELS.length;
  const table = Array<number>(PIECES * width).fill(0);
  for (let piece = 0; piece < PIECES; piece += 1) table[piece * width] = 5;
  for (const [word, label] of Object.entries(KNOWN)) {
    const [first = 0] = pieces(word);
    table[first * width + LABELS.indexOf(label)] = label.startsWith('I') ? 9 : 8;
  }
  return {
    inputs: {
      input_ids: { type: 'int64', shape: [1, null] },
      attention_mask: { type: 'int64', shape: [1, null] },
      ...more,
    },
    outputs: { logits: { type: 'float32', shape: [1, null, width] } },
    weights: {
      table: { shape: [PIECES, width], values: table },
      places: { shape: [ROOM + 1, width], values: Array<number>((ROOM + 1) * width).fill(0) },
      axis: { shape: [1], values: [1], type: 'int64' },
    },
    nodes: [
      { op: 'Gather', inputs: ['table', 'input_ids'], output: 'said' },
      { op: 'CumSum', inputs: ['attention_mask', 'axis'], output: 'at' },
      { op: 'Gather', inputs: ['places', 'at'], output: 'placed' },
      { op: 'Add', inputs: ['said', 'placed'], output: 'logits' },
    ],
  };
}

function folder(more: Partial<Manifest> = {}, weights: Graph = graph()): ModelFolder {
  const files = new Map<string, Uint8Array>([
    ['model.onnx', onnxFile(weights)],
    ['tokenizer.json', bytes],
  ]);
  const manifest: Manifest = {
    v: 1,
    kind: 'names',
    name: 'test',
    licence: 'none',
    languages: ['en'],
    files: Object.fromEntries(
      Array.from(files, ([name, file]) => [name, createHash('sha256').update(file).digest('hex')]),
    ),
    tokenizer: { type: 'huggingface', file: 'tokenizer.json' },
    labels: LABELS,
    ignored: ['MISC'],
    limits: { tokens: ROOM },
    ...more,
  };
  return { manifest, revision: manifest.files['model.onnx'] ?? '', files };
}

async function found(texts: readonly string[], from: ModelFolder = folder()): Promise<readonly (readonly unknown[])[]> {
  const answer = await LOADERS.names(from);
  const { spans } = (await answer({ texts })) as { spans: readonly (readonly [number, number, string, number])[][] };
  return spans.map((list, at) => list.map(([start, end, kind]) => [texts[at]?.slice(start, end), kind]));
}

describe('a published model that tells tokens apart', () => {
  test('finds names by the first pieces of words, in UTF-16', async () => {
    expect(await found(['😀 (Ada) Lovelace, of ACME\non Monday', '', '12', 'Ada  Lovelace'])).toEqual([
      [
        ['Ada', 'PERSON_NAME'],
        ['ACME', 'ORGANIZATION'],
      ],
      [],
      [],
      [['Ada  Lovelace', 'PERSON_NAME']],
    ]);
  });

  test('reads long texts in runs that it has places for, and every word once', async () => {
    const filler = (words: number): string => 'so '.repeat(words);
    const texts = Array.from({ length: 60 }, (_, words) => `${filler(words)}Ada Lovelace ${filler(70)}Hopper`);
    const names = [
      ['Ada Lovelace', 'PERSON_NAME'],
      ['Hopper', 'PERSON_NAME'],
    ];
    expect(await found(texts)).toEqual(texts.map(() => names));
  });

  test('reads words of any length', async () => {
    const long = 'qzx'.repeat(60_000);
    expect(await found([`Ada ${long} Hopper ${`${long.slice(0, 60)} `.repeat(50)}Ada`])).toEqual([
      [
        ['Ada', 'PERSON_NAME'],
        ['Hopper', 'PERSON_NAME'],
        ['Ada', 'PERSON_NAME'],
      ],
    ]);
  });

  test('leaves out what it is not sure enough of', async () => {
    const sure = folder({ least: { PERSON_NAME: 0.99 } });
    expect(await found(['Ada of Acme'], sure)).toEqual([[['Acme', 'ORGANIZATION']]]);
    expect(await found(['Ada of Acme'], folder({ least: { PERSON_NAME: 0.5 } }))).toEqual([
      [
        ['Ada', 'PERSON_NAME'],
        ['Acme', 'ORGANIZATION'],
      ],
    ]);
  });

  test('takes no number for a name', async () => {
    expect(await found(['In 1815: Ada 1815'])).toEqual([[['Ada', 'PERSON_NAME']]]);
  });

  test('takes kinds of text too, and nothing else', async () => {
    const kinds = graph({ token_type_ids: { type: 'int64', shape: [1, null] } });
    expect(await found(['Ada'], folder({}, kinds))).toEqual([[['Ada', 'PERSON_NAME']]]);
    const strange = graph({ pixel_values: { type: 'int64', shape: [1, null] } });
    await expect(found(['Ada'], folder({}, strange))).rejects.toThrow('the input pixel_values is unknown');
  });

  test.each<readonly [string, readonly string[]]>([
    ['the label B-MISC is unknown', ['O', 'B-MISC', 'I-MISC']],
    ['the label PER is unknown', ['O', 'PER']],
    ['there is no label B-PER', ['O', 'I-PER']],
    ['the label O, for words that are not names, is missing', ['B-PER', 'I-PER']],
  ])('is refused whose labels would lose names: %s', async (fault, labels) => {
    const opened = found(['Ada'], folder({ labels: [...labels], ignored: [] }));
    await expect(opened).rejects.toThrow(fault);
    await expect(opened).rejects.toBeInstanceOf(ModelFault);
  });
});
