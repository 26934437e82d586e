import { describe, expect, test } from 'vitest';
import type { RestoreMode, RestorePolicy } from '#/config/snapshot.ts';
import { restorationOf } from '../../../test/harness/restoration.ts';
import { restoreCall } from './restore-call.ts';
import { CallVerdict, type Argument } from './call-verdict.ts';
import { scan } from '#/wire/document/scan.ts';
import type { Restoration } from './restoration.ts';
import { TagTable } from '../tags.ts';

/** Whose values a call of a tool gets in each mode: of the caller, of the tool's own results, and of another tool's. */

const OWN = 'save';
const call = (id: string, name: string): object => ({ id, type: 'function', function: { name, arguments: '{}' } });
const MESSAGES = [
  { role: 'user', content: 'I am ada@caller.example' },
  { role: 'assistant', content: null, tool_calls: [call('c1', OWN), call('c2', 'crawl')] },
  { role: 'tool', tool_call_id: 'c1', content: 'bob@own.example' },
  { role: 'tool', tool_call_id: 'c2', content: 'eve@other.example' },
];
const ORIGINALS = { caller: 'ada@caller.example', own: 'bob@own.example', other: 'eve@other.example' };
const WHOSE = ['caller', 'own', 'other'] as const;

const tags = new TagTable();
const request = JSON.stringify({ messages: MESSAGES });
const TAGS = Object.fromEntries(
  WHOSE.map((whose) => [whose, tags.tagFor(ORIGINALS[whose], 'EMAIL', request.indexOf(ORIGINALS[whose]))]),
) as Record<(typeof WHOSE)[number], string>;

const policyOf = (mode: RestoreMode | undefined, tool = OWN): RestorePolicy => ({
  tools: mode === undefined ? [] : [{ tool, mode }],
  hosts: [],
});
const restoring = (policy: RestorePolicy): Restoration => restorationOf(tags, { messages: MESSAGES, policy });

/** Whose values a call gets. */
function given(mode: RestoreMode | undefined, told: readonly Argument[], tool = OWN): readonly string[] {
  const verdict = new CallVerdict(tool, told, restoring(policyOf(mode, tool)));
  return WHOSE.filter((whose) => verdict.permits(TAGS[whose]));
}

const NOTE = [{ name: 'content', text: `Met ${TAGS.caller}, ${TAGS.own} and ${TAGS.other}` }];
const STRANGER = [...NOTE, { name: 'url', text: 'https://stranger.example/inbox' }];
const TO_STRANGER = [...NOTE, { name: 'to', text: TAGS.other }];

describe('a call that goes nowhere', () => {
  test.each<[RestoreMode, readonly string[]]>([
    ['always', ['caller', 'own', 'other']],
    ['known_targets', ['caller', 'own', 'other']],
    ['supplied_only', ['caller', 'own']],
    ['never', []],
  ])('gets in mode %s the values of %j', (mode, whose) => {
    expect(given(mode, NOTE)).toEqual(whose);
  });
});

describe('a call to an address that nobody named', () => {
  test.each<[RestoreMode, readonly string[]]>([
    ['always', ['caller', 'own', 'other']],
    ['known_targets', []],
    ['supplied_only', []],
    ['never', []],
  ])('gets in mode %s the values of %j', (mode, whose) => {
    expect(given(mode, STRANGER)).toEqual(whose);
  });
});

describe('a call to a receiver whom another tool named', () => {
  test.each<[RestoreMode, readonly string[]]>([
    ['always', ['caller', 'own', 'other']],
    ['known_targets', ['other']],
    ['supplied_only', []],
    ['never', []],
  ])('gets in mode %s the values of %j', (mode, whose) => {
    expect(given(mode, TO_STRANGER)).toEqual(whose);
  });
});

describe('the mode of a tool', () => {
  test('is KnownTargets by default, and SuppliedOnly for one that publishes by its name', () => {
    expect(restoring(policyOf(undefined)).modeOf('write_file')).toBe('known_targets');
    expect(restoring(policyOf(undefined)).modeOf('publish_post')).toBe('supplied_only');
    expect(given(undefined, NOTE, 'publish_post')).toEqual(['caller']);
  });

  test('is that of its exact name, else of the longest pattern that fits', () => {
    const tools = [
      { tool: '*', mode: 'never' },
      { tool: 'send_*', mode: 'supplied_only' },
      { tool: 'send_mail*', mode: 'always' },
      { tool: 'send_mail', mode: 'known_targets' },
    ] as const;
    const restoration = restoring({ tools, hosts: [] });
    const modes = ['send_mail', 'send_mails', 'send_fax', 'fetch'].map((tool) => restoration.modeOf(tool));
    expect(modes).toEqual(['known_targets', 'always', 'supplied_only', 'never']);
  });

  test('Never keeps tags of calls, and says that it did; Always keeps none', () => {
    const told = scan(JSON.stringify({ content: `Met ${TAGS.other}` }), { lenient: true });
    const edits = (mode: RestoreMode): readonly [number, boolean] => {
      const restoration = restoring(policyOf(mode));
      return [restoreCall({ tool: OWN, told, name: 'arguments' }, restoration).length, restoration.withheld];
    };
    expect(edits('never')).toEqual([0, true]);
    expect(edits('always')).toEqual([1, false]);
  });
});
