import { parseArgs } from 'node:util';
import type { CompiledSnapshot } from '#/config/compile/compile.ts';
import { loadFolder } from '#/config/folder/folder-source.ts';
import { nearestFew } from '#/values/nearest.ts';
import type { WorkloadConfig } from '#/config/snapshot.ts';
import { formatFault } from '../config/check-folder.ts';
import { FEATURES, SURFACES, type Feature, type SurfaceName } from './explain-request.ts';
import { routeExplain } from './explain-route.ts';
import { explainTool, readArguments } from './explain-tool.ts';
import type { Output } from '../terminal/output.ts';
import { UsageError } from '../terminal/usage-error.ts';

export const EXPLAIN_HELP = `gwctl explain --config DIR (--key NAME | --workload NAME) (--model ID | --tool SERVER/TOOL [--arguments FILE])
              [--surface SURFACE] [--has FEATURES] [--secrets-dir DIR] [--usd-to-eur RATE]

Shows the policy that applies to a call, where each of its fields comes from, which models are considered, and why each is
selected, skipped or refused. Sends nothing. Exits with 1 when the call would be refused.

  --config DIR        Folder of resources
  --key, --workload   Whose call it is: <namespace>/<name>, or a name that only one namespace has
  --model ID          <provider>/<model>, an alias, or on messages a bare id
  --tool SERVER/TOOL  A tool of an MCP server, in the place of a model; SERVER/prompts/NAME a prompt, SERVER/resources/URI
                      a resource. Whether the server lists it is not asked
  --arguments FILE    The arguments of the call as a JSON object, - for standard input: rules of the server are asked about them
  --surface SURFACE   ${SURFACES.join(', ')} (default: chat)
  --has FEATURES      What the request has besides text, with commas between: ${FEATURES.join(', ')}
  --secrets-dir DIR   Folder with <name>/<key> files, for secrets that are not resources
  --usd-to-eur RATE   Euro per US dollar (default: GW_USD_TO_EUR, or 0.92)
`;

const OPTIONS = {
  config: { type: 'string' },
  key: { type: 'string' },
  workload: { type: 'string' },
  model: { type: 'string' },
  tool: { type: 'string' },
  arguments: { type: 'string' },
  surface: { type: 'string' },
  has: { type: 'string' },
  'secrets-dir': { type: 'string' },
  'usd-to-eur': { type: 'string' },
} as const;

/** Explains what policy makes of a call. Resolves with the exit status; rejects with UsageError. */
export async function explain(
  args: readonly string[],
  defaults: { readonly usdToEur: string },
  { out, err }: Output,
): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  const { config: dir, key, workload: name, model, tool } = values;
  if (dir === undefined) throw new UsageError('give the folder of resources: --config DIR');
  if ((key === undefined) === (name === undefined))
    throw new UsageError('give the caller: --key NAME or --workload NAME');
  if ((model === undefined) === (tool === undefined))
    throw new UsageError('give the model: --model ID, or the tool: --tool SERVER/TOOL');
  if (tool === undefined && values.arguments !== undefined) throw new UsageError('--arguments belongs to --tool');
  const surface = oneOf(SURFACES, values.surface ?? 'chat', '--surface');
  const has = (values.has ?? '').split(',').filter((word) => word !== '');
  const features = has.map((word) => oneOf(FEATURES, word, '--has'));
  const usdToEur = values['usd-to-eur'] ?? defaults.usdToEur;
  const secretsDir = values['secrets-dir'];
  const result = await loadFolder({ dir, usdToEur, ...(secretsDir !== undefined && { secretsDir }) });
  if (!result.snapshot) {
    for (const fault of result.faults) err(formatFault(fault));
    return 2;
  }
  const workload =
    key === undefined ? named('workload', result.snapshot.workloads, name!) : workloadOf(result.snapshot, key);
  if (tool !== undefined) {
    const given = values.arguments === undefined ? undefined : readArguments(values.arguments);
    return explainTool({ workload, tool, args: given, usdToEur, at: Date.now() }, out);
  }
  return routeExplain(
    { snapshot: result.snapshot, workload, model: model!, surface, features, usdToEur, at: Date.now() },
    out,
  );
}

function oneOf<T extends SurfaceName | Feature>(words: readonly T[], word: string, option: string): T {
  const found = words.find((known) => known === word);
  if (found === undefined) throw new UsageError(`${option} takes ${words.join(', ')}, not "${word}"`);
  return found;
}

function workloadOf({ keysById }: CompiledSnapshot, name: string): WorkloadConfig {
  return named('key', keysById, name).workload;
}

/** Finds an object by its id, or by the end of its id if that is unique. */
function named<T>(what: string, byId: ReadonlyMap<string, T>, name: string): T {
  const whole = byId.get(name);
  if (whole !== undefined) return whole;
  const found = [...byId].filter(([id]) => id.endsWith(`/${name}`));
  const [first] = found;
  if (first && found.length === 1) return first[1];
  if (first) throw new UsageError(`several match: give one of ${found.map(([id]) => id).join(', ')}`);
  throw new UsageError(`there is no ${what} "${name}" in this folder${suggestion(name, [...byId.keys()])}`);
}

const MOST_TOLD = 5;

/** The nearest ids, by their names where no namespace was given; else some of those that there are. */
function suggestion(name: string, ids: readonly string[]): string {
  const nameOf = (id: string): string => (name.includes('/') ? id : id.slice(id.indexOf('/') + 1));
  const near = new Set(nearestFew(name, ids.map(nameOf), MOST_TOLD));
  const meant = ids.filter((id) => near.has(nameOf(id)));
  if (meant.length > 0) return `: did you mean ${meant.slice(0, MOST_TOLD).join(' or ')}?`;
  if (ids.length === 0) return ': the folder has none';
  const more = ids.length > MOST_TOLD ? ` and ${ids.length - MOST_TOLD} more` : '';
  return `: there are ${ids.slice(0, MOST_TOLD).join(', ')}${more}. A resource that names no namespace is in "default"`;
}
