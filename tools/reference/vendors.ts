import { GROUPS } from '../../src/values/places.ts';
import { toResource } from '../../src/config/resources/names.ts';
import { VENDOR_IDS, VENDORS } from '../../src/vendors/list.ts';
import { homeOf, isCompatible, type CredentialType, type Vendor } from '../../src/vendors/vendor.ts';
import { page, table } from './page.ts';

const SAMPLES = 'k8s/samples/providers';
const LISTED: readonly Vendor[] = VENDOR_IDS.map((id) => VENDORS[id]);

/** Every vendor: how it is asked and reached, where it processes data, what it takes. */
export function vendorsPage(): string {
  const rows = LISTED.map((vendor) => [
    `\`${vendor.id}\``,
    vendor.name,
    codes(vendor.families),
    vendor.address === undefined ? 'of the customer' : `\`${vendor.address}\``,
    hostsOf(vendor),
    codes(vendor.credentials.map((type) => toResource('credentialType', type))),
    `\`${toResource('promptCache', vendor.promptCache)}\``,
    vendor.environment === undefined ? '' : `\`${vendor.environment}\``,
  ]);
  const prices = LISTED.map(({ id, prices: { bundled, litellm, modelsDev } }) => [
    `\`${id}\``,
    bundled === undefined ? '' : `\`${bundled}\``,
    codes(litellm.map(([name]) => name)),
    codes(modelsDev),
  ]);
  const compatible = LISTED.filter((vendor) => vendor.id !== 'custom' && isCompatible(vendor)).map(({ id }) => id);
  return page(
    'Vendors',
    'src/vendors',
    'A `Provider` whose `vendor`, or else whose `slug`, is one of these ids needs neither a protocol nor, where the vendor has ' +
      `one, an address. Samples: [${SAMPLES}](../../${SAMPLES}). Any other server that speaks a protocol is \`custom\`.`,
    table(['vendor', 'name', 'families', 'address', 'where', 'credentials', 'prompt cache', '`make run` reads'], rows),
    'The first family is the one that requests of other formats are translated to. `where` is where the hosts of the vendor ' +
      'process data, and a `Provider` must not declare anything else of them. `by region`: the region in the address or in the ' +
      '`Provider` decides. Of any other host, what the `Provider` declares is taken as true.',
    `These speak OpenAI's families at OpenAI's paths: ${codes(compatible)}.`,
    '## Names in price lists\n\nWhat each vendor is called in the list of this build, and in files that `gwctl` reads.',
    table(['vendor', 'genai-prices', 'LiteLLM', 'models.dev'], prices),
  );
}

function codes(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(', ');
}

function hostsOf({ hosts }: Vendor): string {
  if (hosts === 'of its customers') return 'as declared';
  if (typeof hosts === 'function') return 'by region';
  return Object.entries(hosts)
    .map(([host, place]) => `${place}: \`${host}\``)
    .join('<br>');
}

interface SampleFile {
  readonly file: string;
  readonly secret: string;
  readonly about: string;
  readonly holds: (jurisdiction: string) => boolean;
}

const inEu = (jurisdiction: string): boolean => jurisdiction === 'EU' || GROUPS['EU']!.includes(jurisdiction);

const SAMPLE_FILES: readonly SampleFile[] = [
  {
    file: 'eu.yaml',
    secret: 'providers-eu',
    about:
      '# Providers that process data in the EU. Copy what you use, and keep the keys in your own Secrets.\n' +
      '# The id of a vendor as the slug sets the vendor and its address.',
    holds: inEu,
  },
  {
    file: 'elsewhere.yaml',
    secret: 'providers-elsewhere',
    about: '# Providers outside the EU. A residency policy that allows only the EU keeps requests away from them.',
    holds: (jurisdiction) => !inEu(jurisdiction),
  },
];

/** What stands in a Secret for a credential of each type. */
const SECRETS: Readonly<Record<CredentialType, string>> = {
  api_key: 'replace-me',
  aws_sigv4: `'{"accessKeyId":"replace-me","secretAccessKey":"replace-me"}'`,
  azure_ad: `'{"tenantId":"replace-me","clientId":"replace-me","clientSecret":"replace-me"}'`,
  gcp_service_account: `'{"type":"service_account","client_email":"gw@project.iam.gserviceaccount.com","private_key":"replace-me","token_uri":"https://oauth2.googleapis.com/token"}'`,
};

/** The samples of all vendors by their paths from the repository's root. Throws where a vendor's sample says no jurisdiction. */
export function vendorSamples(): ReadonlyMap<string, string> {
  return new Map(
    SAMPLE_FILES.map(({ file, secret, about, holds }) => {
      const vendors = LISTED.filter((vendor) => holds(jurisdictionOf(vendor)));
      const keys = vendors.map((vendor) => `  ${slugOf(vendor)}: ${SECRETS[vendor.credentials[0]]}`);
      const head = [
        '# Written by `make docs` from src/vendors.',
        about,
        ...['apiVersion: v1', 'kind: Secret', 'metadata:', `  name: ${secret}`],
        ...['type: gatewarden.dev/credentials # in a cluster, only Secrets of this type are read', 'stringData:'],
      ];
      const documents = vendors.map((vendor) => resourceOf(vendor, secret).join('\n'));
      return [`${SAMPLES}/${file}`, `${[[...head, ...keys].join('\n'), ...documents].join('\n---\n')}\n`];
    }),
  );
}

function resourceOf(vendor: Vendor, secret: string): readonly string[] {
  const { comment = [], before = [], after = [] } = vendor.sample;
  const slug = slugOf(vendor);
  const type = toResource('credentialType', vendor.credentials[0]);
  return [
    ...comment.map((line) => `# ${line}`),
    ...['apiVersion: gatewarden.dev/v1alpha1', 'kind: Provider', 'metadata:', `  name: ${slug}`, 'spec:'],
    ...[
      `slug: ${slug}`,
      ...before,
      `jurisdiction: ${jurisdictionOf(vendor)}`,
      `credentials: [{ name: main, type: ${type}, secretKeyRef: { name: ${secret}, key: ${slug} } }]`,
      ...after,
    ].map((line) => `  ${line}`),
  ];
}

function slugOf({ id, sample }: Vendor): string {
  return sample.slug ?? id;
}

function jurisdictionOf(vendor: Vendor): string {
  const jurisdiction = vendor.sample.jurisdiction ?? homeOf(vendor);
  if (jurisdiction === undefined) throw new Error(`src/vendors/${vendor.id}.ts: the sample needs a jurisdiction`);
  return jurisdiction;
}
