import { describe, expect, test } from 'vitest';
import { marked } from '../../../test/harness/marked-text.ts';
import { createScanner } from './scanner.ts';

const detection = createScanner();
const only = new Set(['IP_ADDRESS']);
const expectFinds = (source: string): void => {
  const { text, spans } = marked(source);
  expect(detection.find(text, only)).toEqual(spans);
};

describe('finds', () => {
  test.each([
    '‹IP_ADDRESS:93.184.216.34›',
    'from ‹IP_ADDRESS:8.8.8.8›.',
    '(‹IP_ADDRESS:192.168.1.17›)',
    '‹IP_ADDRESS:10.0.0.5›:8080',
    'http://‹IP_ADDRESS:93.184.216.34›/path',
    'ip=‹IP_ADDRESS:4.245.102.253› ok',
    'ip:‹IP_ADDRESS:1.2.3.4›:80',
    'root@‹IP_ADDRESS:172.16.5.4›',
    '‹IP_ADDRESS:10.1.0.0›/16',
    '‹IP_ADDRESS:10.0.0.1›-‹IP_ADDRESS:10.0.0.9›',
    '‹IP_ADDRESS:1.2.3.4›,‹IP_ADDRESS:5.6.7.8›',
    'log\\n‹IP_ADDRESS:1.2.3.4›',
    '"‹IP_ADDRESS:254.1.2.3›"',
    '‹IP_ADDRESS:9３.184.216.34›',
    '‹IP_ADDRESS:93.184.\u200b216.34›',
    '‹IP_ADDRESS:2a00:1450:4001:81b::200e›',
    '[‹IP_ADDRESS:2a00:1450:4001:81b::200e›]:443',
    '‹IP_ADDRESS:fe80::1%eth0›',
    '‹IP_ADDRESS:fd12:3456:789a:1::1›/64',
    '‹IP_ADDRESS:8926:9fa0:271d:cbc2:1d3c:edbb:82c6:a997›',
    'ip:‹IP_ADDRESS:2a00:1450:4001:81b::200e›',
    'source:‹IP_ADDRESS:fe80::1›',
    'at ‹IP_ADDRESS:2606:4700::6810:84e5›.',
    '‹IP_ADDRESS:::ffff:93.184.216.34›',
    '‹IP_ADDRESS:64:ff9b::93.184.216.34›',
    'src=‹IP_ADDRESS:FE80::A1B2:C3FF:FED4:E5F6›',
    '‹IP_ADDRESS:2a00:1450:4001:81b::200e›: timeout',
    'n\\n‹IP_ADDRESS:fe80::1›',
  ])('%s', expectFinds);
});

describe('finds none in', () => {
  test.each([
    '1.2.3.4.5',
    'v1.2.3.4',
    'V 1.2.3.4',
    'version 10.0.19.41',
    'Version: 1.2.3.4',
    'wersja 1.2.3.4',
    'release 5.2.3.4',
    'pkg==1.2.3.4',
    '>=1.2.3.4',
    '^1.2.3.4',
    '~1.2.3.4',
    '1.2.3.4-beta',
    '1.2.3.4+build',
    'libfoo-1.2.3.4.tar',
    'foo_1.2.3.4',
    'Mozilla/5.0 Chrome/120.0.0.0 Safari/537.36',
    'section 4.1.2.3',
    'Kapitel 3.2.1.4',
    '256.1.1.1',
    '1.2.3',
    '1.2.3.',
    '01.2.3.4',
    '1.2.3.456',
    'x1.2.3.4',
    '1.2.3.4x',
    '1.3.6.1.4.1.311',
    '127.0.0.1',
    '0.0.0.0',
    '255.255.255.0',
    '192.0.2.1 198.51.100.7 203.0.113.9',
    '2001:db8::1',
    '::1',
    '::',
    'std::vector<int> a::b Face::Bad dead::beef',
    'use crate::abc::def;',
    'Foo::Bar::baz()',
    'a::1',
    '12:30:45',
    '12:30:45.123',
    '00:1a:2b:3c:4d:5e',
    '00:11:22:33:44:55:66:77',
    'aa:bb:cc:dd:ee:ff:00:11:22:33:44:55:66:77:88:99',
    '2024-05-01T12:30:45Z',
    '{"a":1,"b":2}',
    'a:b:c:d:e:f:a:b',
    ':::::::',
    '2001::',
    'fe80::/10',
    'ratio 16:9',
    'C::D::E',
    '1:2:3:4:5:6:7:8',
  ])('%s', expectFinds);
});
