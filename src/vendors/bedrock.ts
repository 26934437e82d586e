import type { Vendor } from './vendor.ts';

/** The region that one of Bedrock's own hosts names. */
const REGION_IN_HOST = /^bedrock-(?:runtime|mantle)(?:-fips)?\.([a-z0-9-]+)\.(?:amazonaws\.|api\.aws)/;

/** Amazon Bedrock: every model in the converse family, Claude in its own one too. // wire-formats 1.1 */
export const bedrock: Vendor<'bedrock'> = {
  id: 'bedrock',
  name: 'Amazon Bedrock',
  protocol: 'converse',
  families: ['converse', 'messages', 'embeddings'],
  address: 'https://bedrock-runtime.{region}.amazonaws.com',
  addressIn(region) {
    if (region.startsWith('cn-')) return `https://bedrock-runtime.${region}.amazonaws.com.cn`;
    return region.startsWith('eusc-') ? `https://bedrock-runtime.${region}.amazonaws.eu` : undefined;
  },
  regional: true,
  hosts: (host) => REGION_IN_HOST.exec(host)?.[1],
  credentials: ['aws_sigv4', 'api_key'],
  promptCache: 'cache_point',
  traits: {
    remoteMedia: false,
    audio: false,
    documents: true,
    midSystem: false,
    prefill: false,
    json: 'tool',
    // Converse itself takes no higher one, whichever the model.
    maxTemperature: 1,
  },
  prices: {
    bundled: 'aws',
    litellm: [
      ['bedrock_converse', ''],
      ['bedrock', ''],
    ],
    modelsDev: ['amazon-bedrock'],
  },
  sample: {
    comment: [
      'Models behind an EU inference profile stay in the EU; those behind a global. profile do not, and the gateway knows it.',
    ],
    jurisdiction: 'EU',
    before: ['region: eu-central-1'],
    after: [
      'models:',
      '  - { id: claude-sonnet-4-5, upstreamId: eu.anthropic.claude-sonnet-4-5-20250929-v1:0 }',
      '  - { id: nova-2-lite, upstreamId: eu.amazon.nova-2-lite-v1:0 }',
    ],
  },
};
