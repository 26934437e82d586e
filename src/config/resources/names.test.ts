import { expect, test } from 'vitest';
import { SPELLINGS, toResource, toSnapshot, type Enumeration } from './names.ts';

test('the two spellings of every value lead to each other', () => {
  for (const enumeration of Object.keys(SPELLINGS) as Enumeration[]) {
    for (const [resource, snapshot] of Object.entries(SPELLINGS[enumeration])) {
      expect(toSnapshot(enumeration, resource as never)).toBe(snapshot);
      expect(toResource(enumeration, snapshot as never)).toBe(resource);
    }
  }
  expect(toResource('credentialType', 'aws_sigv4')).toBe('AWSSigV4');
  expect(toSnapshot('dlpMode', 'AllowLog')).toBe('allow_log');
});

test('a value that is not in the table is refused', () => {
  expect(() => toResource('dlpMode', 'allowlog' as never)).toThrow(RangeError);
});
