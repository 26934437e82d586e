import manifest from '../package.json' with { type: 'json' };

/** The version of this tree, as in `package.json`. */
export const VERSION = manifest.version;
