type MetricKind = 'counter' | 'total' | 'gauge' | 'histogram';

/** A metric as it is declared where it is counted. `total`: a counter that is read when scraped. */
export interface Metric<K extends MetricKind = MetricKind, L extends readonly string[] = readonly string[]> {
  readonly kind: K;
  readonly name: string;
  readonly help: string;
  readonly labels: L;
  /** Of a histogram: the upper bounds of its buckets, without infinity. */
  readonly bounds?: readonly number[];
}

/** Metrics of one part of a program, by what the code calls them. */
export type MetricGroup = Readonly<Record<string, Metric>>;

/** Declares a counter. `labels`: their names, in the order in which values are given. */
export function counter<const L extends readonly string[]>(name: string, help: string, ...labels: L) {
  return { kind: 'counter', name, help, labels } as const satisfies Metric;
}

/** Declares a counter that is kept elsewhere: it is read when scraped. */
export function total(name: string, help: string) {
  return { kind: 'total', name, help, labels: [] } as const satisfies Metric;
}

/** Declares a gauge, which is read when scraped. */
export function gauge<const L extends readonly string[]>(name: string, help: string, ...labels: L) {
  return { kind: 'gauge', name, help, labels } as const satisfies Metric;
}

/** Declares a distribution. `bounds`: the upper bounds of its buckets, in ascending order. */
export function histogram<const L extends readonly string[]>(
  name: string,
  help: string,
  bounds: readonly number[],
  ...labels: L
) {
  return { kind: 'histogram', name, help, labels, bounds } as const satisfies Metric;
}

/** One text for each label. */
type Values<L extends readonly string[]> = { readonly [I in keyof L]: string };

export interface Counter<L extends readonly string[]> {
  inc(...values: Values<L>): void;
  add(by: number, ...values: Values<L>): void;
}

export interface Histogram<L extends readonly string[]> {
  observe(value: number, ...values: Values<L>): void;
}

/** Says what a metric is read from. Before that it is not in the text of a scrape. */
export interface Read<L extends readonly string[]> {
  from(read: L extends readonly [] ? () => number : () => Iterable<readonly [...Values<L>, value: number]>): void;
}

type Opened<M extends Metric> =
  M extends Metric<'counter', infer L>
    ? Counter<L>
    : M extends Metric<'histogram', infer L>
      ? Histogram<L>
      : Read<M['labels']>;

/**
 * The metrics of one process, as Prometheus' text format. Counters are plain numbers that are written out when scraped, which
 * costs a request next to nothing.
 */
export class Metrics {
  readonly #lines: (() => Iterable<string>)[] = [];

  /** Opens the metrics of a group, to count with or to read from. */
  open<G extends MetricGroup>(group: G): { readonly [N in keyof G]: Opened<G[N]> } {
    const opened = Object.entries(group).map(([name, metric]) => {
      if (metric.kind === 'counter') return [name, this.#counter(metric)];
      return [name, metric.kind === 'histogram' ? this.#histogram(metric) : this.#read(metric)];
    });
    return Object.fromEntries(opened) as { readonly [N in keyof G]: Opened<G[N]> };
  }

  /** The text of a scrape. */
  text(): string {
    return `${this.#lines.flatMap((lines) => [...lines()]).join('\n')}\n`;
  }

  #counter(metric: Metric): Counter<readonly string[]> {
    const series = new Map<string, { readonly values: readonly string[]; count: number }>();
    const add = (by: number, ...values: readonly string[]): void => {
      const key = values.length === 1 ? values[0]! : values.join('\0');
      const found = series.get(key);
      if (found) found.count += by;
      else series.set(key, { values, count: by });
    };
    this.#lines.push(() => [
      ...headOf(metric),
      ...[...series.values()].map(({ values, count }) => `${metric.name}${labelText(metric.labels, values)} ${count}`),
    ]);
    return { add, inc: (...values) => add(1, ...values) };
  }

  #histogram(metric: Metric): Histogram<readonly string[]> {
    const { name, labels, bounds = [] } = metric;
    const series = new Map<string, { readonly values: readonly string[]; readonly counts: number[]; sum: number }>();
    this.#lines.push(() => [
      ...headOf(metric),
      ...[...series.values()].flatMap(({ values, counts, sum }) => {
        let below = 0;
        const buckets = counts.map((count, index) => {
          below += count;
          const bucket = labelText([...labels, 'le'], [...values, String(bounds[index] ?? '+Inf')]);
          return `${name}_bucket${bucket} ${below}`;
        });
        const text = labelText(labels, values);
        return [...buckets, `${name}_sum${text} ${sum}`, `${name}_count${text} ${below}`];
      }),
    ]);
    return {
      observe(value, ...values) {
        const key = values.join('\0');
        let one = series.get(key);
        if (!one) series.set(key, (one = { values, counts: Array<number>(bounds.length + 1).fill(0), sum: 0 }));
        const bucket = bounds.findIndex((bound) => value <= bound);
        one.counts[bucket < 0 ? bounds.length : bucket]! += 1;
        one.sum += value;
      },
    };
  }

  #read(metric: Metric): Read<readonly string[]> {
    const { name, labels } = metric;
    return {
      from: (read: () => number | Iterable<readonly (string | number)[]>) => {
        this.#lines.push(() => {
          const found = read();
          const series = typeof found === 'number' ? [[found]] : [...found];
          return [
            ...headOf(metric),
            ...series.map((one) => `${name}${labelText(labels, one.slice(0, -1).map(String))} ${one.at(-1)}`),
          ];
        });
      },
    };
  }
}

/** What Prometheus calls a kind of metric. */
export function typeOf(kind: Metric['kind']): string {
  return kind === 'total' ? 'counter' : kind;
}

function headOf({ name, help, kind }: Metric): readonly string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${typeOf(kind)}`];
}

/** `{verb="read",fault="busy"}`; empty without labels. */
function labelText(labels: readonly string[], values: readonly string[]): string {
  if (labels.length === 0) return '';
  const pairs = labels.map((label, index) => `${label}="${escaped(values[index] ?? '')}"`);
  return `{${pairs.join(',')}}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
