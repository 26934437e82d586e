// Prints the given names, surnames, cities, streets and companies' words of @faker-js/faker as JSON, by language.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const require = createRequire(resolve(process.argv[2], 'package.json'));
const { allLocales } = require('@faker-js/faker');

const texts = (value) => {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(texts);
  if (value && typeof value === 'object' && 'value' in value) return texts(value.value);
  return value && typeof value === 'object' ? Object.values(value).flatMap(texts) : [];
};
const plain = (list) =>
  [...new Set(list)].filter((text) => text.length > 1 && !text.includes('{{') && !text.includes('#'));

const lists = {};
for (const [locale, { person = {}, location = {} }] of Object.entries(allLocales)) {
  lists[locale] = {
    given: plain(texts(person.first_name ?? {})),
    surname: plain(texts(person.last_name ?? {})),
    city: plain(texts(location.city_name ?? [])),
    street: plain([...texts(location.street_name ?? []), ...texts(location.street_suffix ?? [])]),
    country: plain(texts(location.country ?? [])),
  };
}
console.log(JSON.stringify(lists));
