import { useCompiledCode } from './compiled-code.js';

// The entry point of the gateway: imports the rest only once Node.js knows where compiled code is.
useCompiledCode();
const { startGateway } = await import('./main/start.ts');
await startGateway();
