import { keptPart, type KeptParts } from '../ooxml/write-package.ts';

const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml';
const DRAWING = 'application/vnd.openxmlformats-officedocument.drawingml';
const DOCUMENT = { path: 'word/document.xml', type: `${WORD}.document.main+xml` };

function kept(prefix: string, name: string, path: string): KeptParts {
  return keptPart(`${prefix}.${name}+xml`, path);
}

/**
 * Parts of a Word document that its anonymized copy has; all others (properties, custom XML, embedded files and fonts,
 * glossaries, people, thumbnails, drawings that are only a copy) are left out. A template becomes a document.
 */
export const KEPT: KeptParts = {
  ...kept(WORD, 'document.main', DOCUMENT.path),
  'vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml': DOCUMENT,
  ...kept(WORD, 'styles', 'word/styles#.xml'),
  ...kept(WORD, 'settings', 'word/settings#.xml'),
  ...kept(WORD, 'numbering', 'word/numbering#.xml'),
  ...kept(WORD, 'footnotes', 'word/footnotes#.xml'),
  ...kept(WORD, 'endnotes', 'word/endnotes#.xml'),
  ...kept(WORD, 'comments', 'word/comments#.xml'),
  ...kept(WORD, 'header', 'word/header#.xml'),
  ...kept(WORD, 'footer', 'word/footer#.xml'),
  ...kept('application/vnd.openxmlformats-officedocument', 'theme', 'word/theme/theme#.xml'),
  ...kept(DRAWING, 'chart', 'word/charts/chart#.xml'),
  ...kept(DRAWING, 'diagramData', 'word/diagrams/data#.xml'),
  ...kept(DRAWING, 'diagramLayout', 'word/diagrams/layout#.xml'),
  ...kept(DRAWING, 'diagramStyle', 'word/diagrams/quickStyle#.xml'),
  ...kept(DRAWING, 'diagramColors', 'word/diagrams/colors#.xml'),
};

/** Kinds of parts of which a reader sees the text. */
export const SHOWN =
  /wordprocessingml\.(?:(?:document|template)\.main|header|footer|footnotes|endnotes)\+xml$|drawingml\.(?:chart|diagramdata)\+xml$/;

/** What a setting may be to stay: nothing that says where a document was, who had it, or what it is bound to. */
export const SETTINGS = new Set(
  (
    'zoom mirrorMargins bordersDoNotSurroundHeader bordersDoNotSurroundFooter defaultTabStop autoHyphenation ' +
    'consecutiveHyphenLimit hyphenationZone doNotHyphenateCaps evenAndOddHeaders characterSpacingControl ' +
    'footnotePr endnotePr compat mathPr themeFontLang clrSchemeMapping decimalSymbol listSeparator'
  ).split(' '),
);
