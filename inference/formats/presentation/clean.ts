import { reachable, type OfficePackage } from '../ooxml/package.ts';
import {
  allElements,
  attributeOf,
  elementsIn,
  isElement,
  localOf,
  nameDrawing,
  rewrite,
  type XmlElement,
  type XmlNode,
} from '../ooxml/xml.ts';

/** What only programs and authors see, what moves and sounds, and what refers to parts that are not kept. */
const DROPPED =
  /^(?:extLst|custDataLst|custShowLst|custShow|embeddedFontLst|modifyVerifier|photoAlbum|smartTags|controls|timing|transition|snd|sndAc|audioFile|audioCd|wavAudioFile|quickTimeFile|videoFile|media|contentPart|dataModelExt|externalData|userShapes|sldSyncPr|kinsoku)$/;
/** Of a frame: something in a file of its own, of which only a picture is drawn. */
const EMBEDDED = new Set(['oleObj', 'control']);
/** What edits are known by. */
const TRACES = /^(?:creationId|modId|userDrawn|spid|progId|uid)$/;

/** Whether an element goes with all that is in it. */
export function isDropped({ local }: XmlElement): boolean {
  return DROPPED.test(local);
}

/** Removes invisible parts of a presentation, and parts that cannot be inspected. */
export function cleanPresentation({ main }: OfficePackage): void {
  for (const { xml } of reachable(main, () => true)) {
    if (!xml) continue;
    rewrite(xml, (element): readonly XmlNode[] => {
      if (isDropped(element)) return [];
      if (element.local === 'graphicFrame' && holdsFile(element)) return [];
      // Two forms of one thing, of which nothing is left.
      if (
        element.local === 'AlternateContent' &&
        elementsIn(element).every(({ children }) => !children.some(isElement))
      )
        return [];
      return [element];
    });
    for (const element of allElements(xml)) {
      nameDrawing(element);
      element.attributes = element.attributes.filter(({ name }) => !TRACES.test(localOf(name)));
    }
  }
}

function holdsFile(frame: XmlElement): boolean {
  for (const { local } of allElements(frame)) if (EMBEDDED.has(local)) return true;
  return false;
}

/** Whether a slide is left out when the presentation is shown. */
export function isHiddenSlide(slide: XmlElement | undefined): boolean {
  return slide !== undefined && /^(?:0|false)$/.test(attributeOf(slide, 'show') ?? '');
}
