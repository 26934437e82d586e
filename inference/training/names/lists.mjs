// Prints what @faker-js/faker knows of names, places and how streets and firms are called as JSON, by language.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const require = createRequire(resolve(process.argv[2], 'package.json'));
const { allLocales, Faker } = require('@faker-js/faker');
const SEED = 20261121;
// Whose streets are in letters that the model may be shown.
const LETTERS = /^[\p{Script=Latin}\p{Script=Greek}\p{N}\p{P}\p{Z}]+$/u;

const texts = (value) => {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(texts);
  if (value && typeof value === 'object' && 'value' in value) return texts(value.value);
  return value && typeof value === 'object' ? Object.values(value).flatMap(texts) : [];
};
const plain = (list) =>
  [...new Set(list)].filter((text) => text.length > 1 && !text.includes('{{') && !text.includes('#'));
const sampled = (count, make) => {
  const made = new Set();
  for (let at = 0; at < count; at += 1) made.add(make());
  return [...made].filter((text) => text && LETTERS.test(text));
};

const lists = {};
for (const [locale, own] of Object.entries(allLocales)) {
  const { person = {}, location = {}, company = {} } = own;
  const language = allLocales[locale.split('_')[0]] ?? {};
  const faker = new Faker({ locale: [own, language, allLocales.en, allLocales.base] });
  faker.seed(SEED);
  const hasStreets = Boolean(location.street_name ?? location.street_pattern);
  const hasFirms = Boolean(company.name_pattern ?? company.legal_entity_type) || locale.startsWith('en');
  const written = location.street_address?.normal ?? language.location?.street_address?.normal ?? '';
  lists[locale] = {
    given: plain(texts(person.first_name ?? {})),
    surname: plain(texts(person.last_name ?? {})),
    city: plain(texts(location.city_name ?? [])),
    street: plain([...texts(location.street_name ?? []), ...texts(location.street_suffix ?? [])]),
    country: plain(texts(location.country ?? [])),
    state: plain(texts(location.state ?? [])),
    abbreviated: plain(texts(location.state_abbr ?? [])),
    // How a street is written where the house stands before it, and what numbers and codes look like: # is a digit.
    numberFirst: written.startsWith('{{location.buildingNumber}}'),
    building: texts(location.building_number ?? language.location?.building_number ?? ['#', '##', '###']),
    unit: texts(location.secondary_address ?? language.location?.secondary_address ?? []),
    code: texts(location.postcode ?? language.location?.postcode ?? []),
    town: hasStreets ? sampled(150, () => faker.location.city()) : [],
    road: hasStreets ? sampled(300, () => faker.location.street()) : [],
    firm: hasFirms ? sampled(300, () => faker.company.name()) : [],
  };
}
console.log(JSON.stringify(lists));
