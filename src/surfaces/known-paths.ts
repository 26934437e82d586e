/** Longest path that a right one is named for. */
const MOST_LETTERS = 512;
/** What a header may say of a path that a client chose. */
const TELLABLE = /^[\x21-\x7e]+$/;

interface KnownPath {
  readonly segments: readonly string[];
  readonly methods: Set<string>;
}

/** The paths that are served, each with its methods: for those who ask at a wrong one, or by a wrong method. */
export class KnownPaths {
  readonly #paths = new Map<string, KnownPath>();

  add(pattern: string, methods: string | readonly string[]): void {
    const known = this.#paths.get(pattern) ?? { segments: pattern.split('/'), methods: new Set() };
    this.#paths.set(pattern, known);
    for (const method of [methods].flat()) known.methods.add(method);
  }

  /** The methods that are served at a path, in order; none where it is no path. */
  methodsAt(path: string): readonly string[] {
    const segments = path.split('/', MOST_LETTERS);
    const methods = [...this.#paths.values()]
      .filter((known) => matches(known, segments))
      .flatMap((k) => [...k.methods]);
    return [...new Set(methods)].sort();
  }

  /** The path that was meant, where `/v1` is missing or doubled, or a slash too much; undefined where nothing is near. */
  meant(path: string): string | undefined {
    if (path.length > MOST_LETTERS || !TELLABLE.test(path)) return undefined;
    const bare = path.replace(/\/{1,16}$/, '').replace(/^\/{2,16}/, '/');
    const once = bare.replace(/^(\/anthropic)?(?:\/v1){2,8}(?=\/)/, '$1/v1');
    const tries = [
      bare,
      once,
      `/v1${bare}`,
      bare.replace(/^\/anthropic(?=\/)/, '/anthropic/v1'),
      bare.replace(/^\/v1/, ''),
    ];
    return tries.find((one) => one !== path && this.methodsAt(one).length > 0);
  }
}

function matches({ segments }: KnownPath, asked: readonly string[]): boolean {
  if (segments.at(-1) !== '*' && segments.length !== asked.length) return false;
  return segments.every((segment, at) => {
    const given = asked[at];
    if (given === undefined) return false;
    return segment === given || ((segment === '*' || segment.startsWith(':')) && given !== '');
  });
}
