import type { KeptParts } from '../ooxml/write-package.ts';

const OFFICE = 'application/vnd.openxmlformats-officedocument';
const SHEET = `${OFFICE}.spreadsheetml`;
const WORKBOOK = { path: 'xl/workbook.xml', type: `${SHEET}.sheet.main+xml` };

function kept(type: string, path: string): KeptParts {
  return { [type.slice(type.indexOf('/') + 1).toLowerCase()]: { path, type } };
}

/**
 * Parts of a workbook that its anonymized copy has; all others are left out: comments with their authors, pivot tables and
 * their caches, tables, links to other files, connections, properties. Cells hold their own texts: none are shared.
 */
export const KEPT: KeptParts = {
  ...kept(WORKBOOK.type, WORKBOOK.path),
  'vnd.openxmlformats-officedocument.spreadsheetml.template.main+xml': WORKBOOK,
  ...kept(`${SHEET}.worksheet+xml`, 'xl/worksheets/sheet#.xml'),
  ...kept(`${SHEET}.chartsheet+xml`, 'xl/chartsheets/sheet#.xml'),
  ...kept(`${SHEET}.styles+xml`, 'xl/styles#.xml'),
  ...kept(`${OFFICE}.theme+xml`, 'xl/theme/theme#.xml'),
  ...kept(`${OFFICE}.drawing+xml`, 'xl/drawings/drawing#.xml'),
  ...kept(`${OFFICE}.drawingml.chart+xml`, 'xl/charts/chart#.xml'),
};

/** Kinds of parts of which a reader sees the text, besides cells. */
export const SHOWN = /officedocument\.drawing\+xml$|drawingml\.chart\+xml$/;
