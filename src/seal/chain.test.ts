import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { genesis, link } from './chain.ts';

describe('link', () => {
  const sha256 = (...parts: (string | Buffer)[]) => {
    const digest = createHash('sha256');
    for (const part of parts) digest.update(part);
    return digest.digest();
  };

  test('is SHA-256(previous || SHA-256(row)), from the genesis of the strand', () => {
    const strand = '0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee';
    const first = sha256(`gatewarden strand v1\n${strand}`);
    expect(genesis(strand)).toBe(first.toString('hex'));
    const second = sha256(first, sha256('{"a":"ü"}'));
    expect(link(genesis(strand), '{"a":"ü"}')).toBe(second.toString('hex'));
  });

  test.each(['', 'ab', 'g'.repeat(64), `${'a'.repeat(63)}g`, 'a'.repeat(66)])(
    'refuses %j as a previous link',
    (bad) => {
      expect(() => link(bad, '{}')).toThrow(RangeError);
    },
  );
});
