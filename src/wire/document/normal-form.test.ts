import { describe, expect, test } from 'vitest';
import { readDocument, type Family } from './document.ts';
import { normalForm } from './normal-form.ts';

const form = (family: Family, text: string) => normalForm(readDocument(family, text));

describe('the same request', () => {
  test.each([
    ['blanks and order', '{"a":1,"b":[1,2]}', '{ "b" : [ 1 , 2 ],\n"a":1 }'],
    ['escapes', '{"a":"\\u00e9\\/\\u0041"}', '{"a":"é/A"}'],
    ['escaped names', '{"\\u0061":1}', '{"a":1}'],
    ['numbers', '{"a":1.0,"b":1e2,"c":0.5}', '{"a":1,"b":100,"c":0.50}'],
    ['delivery', '{"a":1}', '{"a":1,"stream":true,"stream_options":{"include_usage":true}}'],
    ['tracing', '{"a":1}', '{"a":1,"user":"u","metadata":{"k":"v"},"prompt_cache_key":"p","safety_identifier":"s"}'],
  ])('%s', (_name, one, other) => {
    expect(form('chat', one)).toBe(form('chat', other));
  });
});

describe('another request', () => {
  test.each([
    ['order of a list', '{"a":[1,2]}', '{"a":[2,1]}'],
    ['text or number', '{"a":"1"}', '{"a":1}'],
    ['null or nothing', '{"a":null}', '{}'],
    ['numbers that doubles confuse', '{"a":9007199254740992}', '{"a":9007199254740993}'],
    ['numbers too large', '{"a":1e999}', '{"a":2e999}'],
    ['a member deep inside that only looks like tracing', '{"a":{"user":"x"}}', '{"a":{"user":"y"}}'],
    ['a tier', '{"service_tier":"flex"}', '{}'],
  ])('%s', (_name, one, other) => {
    expect(form('chat', one)).not.toBe(form('chat', other));
  });

  test('where answers repeat what was asked', () => {
    expect(form('responses', '{"metadata":{"k":"v"}}')).not.toBe(form('responses', '{}'));
    expect(form('responses', '{"user":"u"}')).not.toBe(form('responses', '{}'));
  });
});

describe('more than its text', () => {
  test.each<[Family, string, boolean]>([
    ['chat', '{"tools":[{"type":"function","function":{"name":"f"}},{"type":"custom"}]}', true],
    ['chat', '{"tools":[{"type":"web_search"}]}', false],
    ['chat', '{"web_search_options":{}}', false],
    ['chat', '{"store":true}', false],
    ['chat', '{"store":false}', true],
    ['messages', '{"tools":[{"name":"f","input_schema":{}},{"type":"custom","name":"g"}]}', true],
    ['messages', '{"tools":[{"type":"web_search_20250305","name":"web_search"}]}', false],
    ['messages', '{"container":"c"}', false],
    ['responses', '{"tools":[{"type":"function","name":"f"}]}', true],
    ['responses', '{"tools":[{"type":"mcp"}]}', false],
    ['responses', '{"conversation":"c"}', false],
    ['responses', '{"previous_response_id":"r"}', false],
    ['responses', '{"mcp_servers":[]}', false],
    ['chat', '{"mcp_servers":[]}', false],
    ['responses', '{"background":true}', false],
    ['gemini', '{"tools":[{"functionDeclarations":[]}]}', true],
    ['gemini', '{"tools":[{"functionDeclarations":[]},{"googleSearch":{}}]}', false],
    ['gemini', '{"cachedContent":"c"}', false],
    ['converse', '{"toolConfig":{"tools":[{"toolSpec":{}},{"cachePoint":{}}]}}', true],
    ['converse', '{"toolConfig":{"tools":[{"systemTool":{}}]}}', false],
    ['images', '{"prompt":"p"}', false],
    ['passthrough', '{}', false],
    ['embeddings', '{"input":"i"}', true],
  ])('%s %s: %s', (family, text, known) => {
    expect(form(family, text) !== undefined).toBe(known);
  });
});
