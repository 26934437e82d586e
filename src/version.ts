import manifest from '../package.json' with { type: 'json' };

/** The version of this tree, as in `package.json`. */
export const VERSION = manifest.version;

/** What the gateway calls itself towards clients and servers of tools. */
export const IMPLEMENTATION = { name: 'gatewarden', version: VERSION } as const;
