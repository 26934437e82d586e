import type { ProviderConfig, VendorId } from '#/config/snapshot.ts';
import type { Incoming, ListAsk, Outgoing, Provider } from '#/ports/provider.ts';
import type { Family } from '#/wire/document/document.ts';
import { decideBySystemOne, decidingFamilies, fitDecisions } from './decisions.ts';
import { readFailure } from './http/failure.ts';
import type { VendorRules } from './fit/family-rules.ts';
import { fitOpenAi } from './fit/fit.ts';
import { configured, httpExit, type HttpApi } from './http/http-api.ts';
import { listModels, OPENAI_LIST } from './catalogue/model-list.ts';
import type { Vendor, VendorDeps } from './vendor.ts';
import type { Transport } from './http/transport.ts';

/** What sets one OpenAI-compatible vendor apart from another. */
export interface ChatVendor<Id extends VendorId = VendorId> {
  readonly id: Id;
  /** Families it speaks, the one to translate to first; absent: chat alone. */
  readonly families?: readonly Family[] | ((config: ProviderConfig) => readonly Family[]);
  /** What it takes in requests. */
  readonly rules: VendorRules;
  /** How it is reached; absent: at its base address, with a bearer key. */
  readonly api?: (config: ProviderConfig, transport: Transport) => HttpApi;
  /** Nobody lists its models: they have names that its customers give. */
  readonly unlisted?: true;
  /** Families that it serves in a way of its own. */
  readonly asks?: Readonly<Partial<Record<Family, AskInAnotherWay>>>;
}

/** Asks a vendor in another way than by the family's own path; `api` is how the vendor is reached. */
type AskInAnotherWay = (outgoing: Outgoing, api: HttpApi, transport: Transport) => Promise<Incoming>;

/** A vendor that speaks OpenAI's families at OpenAI's paths. */
export function chatVendor<Id extends VendorId>(vendor: ChatVendor<Id>): Vendor<Id> {
  return { id: vendor.id, create: (config, deps) => create(vendor, config, deps) };
}

function create(vendor: ChatVendor, config: ProviderConfig, { transport, traits }: VendorDeps): Provider {
  const api = vendor.api?.(config, transport) ?? bearerApi(config);
  const exit = httpExit(api, transport);
  const { families: declared = ['chat'], rules, asks = {} } = vendor;
  const families = typeof declared === 'function' ? declared(config) : declared;
  const systemOne = new Set(
    [...config.models.values()]
      .filter(({ decisions }) => decisions === 'systemone')
      .map(({ id, upstreamId }) => upstreamId ?? id),
  );
  const withoutChat = families.filter((family) => family !== 'chat');
  return {
    config,
    ...configured(config),
    families: (model, needs) => {
      const known = traits(config, model);
      const { chat } = known;
      const deciding = decidingFamilies(known);
      const hidden = chat === 'nothing' || (chat === 'without-tools' && needs?.tools !== false);
      // Without another family to go to, chat may still serve it, if only without thinking.
      const spoken = hidden && withoutChat.includes('responses') ? withoutChat : families;
      return deciding.length > 0 ? [...spoken, ...deciding] : spoken;
    },
    traits: (model) => traits(config, model),
    fit(document, context, lose) {
      const known = traits(config, context.model);
      fitDecisions(document, known, `${config.slug}/${context.model}`, lose);
      return fitOpenAi(document, { config, traits: known, rules }, context, lose);
    },
    send: (outgoing) => {
      if (outgoing.family === 'decisions' && systemOne.has(outgoing.model)) {
        return decideBySystemOne(outgoing, exit.send);
      }
      const ask = asks[outgoing.family];
      return ask ? ask(outgoing, api, transport) : exit.send(outgoing);
    },
    pass: exit.pass,
    ...(vendor.unlisted !== true && { list: (ask: ListAsk) => listModels(OPENAI_LIST, exit.pass, ask) }),
    readFailure,
  };
}

/** An API at the configured address with a bearer key, or none where there is none. */
function bearerApi(config: ProviderConfig): HttpApi {
  return {
    base: config.url,
    authorize: (credential) => (credential ? { authorization: `Bearer ${credential.secret}` } : {}),
  };
}
