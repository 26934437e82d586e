import { describe, expect, test } from 'vitest';
import { marked } from '../../../test/harness/marked-text.ts';
import { createScanner } from './scanner.ts';

const detection = createScanner();
const only = new Set(['EMAIL']);
const expectFinds = (source: string): void => {
  const { text, spans } = marked(source);
  expect(detection.find(text, only)).toEqual(spans);
};

describe('finds', () => {
  test.each([
    '‹EMAIL:ada@example.com›',
    'Write to ‹EMAIL:ada.lovelace@example.com›.',
    '<‹EMAIL:ada@example.com›>, (‹EMAIL:bob@example.org›); "‹EMAIL:c@d.eu›"!',
    'mailto:‹EMAIL:ada@example.com›?subject=x',
    'email=‹EMAIL:ada@example.com›&next=1',
    'https://x.example/unsubscribe?u=‹EMAIL:ada@example.com›',
    'https://x.example?u=‹EMAIL:ada@example.com›',
    'plus tag ‹EMAIL:ada+news.2024@mail.sub.example.co.uk›,',
    '‹EMAIL:_x-y.z%w@example.museum›',
    "‹EMAIL:o'brien@example.ie› and 'x','‹EMAIL:ada@example.com›'",
    "from'+'‹EMAIL:ada@example.com›",
    '‹EMAIL:1234567890@example.com›',
    '‹EMAIL:a@b.co›',
    '‹EMAIL:"ada lovelace"@example.com›',
    '‹EMAIL:用户@例子.公司›',
    '‹EMAIL:иван.петров@почта.рф›',
    '‹EMAIL:müller@bücher.example›',
    '‹EMAIL:ada@xn--bcher-kva.xn--p1ai›',
    '‹EMAIL:𠮷田@example.jp›',
    '我的邮箱是‹EMAIL:john@example.com›谢谢',
    '메일은 ‹EMAIL:john@example.com›으로',
    'ティム‹EMAIL:tim@example.jp›まで',
    '😀‹EMAIL:ada@example.com›😀',
    '…‹EMAIL:ada@example.com›…',
    '--‹EMAIL:ada@example.com›--',
    '‹EMAIL:ada@example.com›_backup',
    '‹EMAIL:ada@example.com›.2024',
    'Reply to ‹EMAIL:ada@example.com›.Thanks!',
    '‹EMAIL:ada@example.com›-thanks and ‹EMAIL:bob@mail.example.de›-2',
    'user_‹EMAIL:ada@example.com›2024'.replace('user_‹EMAIL:', '‹EMAIL:user_'),
    '‹EMAIL:ada@my-shop.co-op.example.com›',
    'a@b ‹EMAIL:c@example.com›',
    'x@‹EMAIL:y@example.com›',
    '‹EMAIL:a@example.com›,‹EMAIL:b@example.com›;‹EMAIL:c@example.com›',
    '‹EMAIL:a@example.com›\u0000‹EMAIL:b@example.com›',
    '‹EMAIL:a@example.com›\n‹EMAIL:b@example.com›',
    '{\\"to\\":\\"‹EMAIL:ada@example.com›\\"}',
    'line\\r\\n‹EMAIL:ada@example.com›\\n',
    'q=%20‹EMAIL:ada@example.com›',
    '‹EMAIL:bounce+ada=example.org@lists.example.com›',
    'user=‹EMAIL:ada@example.com›',
    'ssh deploy and git@github.com:org/repo.git but ‹EMAIL:git@example.com›',
    '‹EMAIL:ada@example.com›(work)',
    '‹EMAIL:1234+ada@users.noreply.github.com› and ‹EMAIL:noreply.ada@corp.de›',
    '\ud800‹EMAIL:ada@example.com›\udc00',
  ])('%s', expectFinds);

  test('a local part of any length, at least its end', () => {
    const text = `${'a'.repeat(5000)}@example.com`;
    const [span] = detection.find(text, only);
    expect(span?.end).toBe(text.length);
    expect(text.length - (span?.start ?? 0)).toBeGreaterThan(254);
  });
});

describe('finds none in', () => {
  test.each([
    'Co-Authored-By: Claude <noreply@anthropic.com>, sent by no-reply@shop.de and Do_Not_Reply@bank.fr',
    'follow @mention and @other.person today',
    'npm i @scope/pkg @types/node@24.0.1 lodash@4.17.21 next@15.0.0-canary.abc',
    'user@localhost root@server ada@',
    '@example.com',
    'a @ b.com',
    'ada@example',
    'ada@example.c',
    'ada@192.168.0.1',
    'ada@-',
    'src="icon@2x.png" srcset="hero@3x.webp"',
    'scores = q@k.transpose(-2, -1)',
    'this@MainActivity.finish()',
    '@app.route("/") @pytest.mark.parametrize("a", [1])',
    'git@github.com:org/repo.git ssh://git@github.com/org/repo',
    'postgres://app:s3cr%t@db.example.com:5432/app',
    'https://user:pa#ss?x@host.example.com/',
    'image@sha256:3854edd3aae7ed5e15ff034d16017fbce66869b7bb71fcb447fc135c396aff26',
    'feature@v1.2.beta',
    '"@context": "https://schema.org"',
    'case "qwik": return "@builder.example/x"; ["a", "@b.example"]',
    '\\n@x.com',
    'clip@host.mp4 lib@next.js2 ada@corp.x-ray',
  ])('%s', expectFinds);
});
