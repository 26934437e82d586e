import type { Format } from '../format.ts';
import { readPdf } from './read.ts';
import { recognizePdf, renderPdf } from './recognize.ts';
import { redactPdf } from './redact.ts';

/** PDF. Pages say their text themselves, or it is recognized; a document is rewritten page by page, or its pages become pictures. */
export const pdf: Format = { read: readPdf, render: renderPdf, recognize: recognizePdf, redact: redactPdf };
