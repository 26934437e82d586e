export { NO_USAGE, totalTokens, type Usage } from '#wire/usage.ts';
