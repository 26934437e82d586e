import { resource } from './gateway.ts';

/** One kind of provider as the gateway is configured with it. */
export interface ProviderKind {
  /** Its slug, and the first part of its address at the stand-in. */
  readonly kind: string;
  /** A model of its own, as clients name it: `<kind>/<model>`. */
  readonly model: string;
  /** What its `Provider` says beside slug, address and key. */
  readonly spec: Readonly<Record<string, unknown>>;
  /** Path of its base address, below `/<kind>`. */
  readonly path?: string;
  /** What its key is, where it is no plain one. */
  readonly credential?: { readonly type: string; readonly secret: string };
  /** Models listed beside `model`; naming any makes the list complete. */
  readonly models?: readonly string[];
}

const CHAT_PATH = '/v1';
const AWS_KEY = JSON.stringify({ accessKeyId: 'AKIASTANDIN', secretAccessKey: 'stand-in-secret' });
const BEDROCK = {
  spec: { vendor: 'bedrock', region: 'eu-central-1', jurisdiction: 'DE' },
  path: '',
  credential: { type: 'AWSSigV4', secret: AWS_KEY },
};
const VERTEX = {
  spec: { vendor: 'vertex', region: 'europe-west4', project: 'stand-in', jurisdiction: 'NL' },
  path: '',
};

function chatKind(kind: string, model: string, jurisdiction: string, path = CHAT_PATH): ProviderKind {
  return { kind, model, spec: { vendor: kind, jurisdiction }, path };
}

/** Every kind of provider there is. */
export const PROVIDER_KINDS: readonly ProviderKind[] = [
  chatKind('openai', 'gpt-4.1-mini', 'US'),
  chatKind('azure', 'gpt-4.1-deployment', 'EU', ''),
  chatKind('anthropic', 'claude-sonnet-4-5', 'US'),
  { kind: 'bedrock', model: 'amazon.nova-pro-v1:0', ...BEDROCK },
  { kind: 'bedrock-claude', model: 'anthropic.claude-sonnet-4-5-20250929-v1:0', ...BEDROCK },
  chatKind('gemini', 'gemini-2.5-flash', 'US', '/v1beta'),
  { kind: 'vertex-gemini', model: 'gemini-2.5-flash', ...VERTEX },
  { kind: 'vertex-claude', model: 'claude-sonnet-4-5@20250929', ...VERTEX },
  chatKind('mistral', 'mistral-large-latest', 'EU'),
  chatKind('deepseek', 'deepseek-chat', 'CN', ''),
  chatKind('xai', 'grok-4', 'US'),
  chatKind('groq', 'llama-3.3-70b-versatile', 'US', '/openai/v1'),
  chatKind('together', 'meta-llama/Llama-3.3-70B-Instruct-Turbo', 'US'),
  chatKind('fireworks', 'accounts/fireworks/models/llama-v3p3-70b-instruct', 'US', '/inference/v1'),
  chatKind('cerebras', 'llama-3.3-70b', 'US'),
  chatKind('scaleway', 'llama-3.3-70b-instruct', 'FR'),
  chatKind('ovhcloud', 'Meta-Llama-3_3-70B-Instruct', 'FR'),
  chatKind('ionos', 'meta-llama/Llama-3.3-70B-Instruct', 'DE'),
  chatKind('nebius', 'meta-llama/Llama-3.3-70B-Instruct', 'GLOBAL'),
  { kind: 'custom', model: 'house-model', spec: { protocol: 'Custom', jurisdiction: 'LOCAL' }, path: CHAT_PATH },
  { kind: 'custom-messages', model: 'house-model', spec: { protocol: 'Messages', jurisdiction: 'LOCAL' } },
];

/** The resources that connect these kinds to a stand-in at `url` (no path), with an API key `key-of-<kind>`. */
export function kindResources(kinds: readonly ProviderKind[], url: string): object[] {
  return kinds.flatMap(({ kind, spec, path = CHAT_PATH, credential, models }) => {
    const { type = 'APIKey', secret = `key-of-${kind}` } = credential ?? {};
    const credentials = [{ name: 'key', type, secretKeyRef: { name: kind, key: 'key' } }];
    return [
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: kind, namespace: 'default' }, stringData: { key: secret } },
      resource('Provider', kind, {
        slug: kind,
        endpoint: { url: `${url}/${kind}${path}`, allowInsecure: true },
        credentials,
        ...(models && { models: models.map((id) => ({ id })) }),
        ...spec,
      }),
    ];
  });
}
