type Series = readonly [labels: string, value: number];

/**
 * Counters kept as plain numbers and written out when scraped, which costs a request next to nothing.
 * Prometheus text format; names and labels are fixed at the call sites.
 */
export class Metrics {
  readonly #counters = new Map<string, Map<string, number>>();
  readonly #gauges = new Map<string, { readonly help: string; readonly read: () => number }>();
  readonly #families = new Map<string, { readonly help: string; readonly read: () => readonly Series[] }>();
  readonly #help = new Map<string, string>();

  /** Declares a counter and returns how to add to it; `labels` is the text between the braces, or empty. */
  counter(name: string, help: string): (labels: string, by?: number) => void {
    const series = new Map<string, number>();
    this.#counters.set(name, series);
    this.#help.set(name, help);
    return (labels, by = 1) => {
      series.set(labels, (series.get(labels) ?? 0) + by);
    };
  }

  /** Declares a gauge that is read when scraped. */
  gauge(name: string, help: string, read: () => number): void {
    this.#gauges.set(name, { help, read });
  }

  /** Declares gauges of one name that are read when scraped: labels as text between the braces, and the value. */
  gauges(name: string, help: string, read: () => readonly Series[]): void {
    this.#families.set(name, { help, read });
  }

  /** The text of a scrape. */
  text(): string {
    const lines: string[] = [];
    for (const [name, series] of this.#counters) {
      lines.push(`# HELP ${name} ${this.#help.get(name)}`, `# TYPE ${name} counter`);
      for (const [labels, value] of series) lines.push(`${name}${labels && `{${labels}}`} ${value}`);
    }
    for (const [name, { help, read }] of this.#gauges) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, `${name} ${read()}`);
    }
    for (const [name, { help, read }] of this.#families) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} gauge`);
      for (const [labels, value] of read()) lines.push(`${name}{${labels}} ${value}`);
    }
    return `${lines.join('\n')}\n`;
  }
}
