/** Sentences that do not hold, or not wholly, and what is missing. */
export const MISSING: Readonly<Record<string, string>> = {
  '4.5/9': 'mcp_servers is refused; there is no console: a server is registered as an MCPServer resource',
  '5/4': 'There is no console: keys are made by gwctl key create, which shows them once and keeps the hash',
  '5/5': 'Nobody asks for a verified e-mail address before a production key is made',
  '7.1/9': 'Calls are refused as promised; there are no knowledge uploads',
  '8/5': 'There are no knowledge uploads',
};
