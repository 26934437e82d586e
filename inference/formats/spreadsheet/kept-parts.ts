import { keptPart, type KeptParts } from '../ooxml/write-package.ts';

const OFFICE = 'application/vnd.openxmlformats-officedocument';
const SHEET = `${OFFICE}.spreadsheetml`;
const WORKBOOK = { path: 'xl/workbook.xml', type: `${SHEET}.sheet.main+xml` };

/**
 * Parts of a workbook that its anonymized copy has; all others are left out: comments with their authors, pivot tables and
 * their caches, tables, links to other files, connections, properties. Cells hold their own texts: none are shared.
 */
export const KEPT: KeptParts = {
  ...keptPart(WORKBOOK.type, WORKBOOK.path),
  'vnd.openxmlformats-officedocument.spreadsheetml.template.main+xml': WORKBOOK,
  ...keptPart(`${SHEET}.worksheet+xml`, 'xl/worksheets/sheet#.xml'),
  ...keptPart(`${SHEET}.chartsheet+xml`, 'xl/chartsheets/sheet#.xml'),
  ...keptPart(`${SHEET}.styles+xml`, 'xl/styles#.xml'),
  ...keptPart(`${OFFICE}.theme+xml`, 'xl/theme/theme#.xml'),
  ...keptPart(`${OFFICE}.drawing+xml`, 'xl/drawings/drawing#.xml'),
  ...keptPart(`${OFFICE}.drawingml.chart+xml`, 'xl/charts/chart#.xml'),
};

/** Kinds of parts of which a reader sees the text, besides cells. */
export const SHOWN = /officedocument\.drawing\+xml$|drawingml\.chart\+xml$/;
