/** What an image holds, beside Node.js and the packages that its files import. */
export interface Program {
  readonly entries: readonly string[];
  /** Files that are named in the code and not started in this image. */
  readonly leave: readonly string[];
  /** Loaded when the image is built, so that it starts with compiled code: what starts nothing by itself, and threads. */
  readonly compiled: readonly string[];
  /** Read at run time: globs from the repository's root. */
  readonly assets: readonly string[];
  /** Packages that are found at run time, beside those that are imported. */
  readonly packages: readonly string[];
  /** Globs from `/` of files that the build stage's system brings. */
  readonly system: readonly string[];
  /** The Debian packages that these come from. */
  readonly debian: readonly string[];
}

/** By the codes of Tesseract. */
const LANGUAGES = ['deu', 'eng', 'fra', 'ita', 'nld', 'pol', 'por', 'spa'];

export const PROGRAMS: Readonly<Record<string, Program>> = {
  gateway: {
    entries: ['src/start.js', 'src/cli/gwctl.ts', 'operators/main.ts'],
    leave: ['inference/main.ts'],
    compiled: [
      'src/main/start.ts',
      'src/main.ts',
      'src/embedded/sandbox.ts',
      'src/inspect/search/detect-thread.ts',
      'src/adapters/pglite/create-database.ts',
      'src/adapters/pglite/worker.ts',
    ],
    assets: ['src/**/*.{lua,sql,json,bin}', 'k8s/samples/local/*.yaml'],
    packages: [],
    system: [],
    debian: [],
  },
  bridge: {
    entries: ['bridge/main.ts'],
    leave: [],
    compiled: [],
    assets: [],
    packages: [],
    system: [],
    debian: [],
  },
  inference: {
    entries: ['inference/main.ts'],
    leave: [],
    compiled: [],
    assets: ['inference/models/**/*'],
    packages: ['pdfjs-dist', 'tesseract.js-core', ...LANGUAGES.map((language) => `@tesseract.js-data/${language}`)],
    system: LANGUAGES.map((language) => `usr/share/tesseract-ocr/5/tessdata/${language}.traineddata`),
    debian: LANGUAGES.map((language) => `tesseract-ocr-${language}`),
  },
};

/** Never read by Node.js in a package: sources, types, maps, and pages about it. Licences stay. */
const UNREAD = /\.(?:map|[cm]?ts|tsx|flow|markdown|html|png|svg)$|^(?!licen[cs]e|notice|copying).*\.md$/i;

/** Of packages that bring more than one platform, build or size: what is used here. */
const USED: Readonly<Record<string, RegExp>> = {
  'onnxruntime-node': new RegExp(`^(?:dist/.*|package\\.json|bin/napi-v6/linux/${process.arch}/.*)$`),
  'pdfjs-dist': /^(?:package\.json|LICENSE|legacy\/build\/pdf(?:\.worker)?\.mjs|(?:cmaps|standard_fonts|wasm)\/.*)$/,
  'tesseract.js-core': /^(?:package\.json|LICENSE|tesseract-core-simd-lstm\.(?:js|wasm))$/,
  'gpt-tokenizer': /^(?:package\.json|LICENSE|esm\/.*)$/,
  '@cantoo/pdf-lib': /^(?:package\.json|LICENSE\.md|(?:es|dist\/(?:upng|standard-fonts))\/.*)$/,
};

/** Whether a file of a package, by its path in it, belongs into an image. */
export function isUsed(name: string, path: string): boolean {
  if (UNREAD.test(path.slice(path.lastIndexOf('/') + 1))) return false;
  if (name.startsWith('@tesseract.js-data/')) return /^(?:package\.json|4\.0\.0_best_int\/.*)$/.test(path);
  return USED[name]?.test(path) ?? true;
}
