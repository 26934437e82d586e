import { ENTITIES, FINDABLE_ENTITIES, toCategory } from '../../src/values/entities.ts';
import { createDetectors } from '../../src/inspect/detectors/list.ts';
import { page, table } from './page.ts';

const EVIDENCE = {
  checked: 'check digits',
  shaped: 'shape, or words near it',
  weak: 'digits with words or groups; gives way to a checked find',
};

/** Which kinds of personal data are found, by what, with an example of each. */
export function detectorsPage(): string {
  const listed = createDetectors().map(({ category, evidence, meaning, examples, kinds }) => ({
    category,
    evidence: EVIDENCE[evidence],
    meaning,
    examples: examples.map((example) => `\`${example}\``).join('<br>'),
    kinds,
  }));
  const rows = FINDABLE_ENTITIES.flatMap((entity) => {
    const own = listed.filter(({ category }) => category === toCategory(entity));
    if (own.length === 0)
      return [[`\`${entity}\``, 'The model of names finds it, where policy names it.', 'model', '']];
    return own.map(({ meaning, evidence, examples }) => [`\`${entity}\``, meaning, evidence, examples]);
  });
  const numbers = listed.flatMap(({ category, kinds }) => {
    return kinds ? [`### ${category}\n\n${kinds.map((kind) => `\`${kind}\``).join(', ')}`] : [];
  });
  const unfound = ENTITIES.filter((entity) => !(FINDABLE_ENTITIES as readonly string[]).includes(entity));
  return page(
    'Detectors',
    'src/inspect/detectors',
    'The kinds of personal data that policies (`dlp.entities`) and requests name, and what finds each. Tags, rows and metrics ' +
      'name a kind in capitals: `EMAIL`. In the examples ‹ and › enclose what the detector finds.',
    table(['entity', 'finds', 'by', 'examples'], rows),
    `${unfound.map((entity) => `\`${entity}\``).join(', ')}: a name that configurations may use, but nothing looks for it.`,
    '## Kinds of numbers\n\nCountry and name of each number that is told by its own check digits.',
    ...numbers,
  );
}
