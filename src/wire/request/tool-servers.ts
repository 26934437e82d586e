import type { WireDocument } from '../document/document.ts';
import { foldedName } from './request-shape.ts';
import type { JsonNode, ObjectNode, StringNode } from '../document/scan.ts';
import { finish, type Steps } from '../document/steps.ts';

/** Servers of tools that a request would have its provider call by itself, past inspection. // spec 4.5.3 */
export interface ToolServers {
  /** Where the first of them stands: `tools[0]`, `mcp_servers`. */
  readonly param: string;
  /** What each is called and where it is, as an audit row may say it: `docs at mcp.example.com`. Never a credential. */
  readonly names: readonly string[];
  /** What the caller identifies itself to them with. */
  readonly credentials: ReadonlySet<StringNode>;
}

/** So many values are looked at in one step. */
const A_STEP = 256;

/** Members that name a server, in whatever spelling a reader takes them. */
const SERVER_MEMBERS: ReadonlySet<string> = new Set(['mcpservers', 'mcpserver', 'serverurl', 'connectorid']);
/** Those of them that hold servers. */
const SERVER_LISTS: ReadonlySet<string> = new Set(['mcpservers', 'mcpserver']);
/** Tools, items and blocks of them: `mcp`, `mcp_toolset`, `mcp_call`, `mcp_approval_response`, and later ones. */
const SERVER_TYPE = /^(?:remote)?mcp|^connectors?$/;
/** What clients fill as they like, with schemas and values of their own. */
const OWN: ReadonlySet<string> = new Set([
  'parameters',
  'parametersjsonschema',
  'inputschema',
  'outputschema',
  'responseschema',
  'schema',
  'inputexamples',
  'arguments',
  'metadata',
]);
const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'authorizationtoken']);
/** A token, perhaps with its scheme: no blanks, nothing that an e-mail address or a sentence has. */
const TOKEN = /^(?:[A-Za-z]{1,16} )?[A-Za-z0-9._~+/=:-]{1,4096}$/;
/** What a row repeats of what the caller wrote. */
const PLAIN = /^[A-Za-z0-9._:/-]{1,128}$/;

interface Place {
  readonly node: JsonNode;
  readonly step: string;
  readonly parent: Place | undefined;
  /** `list`: its objects are servers; `part`: it is a part of one. */
  readonly within: 'list' | 'part' | undefined;
}

/**
 * The servers of tools that a request names, anywhere but in what clients fill as they like; undefined where there are
 * none. Linear in the number of values.
 */
export function toolServersIn(document: WireDocument): ToolServers | undefined {
  // First whether one may be named at all: a no is always right, and nothing is allocated to find out where.
  const pending: JsonNode[] = [document.root];
  for (let node = pending.pop(); node; node = pending.pop()) {
    if (node.kind === 'array') for (const item of node.items) pending.push(item);
    if (node.kind !== 'object') continue;
    for (const { key, value } of node.members) {
      const name = bareNames.get(key.value) ?? bare(key.value);
      const isString = value.kind === 'string';
      if (SERVER_MEMBERS.has(name) || (isString && name === 'type' && SERVER_TYPE.test(bare(value.value))))
        return finish(toolServerSteps(document));
      if (!isString && !OWN.has(name)) pending.push(value);
    }
  }
  return undefined;
}

/** As `toolServersIn`, in steps. */
export function* toolServerSteps({ root }: WireDocument): Steps<ToolServers | undefined> {
  let first: string | undefined;
  let looked = 0;
  const servers: ObjectNode[] = [];
  const credentials = new Set<StringNode>();
  const pending: Place[] = [{ node: root, step: '', parent: undefined, within: undefined }];
  for (let place = pending.pop(); place; place = pending.pop()) {
    if (++looked % A_STEP === 0) yield;
    const { node, within } = place;
    if (node.kind === 'array') {
      for (let at = node.items.length - 1; at >= 0; at--) {
        if (at % A_STEP === A_STEP - 1) yield;
        const item = node.items[at]!;
        if (isHolder(item)) pending.push({ node: item, step: `[${at}]`, parent: place, within });
      }
    }
    if (node.kind !== 'object') continue;
    let named: string | undefined;
    let typed = false;
    let isTool = false;
    for (const [at, { key, value }] of node.members.entries()) {
      if (at % A_STEP === A_STEP - 1) yield;
      const name = bare(key.value);
      if (SERVER_MEMBERS.has(name) && isSaid(value)) named ??= key.value;
      // What an object says that it is: once, or in several spellings for readers that differ.
      if (name !== 'type' || value.kind !== 'string') continue;
      const type = bare(value.value);
      typed ||= SERVER_TYPE.test(type);
      isTool ||= type.endsWith('tooluse');
    }
    if (named !== undefined || typed) first ??= pathOf(place, node === root ? (named ?? 'type') : '');
    const isServer = named !== undefined || typed || within === 'list';
    if (isServer && node !== root) servers.push(node);
    for (let at = node.members.length - 1; at >= 0; at--) {
      if (at % A_STEP === A_STEP - 1) yield;
      const { key, value } = node.members[at]!;
      const name = bare(key.value);
      if (node !== root && (isServer || within)) noteCredentials(name, value, credentials);
      if (!isHolder(value) || OWN.has(name) || (name === 'input' && isTool)) continue;
      const inside = SERVER_LISTS.has(name) ? 'list' : isServer && node !== root ? 'part' : within && 'part';
      pending.push({ node: value, step: node === root ? key.value : `.${key.value}`, parent: place, within: inside });
    }
  }
  return first === undefined ? undefined : { param: first, names: yield* namesOf(servers), credentials };
}

/** Whether anything may stand in it. */
function isHolder({ kind }: JsonNode): boolean {
  return kind === 'object' || kind === 'array';
}

const MOST_KNOWN = 2000;
const bareNames = new Map<string, string>();

/** A name without differences of case, width, dashes and underscores. */
function bare(name: string): string {
  const known = bareNames.get(name);
  if (known !== undefined) return known;
  const made = foldedName(name.slice(0, 64)).replaceAll(/[-_]/g, '');
  if (bareNames.size >= MOST_KNOWN) bareNames.clear();
  if (name.length <= 64) bareNames.set(name, made);
  return made;
}

function isSaid(value: JsonNode): boolean {
  return !(value.kind === 'literal' && value.source === 'null');
}

function noteCredentials(name: string, value: JsonNode, credentials: Set<StringNode>): void {
  const note = (node: JsonNode): void => {
    if (node.kind === 'string' && TOKEN.test(node.value)) credentials.add(node);
  };
  if (CREDENTIALS.has(name)) note(value);
  else if (name === 'headers' && value.kind === 'object') for (const header of value.members) note(header.value);
}

function pathOf(place: Place, last: string): string {
  let path = last;
  for (let at: Place | undefined = place; at; at = at.parent) path = at.step + path;
  return path.slice(0, 200);
}

/** Each server once. What only repeats the name of one, as its calls do, adds nothing. */
function* namesOf(servers: readonly ObjectNode[]): Steps<readonly string[]> {
  const places = new Map<string, Set<string>>();
  for (const server of servers) {
    const texts = yield* textsOf(server);
    const url = texts.get('serverurl') ?? texts.get('url');
    const connector = texts.get('connectorid');
    const label =
      texts.get('serverlabel') ??
      texts.get('mcpservername') ??
      texts.get('servername') ??
      (url === undefined ? undefined : texts.get('name'));
    if (label === undefined && url === undefined && connector === undefined) continue;
    const name = plain(label) ?? 'unnamed';
    const known = places.get(name) ?? new Set<string>();
    places.set(name, known);
    if (url !== undefined) known.add(`at ${plain(URL.parse(url)?.host) ?? 'an unreadable address'}`);
    if (connector !== undefined) known.add(`by ${plain(connector) ?? 'an unreadable connector'}`);
  }
  return [...places].flatMap(([name, known]) => (known.size === 0 ? name : [...known].map((at) => `${name} ${at}`)));
}

/** What an object says of itself in texts, by names that are bare: of several alike the first, if that is a text. */
function* textsOf({ members }: ObjectNode): Steps<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  const seen = new Set<string>();
  for (const [at, { key, value }] of members.entries()) {
    if (at % A_STEP === 0) yield;
    const name = bare(key.value);
    if (seen.has(name)) continue;
    seen.add(name);
    if (value.kind === 'string') texts.set(name, value.value);
  }
  return texts;
}

function plain(text: string | undefined): string | undefined {
  return text !== undefined && PLAIN.test(text) ? text : undefined;
}
