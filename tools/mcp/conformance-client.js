// The client that the conformance suite starts: it passes its orders on to CONTROL, which drives the real one.
const { CONTROL, MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env;
const body = JSON.stringify({ url: process.argv.at(-1), context: JSON.parse(context) });
const answer = await fetch(CONTROL, { method: 'POST', body });
if (!answer.ok) {
  console.error(await answer.text());
  process.exit(1);
}
