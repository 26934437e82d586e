import { apart } from './disguises.ts';
import { photo } from './photo.ts';
import type { CorpusDocument, Planting } from './planting.ts';

/** Rich text with something in every place that the format has for text, letters written in each of its ways. */
export async function richText(planting: Planting): Promise<CorpusDocument> {
  const { text } = planting;
  const shown = [text.heading, ...text.paragraphs, ...text.list, ...text.table.flat()];
  const written = (one: string): string => unicode(one);
  const split = (planting.sentence('runs').match(/[^]{1,7}/g) ?? []).map((piece, at) =>
    at % 2 ? `{\\b ${written(piece)}}` : written(piece),
  );
  const rows = [...text.table, [planting.entry('cell'), planting.again(), 'x']];
  const hex = Buffer.from(await photo(planting)).toString('hex');
  const secret = Buffer.from(planting.sentence('embedded file'));
  const lines = [
    `{\\rtf1\\ansi\\ansicpg1252\\deff0{\\fonttbl{\\f0\\fswiss\\fcharset0 Arial;}{\\f1\\fnil\\fcharset238 ${written(planting.name('name of a font'))};}}`,
    `{\\stylesheet{\\s1 ${written(planting.name('name of a style'))};}}`,
    `{\\info{\\title ${written(planting.entry('title'))}}{\\author ${written(planting.name('author'))}}{\\*\\company ${written(planting.entry('company'))}}}`,
    `{\\*\\generator ${written(planting.name('program'))};}{\\*\\userprops{\\propname x}{\\staticval ${written(planting.entry('property'))}}}`,
    `{\\header ${written(planting.sentence('header'))}\\par}{\\footerr ${written(planting.sentence('footer'))}\\par}`,
    `\\pard\\qc {\\b ${written(text.heading)}}\\par`,
    `${written(planting.sentence('paragraph'))}\\par`,
    ...text.paragraphs.map((one) => `${written(one)}\\par`),
    `${written(planting.again())}\\par ${split.join('')}\\par`,
    ...text.list.map((item) => `{\\listtext\\bullet\\tab}${written(item)}\\par`),
    `${written(planting.again())}\\par`,
    `{\\v ${written(planting.sentence('hidden text'))}}{\\deleted ${written(planting.sentence('deletion'))}}\\par`,
    `x{\\footnote ${written(planting.sentence('footnote'))}\\par}{\\*\\atnid ${written(planting.name("comment's author"))}}{\\*\\annotation ${written(planting.sentence('comment'))}}\\par`,
    `{\\field{\\*\\fldinst HYPERLINK "mailto:${planting.email('instruction of a field')}"}{\\fldrslt ${written(planting.entry('result of a field'))}}}\\par`,
    `{\\*\\bkmkstart ${written(planting.name('bookmark'))}}{\\*\\bkmkend x}${written(apart(planting.name('letters apart')))}\\par`,
    `{\\shp{\\*\\shpinst{\\sp{\\sn wzDescription}{\\sv ${written(planting.entry('description of a shape'))}}}{\\shptxt ${written(planting.sentence('text box'))}\\par}}{\\shprslt ${written(planting.sentence('copy of a shape'))}}}\\par`,
    `{\\object\\objemb{\\*\\objclass ${written(planting.name('class of an object'))}}{\\*\\objdata ${secret.toString('hex')}}{\\result ${written(planting.sentence('result of an object'))}}}\\par`,
    `{\\pict\\jpegblip\\picwgoal900\\pichgoal900\n${hex}}\\par{\\*\\unknown ${written(planting.sentence('group of a stranger'))}}`,
    `{\\*\\blob\\bin${secret.length} ${secret.toString('latin1')}}`,
    ...rows.map(
      (row) =>
        `\\trowd${row.map((_, at) => `\\cellx${(at + 1) * 3000}`).join('')}\\intbl ${row.map((one) => `${written(one)}\\cell`).join(' ')}\\row`,
    ),
    '\\pard end\\par}',
  ];
  const bytes = Buffer.from(lines.join('\r\n'), 'latin1');
  return { name: 'letter.rtf', mediaType: 'application/rtf', bytes, scanned: false, ...planting.done(shown) };
}

/** Letters beyond ASCII by their number, with a sign for readers of old, which takes one byte or is one in hexadecimal. */
function unicode(text: string): string {
  return text.replace(/[\\{}]/g, '\\$&').replace(/[^ -~\\{}]/g, (letter, at: number) => {
    const code = letter.charCodeAt(0);
    if (code < 0x100 && at % 2 === 0) return `\\'${code.toString(16).padStart(2, '0')}`;
    return `\\u${code}${at % 3 === 0 ? '?' : "\\'3f"}`;
  });
}
