import { isAlias, isMap, isScalar, isSeq, type Node } from 'yaml';
import { join } from '../resources/messages.ts';

const MAX_DEPTH = 64;
const MAX_ALIASED_NODES = 10_000;

/** YAML whose value cannot or must not be built. The message never holds a value. */
export class UnreadableYaml extends Error {
  override readonly name = 'UnreadableYaml';
  readonly offset: number;

  /** `offset`: where in the text. */
  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

interface Reading {
  readonly anchors: Map<string, Node>;
  /** Nodes that aliases may still repeat. */
  budget: number;
}

/**
 * The plain value of a YAML node. Throws `UnreadableYaml` on a key that is in its mapping twice, on deep nesting
 * (an alias inside its own anchor nests without end), and when aliases would make a small text a huge value.
 */
export function toValue(node: Node): unknown {
  return read(node, 0, false, { anchors: new Map(), budget: MAX_ALIASED_NODES });
}

function read(node: unknown, depth: number, aliased: boolean, reading: Reading): unknown {
  if (node === null || node === undefined) return null;
  const offset = offsetOf(node);
  if (depth > MAX_DEPTH) throw new UnreadableYaml(offset, 'is nested too deeply');
  if (aliased && reading.budget-- <= 0) throw new UnreadableYaml(offset, 'expands too much through aliases');
  if (isAlias(node)) {
    const target = reading.anchors.get(node.source);
    if (!target) throw new UnreadableYaml(offset, 'has an alias without an anchor before it');
    return read(target, depth + 1, true, reading);
  }
  if (!isScalar(node) && !isMap(node) && !isSeq(node)) throw new UnreadableYaml(offset, 'is not YAML');
  if (node.anchor !== undefined) reading.anchors.set(node.anchor, node);
  if (isScalar(node)) return node.value;
  if (isSeq(node)) return node.items.map((item) => read(item, depth + 1, aliased, reading));
  const entries = new Map<string, unknown>();
  for (const { key, value } of node.items) {
    const name = isScalar(key) ? String(key.value) : '';
    if (!isScalar(key) || entries.has(name)) {
      const message = isScalar(key) ? `has the key ${join('', name)} twice` : 'has a key that is not a string';
      throw new UnreadableYaml(offsetOf(key), message);
    }
    entries.set(name, read(value, depth + 1, aliased, reading));
  }
  return Object.fromEntries(entries);
}

function offsetOf(node: unknown): number {
  return (node as Node | null)?.range?.[0] ?? 0;
}
