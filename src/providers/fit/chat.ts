import type { FitContext } from '#/ports/provider.ts';
import { setMember, setString } from '#/wire/document/document.ts';
import { member, type JsonNode, type ObjectNode } from '#/wire/document/scan.ts';
import type { Traits } from '#/wire/hub/traits.ts';
import type { ChatRules } from '#/vendors/rules.ts';
import { effortWord } from './effort.ts';
import { fitFormat } from './format.ts';
import { fitSampling } from './sampling.ts';
import { fitChatToolIds } from './tool-ids.ts';
import { type Fitting, fitMembers, fitStreamOptions } from './fitting.ts';

/** Fits a chat request to a vendor and a model: what would be refused is dropped by name, the rest is worded their way. */
export function fitChat(fitting: Fitting, traits: Traits, rules: ChatRules, context: FitContext): void {
  fitMembers(fitting, rules, traits.rejects);
  fitStreamOptions(fitting, rules.streamOptions, context);
  fitEffort(fitting, traits);
  fitSampling(fitting, traits, fitting.value('reasoning_effort') === 'none' || traits.reasoning.control !== 'effort');
  fitCeiling(fitting, traits);
  fitFormat(fitting, traits);
  fitMessages(fitting, traits, rules);
  if (rules.needsParameters === true) addParameters(fitting);
  for (const [name, value] of Object.entries(traits.adds ?? {})) {
    if (fitting.value(name) === undefined) fitting.set(name, JSON.stringify(value));
  }
}

function fitEffort(fitting: Fitting, traits: Traits): void {
  const asked = fitting.value('reasoning_effort');
  if (traits.chat === 'without-tools' && offersTools(fitting) && traits.reasoning.words.none === 'none') {
    // The family has tools for it only while it does not think. // wire-formats 2.3
    if (typeof asked === 'string' && asked !== 'none') fitting.lose('reasoning_effort');
    return fitting.set('reasoning_effort', '"none"');
  }
  if (asked === undefined) return;
  const word = effortWord(asked, traits);
  if (word === undefined) fitting.drop('reasoning_effort');
  else if (word !== asked) fitting.set('reasoning_effort', JSON.stringify(word));
}

function offersTools(fitting: Fitting): boolean {
  return ['tools', 'functions'].some((name) => {
    const tools = fitting.node(name);
    return tools?.kind === 'array' && tools.items.length > 0;
  });
}

function fitCeiling(fitting: Fitting, { ceilingName }: Traits): void {
  fitting.rename(ceilingName === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens', ceilingName);
}

function fitMessages(fitting: Fitting, traits: Traits, rules: ChatRules): void {
  const messages = member(fitting.root, 'messages');
  if (messages?.kind !== 'array') return;
  const { messageMembers, namesToolsOnly } = rules;
  const other = traits.systemRole === 'developer' ? 'system' : 'developer';
  for (const message of messages.items) {
    if (message.kind !== 'object') continue;
    const role = member(message, 'role');
    if (role?.kind === 'string' && role.value === other) fitting.edit(setString(role, traits.systemRole));
    fitChatToolIds(fitting, message, traits.toolIds);
    const isTool = role?.kind === 'string' && role.value === 'tool';
    const refused = namesToolsOnly === true && !isTool ? 'name' : undefined;
    if (messageMembers) keepMembers(fitting, message, (name) => messageMembers.has(name) && name !== refused);
    if (traits.flatText === true) flatten(fitting, member(message, 'content'));
  }
}

function keepMembers(fitting: Fitting, message: ObjectNode, keeps: (name: string) => boolean): void {
  for (const { key, value } of message.members) {
    if (keeps(key.value)) continue;
    if (!(value.kind === 'literal' && value.source === 'null')) fitting.lose(`messages[].${key.value}`);
    fitting.remove(message, key.value);
  }
}

/** Content parts that are all text become the one text they add up to. */
function flatten(fitting: Fitting, content: JsonNode | undefined): void {
  if (content?.kind !== 'array' || content.items.length === 0) return;
  const texts = content.items.map(textOf);
  if (texts.some((text) => text === undefined)) return;
  for (const part of content.items) fitting.forget(part);
  fitting.edit({ start: content.start, end: content.end, text: JSON.stringify(texts.join('\n\n')) });
}

function textOf(part: JsonNode): string | undefined {
  const type = member(part, 'type');
  const text = member(part, 'text');
  return type?.kind === 'string' && type.value === 'text' && text?.kind === 'string' ? text.value : undefined;
}

const NO_PARAMETERS = '{"type":"object","properties":{}}';

function addParameters(fitting: Fitting): void {
  const tools = fitting.node('tools');
  for (const tool of tools?.kind === 'array' ? tools.items : []) {
    const definition = member(tool, 'function');
    const parameters = member(definition, 'parameters');
    const absent = parameters === undefined || parameters.kind === 'literal';
    if (definition?.kind === 'object' && absent) fitting.edit(setMember(definition, 'parameters', NO_PARAMETERS));
  }
}
