import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NotAJsonObject, readDocument, removeItems, removeMembers, render, setMember, setString } from './document.ts';
import { AmbiguousJson, member, scan, TooManyValues, valueOf, type JsonNode } from './scan.ts';

/** JSON text with every freedom of spelling: blanks, escapes, number forms, unknown members. */
const blank = fc.stringMatching(/^[ \t\n\r]{0,2}$/);
const stringSource = fc.oneof(
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
  fc.constantFrom('"\\u00e9\\ud83d\\ude00"', '"\\/"', '"\\\\\\""', '"😀 \u2028"', '"\\\\"', '""', '"«EMAIL_1»"'),
);
const numberSource = fc.oneof(
  fc.constantFrom('1.0', '9007199254740993123', '-0', '1e3', '1E-7', '0.10'),
  fc.integer().map(String),
);
const { tree: jsonSource } = fc.letrec<{ tree: string; object: string; array: string; leaf: string }>((tie) => ({
  leaf: fc.oneof(stringSource, numberSource, fc.constantFrom('true', 'false', 'null')),
  array: fc
    .tuple(blank, fc.array(fc.tuple(tie('tree'), blank), { maxLength: 4 }))
    .map(([space, items]) => `[${space}${items.map(([item, after]) => item + after).join(',' + space)}]`),
  object: fc
    .tuple(
      blank,
      fc.uniqueArray(
        fc.tuple(
          stringSource.filter((source) => !source.includes('\\')),
          tie('tree'),
          blank,
        ),
        { maxLength: 4, selector: ([key]) => JSON.parse(key) as string },
      ),
    )
    .map(
      ([space, members]) =>
        `{${space}${members.map(([key, value, b]) => `${key}${b}:${b}${value}${b}`).join(`,${space}`)}}`,
    ),
  tree: fc.oneof({ maxDepth: 4 }, tie('leaf'), tie('array'), tie('object')),
}));

describe('scan', () => {
  test('sees what JSON.parse sees, and every node covers exactly its source', () => {
    fc.assert(
      fc.property(jsonSource, (text) => {
        const visit = (node: JsonNode): void => {
          expect(JSON.parse(text.slice(node.start, node.end))).toEqual(valueOf(node));
          if (node.kind === 'array') node.items.forEach(visit);
          if (node.kind === 'object') for (const { value } of node.members) visit(value);
        };
        visit(scan(text));
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    '{"a":1,"a":2}',
    '{"x":{"a":1,"\\u0061":2}}',
    `{${Array.from({ length: 40 }, (_, index) => `"k${index}":0`).join()},"k3":1}`,
    '['.repeat(300) + ']'.repeat(300),
  ])('refuses what parsers could read differently: %s', (text) => {
    expect(() => scan(text)).toThrow(AmbiguousJson);
  });

  test('a name written with an escape is read as what it means, whatever the engine has seen before', () => {
    JSON.parse('{"q":"x","n":true}');
    JSON.parse('{"k":"x","\\\\":true}');
    for (const text of ['{"q":"x","\\n":true}', '{"k":"x","\\/":true}']) {
      const { body, root } = readDocument('chat', text);
      expect(Object.keys(body)).toEqual(root.members.map(({ key }) => key.value));
    }
    expect(Object.keys(readDocument('chat', '{"q":"x","\\n":true}').body)).toEqual(['q', '\n']);
    expect(Object.keys(readDocument('chat', '{"k":"x","\\/":true}').body)).toEqual(['k', '/']);
  });

  test('a key named __proto__ is a member like any other', () => {
    expect(member(scan('{"__proto__":"x"}'), '__proto__')).toMatchObject({ kind: 'string', value: 'x' });
  });

  test('reads hostile text in linear work', () => {
    const text = `{"a":"${'\\\\'.repeat(200_000)}","b":"${'\\"'.repeat(200_000)}"}`;
    expect(valueOf(scan(text))).toEqual(JSON.parse(text));
  });
});

describe('render', () => {
  test('without edits is the very same text', () => {
    const text = '{ "a" : 1.0 }';
    expect(render(text, [])).toBe(text);
  });

  test('changes the edited places and nothing else', () => {
    const text = '{"b":9007199254740993123, "model" : "p/m","a":{"x":1.0,"s":"\\u00e9"},"1":0}';
    const document = readDocument('chat', text);
    const inner = member(document.root, 'a')!;
    const edited = render(text, [
      setString(member(inner, 's')!, 'é«1»'),
      setString(member(document.root, 'model')!, 'm'),
    ]);
    expect(edited).toBe('{"b":9007199254740993123, "model" : "m","a":{"x":1.0,"s":"é«1»"},"1":0}');
  });

  test('refuses overlapping edits', () => {
    expect(() =>
      render('abcdef', [
        { start: 0, end: 3, text: '' },
        { start: 2, end: 4, text: '' },
      ]),
    ).toThrow(RangeError);
    expect(() =>
      render('abcdef', [
        { start: 0, end: 4, text: 'x' },
        { start: 1, end: 2, text: 'y' },
      ]),
    ).toThrow(RangeError);
  });

  test('a removal takes the edits inside it with it, and no others', () => {
    const inside = [
      { start: 1, end: 5, text: '' },
      { start: 1, end: 2, text: 'x' },
      { start: 3, end: 3, text: 'y' },
      { start: 4, end: 5, text: '' },
    ];
    const around = [
      { start: 1, end: 1, text: '<' },
      { start: 5, end: 5, text: '>' },
      { start: 5, end: 6, text: 'F' },
    ];
    expect(render('abcdef', [...around, ...inside])).toBe('a<>F');
  });
});

describe('members', () => {
  test('removing any set of members leaves valid JSON with the others as they were', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }), blank, (removed, space) => {
        const names = removed.map((_, index) => `m${index}`);
        const text = `{${space}${names.map((name, index) => `"${name}"${space}:${space}${index}.0`).join(`${space},${space}`)}${space}}`;
        const { root } = readDocument('chat', text);
        const result = render(
          text,
          removeMembers(root, (key) => removed[names.indexOf(key.value)]!),
        );
        const kept = names.filter((_, index) => !removed[index]);
        expect(Object.keys(JSON.parse(result) as object)).toEqual(kept);
        for (const name of kept) expect(result).toContain(`${names.indexOf(name)}.0`);
      }),
    );
  });

  test('removing items keeps what is left valid and exact', () => {
    const removals = fc.array(fc.boolean(), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(removals, blank, (removed, space) => {
        const text = `{"k":[${space}${removed.map((_, index) => `${index}.0${space}`).join(`,${space}`)}]}`;
        const { root } = readDocument('chat', text);
        const array = member(root, 'k');
        if (array?.kind !== 'array') throw new TypeError('k is an array');
        const result = render(
          text,
          removeItems(array, (item) => removed[array.items.indexOf(item)] === true),
        );
        const kept = removed.flatMap((gone, index) => (gone ? [] : index));
        expect(JSON.parse(result)).toEqual({ k: kept });
        for (const index of kept) expect(result).toContain(`${index}.0`);
      }),
    );
  });

  test.each([
    ['{}', '{"k":1}'],
    ['{"a":2}', '{"a":2,"k":1}'],
    ['{"k" : {"x":[]} ,"a":2}', '{"k" : 1 ,"a":2}'],
  ])('sets a member of %s', (text, expected) => {
    expect(render(text, [setMember(readDocument('chat', text).root, 'k', '1')])).toBe(expected);
  });

  test('setting and removing at the same place do not collide', () => {
    const text = '{"a":1,"gw":{}}';
    const { root } = readDocument('chat', text);
    const edits = [...removeMembers(root, (key) => key.value === 'gw'), setMember(root, 'k', '2')];
    expect(JSON.parse(render(text, edits))).toEqual({ a: 1, k: 2 });
  });
});

test('a text of nothing but tiny values is refused before it fills the memory', () => {
  expect(() => readDocument('chat', `{"a":[${'0,'.repeat(300_000)}0]}`)).toThrow(TooManyValues);
  expect(() => readDocument('chat', `{"a":[${'0,'.repeat(2_100_000)}0]}`)).toThrow(TooManyValues);
  const nested = (open: string, close: string) => `{"a":${open.repeat(1_100_000)}0${close.repeat(1_100_000)}}`;
  expect(() => readDocument('chat', nested('[[', ']]'))).toThrow(TooManyValues);
  expect(() => readDocument('chat', nested('[{"":', '}]'))).toThrow(TooManyValues);
});

test.each(['', '[]', '"x"', '{', 'null', '{"a":}'])('%j is not a document', (text) => {
  expect(() => readDocument('chat', text)).toThrow(NotAJsonObject);
});
