import { expect, test } from 'vitest';
import type { OrganizationConfig } from '#/config/snapshot.ts';
import { hostedId } from './hosted-id.ts';

function organization(
  slugs: readonly (readonly [slug: string, vendor: string])[],
  preferred?: string,
): OrganizationConfig {
  return {
    providers: new Map(slugs.map(([slug, vendor]) => [slug, { slug, vendor }])),
    aliases: new Map([['gw/best', {}]]),
    ...(preferred !== undefined && { messagesDefaultProvider: preferred }),
  } as unknown as OrganizationConfig;
}

const TWO = [
  ['bedrock-us', 'bedrock'],
  ['bedrock-eu', 'bedrock'],
  ['anthropic', 'anthropic'],
] as const;
const ARN = 'arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-sonnet-5';

test.each([
  ['gw/best', 'gw/best'],
  ['gw/none', 'gw/none'],
  ['anthropic/claude-sonnet-5', 'anthropic/claude-sonnet-5'],
  ['us.anthropic.claude-sonnet-5', 'bedrock-eu/us.anthropic.claude-sonnet-5'],
  [ARN, `bedrock-eu/${ARN}`],
])('%s is %s', (model, id) => {
  expect(hostedId(model, 'bedrock', organization(TWO))).toBe(id);
});

test("the organization's default provider goes first where it is on that cloud", () => {
  expect(hostedId('m', 'bedrock', organization(TWO, 'bedrock-us'))).toBe('bedrock-us/m');
  expect(hostedId('m', 'bedrock', organization(TWO, 'anthropic'))).toBe('bedrock-eu/m');
});

test('then the one of the plain name, then whatever is there, then nobody', () => {
  expect(hostedId('m', 'bedrock', organization([...TWO, ['bedrock', 'bedrock']]))).toBe('bedrock/m');
  expect(hostedId('m', 'vertex', organization([['google', 'vertex']]))).toBe('google/m');
  expect(hostedId('m', 'vertex', organization(TWO))).toBe('vertex/m');
});
