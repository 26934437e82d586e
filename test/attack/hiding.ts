import { startDocumentWorld, type DocumentWorld } from '../documents/world.ts';
import { resource } from '../harness/gateway.ts';
import type { Upstream } from '../harness/upstream.ts';
import type { Tally } from './tally.ts';

/** One workload for each mode, called by it. */
const MODES = ['Tokenize', 'Mask', 'Block', 'AllowLog'] as const;
export type Mode = (typeof MODES)[number];
export const PROTECTING: readonly Mode[] = ['Tokenize', 'Mask', 'Block'];
export const EVERY_MODE: readonly Mode[] = MODES;

/** A request that carries a text somewhere. */
export type Carrier = (text: string) => readonly [path: string, body: object];

/** A gateway before a provider that keeps what it is sent. */
export function startHidingWorld(upstream: Upstream): Promise<DocumentWorld> {
  const applications = Object.fromEntries(MODES.map((mode) => [mode.toLowerCase(), { policy: { dlp: { mode } } }]));
  const prices = [
    { model: 'upstream/*', input: '1', output: '1' },
    { model: 'deciding/*', input: '1', output: '1' },
    ...['Image', 'Second'].map((unit) => ({ model: 'upstream/*', unit, input: '0.01' })),
  ];
  const deciding = resource('Provider', 'deciding', {
    slug: 'deciding',
    protocol: 'Custom',
    endpoint: { url: upstream.url, allowInsecure: true },
    jurisdiction: 'EU',
    models: [
      { id: 'native', decisions: 'Decisions' },
      { id: 'other', decisions: 'SystemOne' },
    ],
  });
  return startDocumentWorld({ more: [deciding], upstreamUrl: upstream.url, applications, prices });
}

/** What is looked for in what a provider was sent. */
export interface Hidden {
  readonly attack: string;
  readonly carrier: Carrier;
  readonly text: string;
  /** None of these may arrive where policy protects. */
  readonly secret: readonly string[];
  readonly mode: Mode;
  readonly category: string;
}

/** So many are under way at once: most wait for their rows. */
const AT_ONCE = 8;

/** Tries all of them. */
export async function attemptAll(
  world: DocumentWorld,
  upstream: Upstream,
  tried: Tally,
  cases: readonly Hidden[],
): Promise<void> {
  const left = cases.entries();
  const work = async (): Promise<void> => {
    for (const [index, one] of left) await attempt(world, upstream, tried, one, markOf(index));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/** A word that no other request has. */
function markOf(index: number): string {
  return `mark${Array.from(String(index), (digit) => 'bcdfghjklm'.charAt(Number(digit))).join('')}end`;
}

/** Sends one request, and counts whether anything personal of it arrived at the provider. */
async function attempt(
  world: DocumentWorld,
  upstream: Upstream,
  tried: Tally,
  hidden: Hidden,
  mark: string,
): Promise<void> {
  const { attack, carrier, text, secret, mode, category } = hidden;
  const [path, body] = carrier(`${text} ${mark}`);
  const before = upstream.requests.length;
  const answer = await world.post(path, body, { as: mode.toLowerCase() });
  await answer.text();
  const sent = upstream.requests
    .slice(before)
    .map((one) => judgedText(one.body))
    .filter((said) => said.includes(mark));
  const arrived = sent.some((said) => secret.some((value) => said.includes(value)));
  // A file that is no text is refused unread, or named where nothing protects it.
  if (mode !== 'AllowLog' && answer.status === 422 && sent.length === 0) return tried.held(attack);
  if (mode === 'AllowLog' && answer.headers.get('x-gw-unscanned')?.includes('file')) return tried.named(attack);
  const isSafe = mode === 'AllowLog' ? await isCounted(world, answer, category) : !arrived;
  const isRight = mode === 'Block' ? isSafe && sent.length === 0 && answer.status >= 400 : answer.status === 200;
  if (isSafe && isRight) tried.held(attack);
  else tried.passed(isSafe ? `${attack}: answered ${answer.status}` : attack);
}

async function isCounted(world: DocumentWorld, answer: Response, category: string): Promise<boolean> {
  const { findings } = (await world.row(answer)).dlp;
  return (findings[category] ?? 0) > 0;
}

const DATA_URL = /^data:text\/plain;base64,(.*)$/s;

/** Every string of a body, names of members and text files too. */
function judgedText(body: string): string {
  const said: string[] = [];
  JSON.parse(body, (name, value: unknown) => {
    said.push(name);
    if (typeof value === 'string') said.push(value, Buffer.from(DATA_URL.exec(value)?.[1] ?? '', 'base64').toString());
    return value;
  });
  return said.join('\n');
}
