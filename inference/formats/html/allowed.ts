/** Programs, other documents, media, and what only programs see. */
const DROPPED = new Set(
  (
    'script style iframe frame frameset noframes object embed applet portal template link base meta svg math canvas audio ' +
    'video source track picture param map area dialog slot bgsound xmp plaintext noembed'
  ).split(' '),
);

/** Whether an element goes with all that is in it. A name that no element of HTML has may say anything. */
export function isDropped(name: string): boolean {
  return DROPPED.has(name) || !/^[a-z][a-z0-9]{0,10}$/.test(name);
}

/** Elements that end a stretch of text: text before and after them is not read as one. */
export const BLOCKS = new Set(
  (
    'html head body title address article aside blockquote center dd details div dl dt fieldset figcaption figure footer ' +
    'form h1 h2 h3 h4 h5 h6 header hr legend li main menu nav ol option optgroup select p pre section summary table caption ' +
    'tbody td tfoot th thead tr ul textarea button colgroup'
  ).split(' '),
);

/** Attributes that say how something is shown, and nothing else. */
const SHAPES = new Set(
  (
    'class colspan rowspan span dir lang type width height align valign border cellpadding cellspacing scope start reversed ' +
    'checked disabled selected readonly multiple size rows cols hidden open role nowrap bgcolor color face maxlength'
  ).split(' '),
);

/** Attributes in which something is said; whether a reader sees it. */
const SAID = new Map(
  Object.entries({
    alt: false,
    title: false,
    value: true,
    placeholder: true,
    label: true,
    summary: false,
    abbr: false,
    content: false,
  }),
);

/** Identifiers: they are kept, so that links within the document lead somewhere. */
const IDENTIFIERS = new Set(['id', 'name', 'for', 'headers']);

/** Kinds of attributes; all others are removed. */
export type AttributeKind = 'shape' | 'shown' | 'hidden' | 'identifier' | 'address' | 'source' | 'style';

/** Tells what an attribute is, or undefined where it is not kept. */
export function attributeKind(element: string, name: string): AttributeKind | undefined {
  if (name.startsWith('aria-')) return 'hidden';
  if (name === 'href' && element === 'a') return 'address';
  if (name === 'src' && (element === 'img' || element === 'input')) return 'source';
  if (name === 'style') return 'style';
  if (name === 'datetime' || name === 'cite') return undefined;
  if (IDENTIFIERS.has(name)) return 'identifier';
  const said = SAID.get(name);
  if (said !== undefined) return said ? 'shown' : 'hidden';
  return SHAPES.has(name) ? 'shape' : undefined;
}

/** Styles that refer to nothing and have no escapes and no comments. */
export const SAFE_STYLE = /^(?!.*(?:url|expression|content|--|var)\b)[\w\s:;,.#%()'"!+-]*$/i;
/** Where links may lead. */
export const SAFE_ADDRESS = /^(?:https?:|mailto:|tel:|#)/i;
