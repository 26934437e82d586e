import { keptPart, type KeptParts } from '../ooxml/write-package.ts';

const OFFICE = 'application/vnd.openxmlformats-officedocument';
const SLIDES = `${OFFICE}.presentationml`;
const PRESENTATION = { path: 'ppt/presentation.xml', type: `${SLIDES}.presentation.main+xml` };

/**
 * Parts of a presentation that its anonymized copy has; all others are left out: comments with their authors, tags,
 * embedded files, fonts, sounds and films, properties, how it was last looked at. A show or a template becomes a presentation.
 */
export const KEPT: KeptParts = {
  ...keptPart(PRESENTATION.type, PRESENTATION.path),
  'vnd.openxmlformats-officedocument.presentationml.slideshow.main+xml': PRESENTATION,
  'vnd.openxmlformats-officedocument.presentationml.template.main+xml': PRESENTATION,
  ...keptPart(`${SLIDES}.slide+xml`, 'ppt/slides/slide#.xml'),
  ...keptPart(`${SLIDES}.slideLayout+xml`, 'ppt/slideLayouts/slideLayout#.xml'),
  ...keptPart(`${SLIDES}.slideMaster+xml`, 'ppt/slideMasters/slideMaster#.xml'),
  ...keptPart(`${SLIDES}.notesSlide+xml`, 'ppt/notesSlides/notesSlide#.xml'),
  ...keptPart(`${SLIDES}.notesMaster+xml`, 'ppt/notesMasters/notesMaster#.xml'),
  ...keptPart(`${SLIDES}.handoutMaster+xml`, 'ppt/handoutMasters/handoutMaster#.xml'),
  ...keptPart(`${SLIDES}.tableStyles+xml`, 'ppt/tableStyles#.xml'),
  ...keptPart(`${OFFICE}.theme+xml`, 'ppt/theme/theme#.xml'),
  ...keptPart(`${OFFICE}.drawingml.chart+xml`, 'ppt/charts/chart#.xml'),
  ...keptPart(`${OFFICE}.drawingml.diagramData+xml`, 'ppt/diagrams/data#.xml'),
  ...keptPart(`${OFFICE}.drawingml.diagramLayout+xml`, 'ppt/diagrams/layout#.xml'),
  ...keptPart(`${OFFICE}.drawingml.diagramStyle+xml`, 'ppt/diagrams/quickStyle#.xml'),
  ...keptPart(`${OFFICE}.drawingml.diagramColors+xml`, 'ppt/diagrams/colors#.xml'),
};

/** Kinds of parts of which a reader sees the text. */
export const SHOWN = /presentationml\.(?:slide|notesslide)\+xml$|drawingml\.(?:chart|diagramdata)\+xml$/;
