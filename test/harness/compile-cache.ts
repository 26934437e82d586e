import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where programs that tests start find what others have compiled: half of a start is compiling. By contents, so never stale. */
export const COMPILED = { NODE_COMPILE_CACHE: join(tmpdir(), `gatewarden-compiled-${process.getuid?.() ?? 0}`) };
