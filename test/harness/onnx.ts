/** As much of ONNX as small graphs for tests need: its messages, written byte by byte. */

type Field = readonly [number: number, value: number | string | Uint8Array];

/** What goes into a graph, by name; null: as many as there are. */
export type Shapes = Readonly<
  Record<string, { readonly type: 'float32' | 'int64'; readonly shape: readonly (number | null)[] }>
>;

/** An operator with its inputs and its output. */
export interface GraphNode {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly output: string;
  /** Attributes of whole numbers, or lists of them. */
  readonly attributes?: Readonly<Record<string, number | readonly number[]>>;
}

interface Weights {
  readonly shape: readonly number[];
  readonly values: readonly number[];
  /** Undefined: `float32`. */
  readonly type?: keyof typeof TYPES;
}

/** A graph: weights are rows of numbers, shaped. */
export interface Graph {
  readonly inputs: Shapes;
  readonly outputs: Shapes;
  readonly weights: Readonly<Record<string, Weights>>;
  readonly nodes: readonly GraphNode[];
}

const OPSET = 17;
const TYPES = { float32: 1, int64: 7 } as const;

/** The file of a graph, as onnxruntime reads it. */
export function onnxFile({ inputs, outputs, weights, nodes }: Graph): Uint8Array {
  const graph = message([
    ...nodes.map((node): Field => [1, nodeOf(node)]),
    [2, 'test'],
    ...Object.entries(weights).map(([name, { shape, values, type = 'float32' }]): Field => {
      const row = type === 'int64' ? BigInt64Array.from(values, BigInt) : Float32Array.from(values);
      const data = new Uint8Array(row.buffer);
      return [5, message([...shape.map((size): Field => [1, size]), [2, TYPES[type]], [8, name], [9, data]])];
    }),
    ...Object.entries(inputs).map(([name, told]): Field => [11, valueInfo(name, told)]),
    ...Object.entries(outputs).map(([name, told]): Field => [12, valueInfo(name, told)]),
  ]);
  return message([
    [1, 8],
    [7, graph],
    [
      8,
      message([
        [1, ''],
        [2, OPSET],
      ]),
    ],
  ]);
}

function nodeOf({ op, inputs, output, attributes = {} }: GraphNode): Uint8Array {
  return message([
    ...inputs.map((name): Field => [1, name]),
    [2, output],
    [4, op],
    ...Object.entries(attributes).map(([name, value]): Field => {
      const told: readonly Field[] =
        typeof value === 'number'
          ? [
              [3, value],
              [20, 2],
            ]
          : [...value.map((one): Field => [8, one]), [20, 7]];
      return [5, message([[1, name], ...told])];
    }),
  ]);
}

function valueInfo(name: string, { type, shape }: Shapes[string]): Uint8Array {
  const dims = shape.map((size, at): Field => [1, message([size === null ? [2, `${name}${at}`] : [1, size]])]);
  const tensor = message([
    [1, TYPES[type]],
    [2, message(dims)],
  ]);
  return message([
    [1, name],
    [2, message([[1, tensor]])],
  ]);
}

function message(fields: readonly Field[]): Uint8Array {
  const parts = fields.flatMap(([number, value]) => {
    if (typeof value === 'number') return [varint(number << 3), varint(value)];
    const bytes = typeof value === 'string' ? Buffer.from(value, 'utf8') : value;
    return [varint((number << 3) | 2), varint(bytes.length), bytes];
  });
  return new Uint8Array(Buffer.concat(parts));
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let left = value;
  while (left > 127) {
    bytes.push((left % 128) | 128);
    left = Math.floor(left / 128);
  }
  return Uint8Array.from([...bytes, left]);
}
