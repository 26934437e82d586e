import type { ProviderConfig } from '#/config/snapshot.ts';
import type { FitContext, Incoming, ListAsk, Outgoing, Provider } from '#/ports/provider.ts';
import type { VendorRules } from '#/vendors/rules.ts';
import type { Lose } from '#/wire/hub/canonical.ts';
import type { Traits } from '#/wire/hub/traits.ts';
import type { CompatibleVendor } from '#/vendors/vendor.ts';
import type { Edit, Family, WireDocument } from '#/wire/document/document.ts';
import { decideBySystemOne, decidingFamilies, fitDecisions } from './decisions.ts';
import { readFailure } from '../http/failure.ts';
import { fitCache } from '../fit/cache.ts';
import { fitChat } from '../fit/chat.ts';
import { fitResponses } from '../fit/responses.ts';
import { configured, httpExit, type HttpApi } from '../http/http-api.ts';
import { listModels, OPENAI_LIST } from '../catalogue/model-list.ts';
import type { CreateProvider, ProviderDeps } from './create-provider.ts';
import { Fitting, fitMembers, fitStreamOptions } from '../fit/fitting.ts';
import type { Transport } from '../http/transport.ts';

/** What data cannot say of a compatible vendor. */
export interface Quirks {
  /** Families of one provider, where its configuration decides; absent: those of the vendor. */
  readonly families?: (config: ProviderConfig) => readonly Family[];
  /** How it is reached; absent: at its base address, with a bearer key. */
  readonly api?: (config: ProviderConfig, transport: Transport) => HttpApi;
  /** It cannot list its models: customers name them. */
  readonly unlisted?: true;
  /** Families that it serves in a way of its own. */
  readonly asks?: Readonly<Partial<Record<Family, AskInAnotherWay>>>;
  /** What no rule can say of chat requests, done before the rules. */
  readonly fitChat?: (fitting: Fitting) => void;
  /** Edits by family that no rule can say, in addition to those of the rules. */
  readonly fits?: Readonly<
    Partial<Record<Family, (document: WireDocument, config: ProviderConfig) => readonly Edit[]>>
  >;
}

/** Asks a vendor in another way than by the family's own path; `api` is how the vendor is reached. */
type AskInAnotherWay = (outgoing: Outgoing, api: HttpApi, transport: Transport) => Promise<Incoming>;

/** Makes providers of a vendor that speaks OpenAI's families at OpenAI's paths. */
export function compatible(vendor: CompatibleVendor, quirks: Quirks = {}): CreateProvider {
  return (config, deps) => create(vendor, quirks, config, deps);
}

function create(
  vendor: CompatibleVendor,
  quirks: Quirks,
  config: ProviderConfig,
  { transport, traits }: ProviderDeps,
): Provider {
  const api = quirks.api?.(config, transport) ?? bearerApi(config);
  const exit = httpExit(api, transport);
  const { rules } = vendor;
  const { asks = {}, fits = {} } = quirks;
  const families = quirks.families?.(config) ?? vendor.families;
  const systemOne = systemOneModels(config);
  // Chat requests that are not streamed are sent as they are, where the configuration says nothing of the model.
  const leavesChat = rules.untouched === true && rules.chat.streamOptions !== 'none' && fits.chat === undefined;
  const withoutChat = families.filter((family) => family !== 'chat');
  const sendInOtherWays = (outgoing: Outgoing): Promise<Incoming> => {
    if (outgoing.family === 'decisions' && systemOne.has(outgoing.model)) {
      return decideBySystemOne(outgoing, exit.send);
    }
    const ask = asks[outgoing.family];
    return ask ? ask(outgoing, api, transport) : exit.send(outgoing);
  };
  return {
    config,
    ...configured(config),
    families: (model, needs) => {
      const known = traits(config, model);
      const { chat, decides } = known;
      const hidden = chat === 'nothing' || (chat === 'without-tools' && needs?.tools !== false);
      // Without another family to go to, chat may still serve it, if only without thinking.
      const spoken = hidden && withoutChat.includes('responses') ? withoutChat : families;
      return decides === undefined ? spoken : [...spoken, ...decidingFamilies(known)];
    },
    traits: (model) => traits(config, model),
    fit(document, context, lose) {
      const known = traits(config, context.model);
      const { family } = document;
      const rejects = config.models.get(context.model)?.rejects ?? NOTHING;
      const isLeft = leavesChat && family === 'chat' && !context.stream && rejects.length === 0;
      if (isLeft && known.cacheMarks === 'as-written') return NO_EDITS;
      if (family === 'decisions') fitDecisions(document, known, `${config.slug}/${context.model}`, lose);
      const target = { config, traits: known, rejects, rules, quirk: quirks.fitChat };
      const edits = fitOpenAi(document, target, context, lose);
      const more = fits[family]?.(document, config) ?? [];
      return more.length > 0 ? [...edits, ...more] : edits;
    },
    send: Object.keys(asks).length === 0 && systemOne.size === 0 ? exit.send : sendInOtherWays,
    pass: exit.pass,
    ...(quirks.unlisted !== true && { list: (ask: ListAsk) => listModels(OPENAI_LIST, exit.pass, ask) }),
    readFailure,
  };
}

const NOTHING: readonly string[] = [];
const NO_EDITS: readonly Edit[] = [];

/** Models that take typed decisions in the older of the two families, by the provider's own names. */
function systemOneModels({ models }: ProviderConfig): ReadonlySet<string> {
  const systemOne = [...models.values()].filter(({ decisions }) => decisions === 'systemone');
  return new Set(systemOne.map(({ id, upstreamId }) => upstreamId ?? id));
}

/** Whose request is fitted, and to what. */
interface FitTarget {
  readonly config: ProviderConfig;
  readonly traits: Traits;
  /** What the configuration says that the model refuses. */
  readonly rejects: readonly string[];
  readonly rules: VendorRules;
  /** Done to chat requests before the rules. */
  readonly quirk: Quirks['fitChat'];
}

/**
 * Edits that make a body acceptable to an OpenAI-compatible vendor. Cache directives go first: what replaces a part
 * also cancels removals inside it.
 */
function fitOpenAi(
  document: WireDocument,
  { config, traits, rejects, rules, quirk }: FitTarget,
  context: FitContext,
  lose: Lose,
): readonly Edit[] {
  const fitting = new Fitting(document, lose);
  const { family } = document;
  if (traits.cacheMarks !== 'as-written') fitCache(fitting, document, config, traits, context);
  if (family === 'chat' && rules.untouched !== true) {
    quirk?.(fitting);
    fitChat(fitting, traits, rules.chat, context);
  } else if (family === 'responses' && rules.untouched !== true) {
    fitResponses(fitting, traits, rules.responses ?? {}, config);
  } else {
    const ofFamily = family === 'chat' ? undefined : rules[family];
    if (ofFamily || rejects.length > 0) fitMembers(fitting, ofFamily ?? {}, new Set(rejects));
    if (family === 'chat' || family === 'completions') fitStreamOptions(fitting, rules.chat.streamOptions, context);
  }
  return fitting.edits();
}

/** An API at the configured address with a bearer key, if one is configured. */
function bearerApi(config: ProviderConfig): HttpApi {
  return {
    base: config.url,
    authorize: (credential) => (credential ? { authorization: `Bearer ${credential.secret}` } : {}),
  };
}
