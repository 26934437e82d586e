import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { isObject } from '#/wire/document/json.ts';
import type { HubFamily } from '#/wire/document/document.ts';
import { decodeAnswer, describeEvent, FAMILIES, type DecodedAnswer, type RecordingForm } from './decode-answer.ts';
import type { Output } from '../terminal/output.ts';
import { priceExplain } from '../price/price-explain.ts';
import { UsageError } from '../terminal/usage-error.ts';

export const DECODE_HELP = `gwctl decode FILE… [--family FAMILY] [--provider SLUG] [--usd-to-eur RATE] [--quiet]

Decodes recorded answers of providers and prints their events, usage, price and every warning.
*.json is a buffered body, *.chunks.txt has one event payload per line, *.sse is a stream as it was on the wire.

  --family FAMILY     ${FAMILIES.join(', ')} (default: guessed)
  --provider SLUG     Provider whose prices apply (default: by family)
  --usd-to-eur RATE   Euro per US dollar (default: GW_USD_TO_EUR, or 0.92)
  --quiet             Prints only faults and warnings

Exits with 1 when a file cannot be decoded or decodes with a warning.
`;

/** The default provider of a family. */
const USUAL_PROVIDER: Readonly<Record<HubFamily, string>> = {
  chat: 'openai',
  messages: 'anthropic',
  responses: 'openai',
  gemini: 'gemini',
  converse: 'bedrock',
};

interface Options {
  readonly family: HubFamily | undefined;
  readonly provider: string | undefined;
  readonly usdToEur: string;
  readonly quiet: boolean;
}

/** Decodes files. Returns the exit status; throws UsageError. */
export function decode(args: readonly string[], defaults: { readonly usdToEur: string }, output: Output): number {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      family: { type: 'string' },
      provider: { type: 'string' },
      'usd-to-eur': { type: 'string' },
      quiet: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  if (positionals.length === 0) throw new UsageError('give at least one file');
  const family = FAMILIES.find((known) => known === values.family);
  if (values.family !== undefined && !family) throw new UsageError(`there is no family "${values.family}"`);
  const options: Options = {
    family,
    provider: values.provider,
    usdToEur: values['usd-to-eur'] ?? defaults.usdToEur,
    quiet: values.quiet,
  };
  const sound = positionals.map((file) => decodeFile(file, options, output));
  return sound.every(Boolean) ? 0 : 1;
}

/** Whether the file decodes without a warning. */
function decodeFile(file: string, options: Options, { out, err }: Output): boolean {
  const text = readFileSync(file, 'utf8');
  let decoded: DecodedAnswer | undefined;
  try {
    decoded = decodeAnswer(text, formOf(file), options.family);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    err(`${file}: not JSON`);
    return false;
  }
  if (!decoded) {
    err(`${file}: ${errorIn(text) ?? 'not an answer of a known family'}`);
    return false;
  }
  for (const warning of decoded.warnings) err(`${file}: ${warning}`);
  if (!options.quiet) print(file, decoded, options, out);
  return decoded.warnings.length === 0;
}

function print(file: string, decoded: DecodedAnswer, options: Options, out: Output['out']): void {
  const { family, model, events, usage } = decoded;
  out(`${file}: ${family}${model === undefined ? '' : `, ${model}`}`);
  for (const event of events) out(`  ${describeEvent(event)}`);
  if (!usage) return out('  no usage reported: the gateway counts and bills the tokens itself');
  const slug = options.provider ?? USUAL_PROVIDER[family];
  const question = { provider: { slug }, model: model ?? 'unknown', usage, at: Date.now(), usdToEur: options.usdToEur };
  priceExplain(question, (line) => out(`  ${line}`));
}

function formOf(file: string): RecordingForm {
  if (file.endsWith('.sse')) return 'wire';
  return file.endsWith('.json') ? 'body' : 'payloads';
}

function errorIn(text: string): string | undefined {
  try {
    const body: unknown = JSON.parse(text);
    const error = isObject(body) ? body['error'] : undefined;
    return isObject(error) && typeof error['message'] === 'string' ? `an error: ${error['message']}` : undefined;
  } catch {
    return undefined;
  }
}
