import { officeFile, type TestPart } from '../../harness/office.ts';
import { addressOf } from './disguises.ts';
import type { CorpusDocument, Planting } from './planting.ts';
import { photo } from './photo.ts';

const NS = [
  'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"',
  'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"',
  'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"',
].join(' ');
const PPTX = 'application/vnd.openxmlformats-officedocument.presentationml.presentation';
const P = 'presentationml';

const run = (text: string): string => `<a:r><a:t>${text}</a:t></a:r>`;
const paragraph = (...runs: readonly string[]): string => `<a:p>${runs.join('')}</a:p>`;
const shape = (id: number, attributes: string, ...paragraphs: readonly string[]): string =>
  `<p:sp><p:nvSpPr><p:cNvPr id="${id}" ${attributes}/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/>${paragraphs.join('')}</p:txBody></p:sp>`;
const tree = (...shapes: readonly string[]): string =>
  `<p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>${shapes.join('')}</p:spTree></p:cSld>`;

/** Slides with something in every place that the format has for text. */
export async function slides(planting: Planting): Promise<CorpusDocument> {
  const { text } = planting;
  const shown = [text.heading, ...text.paragraphs, ...text.list, ...text.table.flat()];
  const picture = await photo(planting);
  const bytes = officeFile(
    {
      'ppt/presentation.xml': {
        type: `${P}.presentation.main+xml`,
        content: `<p:presentation ${NS}><p:sldMasterIdLst><p:sldMasterId id="2147483648" r:id="rId1"/></p:sldMasterIdLst><p:sldIdLst><p:sldId id="256" r:id="rId2"/><p:sldId id="257" r:id="rId3"/></p:sldIdLst><p:sldSz cx="9144000" cy="6858000"/><p:notesSz cx="6858000" cy="9144000"/><p:custShowLst><p:custShow name="${planting.name('name of a show')}" id="0"/></p:custShowLst><p:extLst><p:ext uri="x"><p14:section xmlns:p14="urn:p14" name="${planting.name('name of a section')}"/></p:ext></p:extLst></p:presentation>`,
        relations: {
          rId1: ['slideMaster', 'slideMasters/slideMaster1.xml'],
          rId2: ['slide', 'slides/slide1.xml'],
          rId3: ['slide', 'slides/slide2.xml'],
          rId4: ['commentAuthors', 'commentAuthors.xml'],
        },
      },
      'ppt/slides/slide1.xml': {
        type: `${P}.slide+xml`,
        content: `<p:sld ${NS}>${firstSlide(planting)}<p:timing><p:tnLst><p:par><p:cTn id="1"><p:stCondLst/></p:cTn></p:par></p:tnLst></p:timing></p:sld>`,
        relations: {
          rId1: ['slideLayout', '../slideLayouts/slideLayout1.xml'],
          rId2: ['notesSlide', '../notesSlides/notesSlide1.xml'],
          rId3: ['image', '../media/photo.jpg'],
          rId4: ['hyperlink', `mailto:${planting.email('address of a link')}`],
          rId5: ['comments', '../comments/comment1.xml'],
          rId6: ['oleObject', '../embeddings/object.bin'],
          rId7: ['hyperlink', addressOf(planting.entry('query of a link')).replaceAll('&', '&amp;')],
        },
      },
      'ppt/slides/slide2.xml': {
        type: `${P}.slide+xml`,
        content: `<p:sld ${NS} show="0">${tree(shape(2, 'name="x"', paragraph(run(planting.sentence('hidden slide')))))}</p:sld>`,
        relations: { rId1: ['slideLayout', '../slideLayouts/slideLayout1.xml'] },
      },
      ...furniture(planting),
      'ppt/media/photo.jpg': { type: 'image/jpeg', content: picture },
      'ppt/embeddings/object.bin': { type: 'application/octet-stream', content: planting.sentence('embedded file') },
    },
    { 'docProps/thumbnail.jpeg': await photo(planting) },
  );
  return { name: 'talk.pptx', mediaType: PPTX, bytes, scanned: false, ...planting.done(shown) };
}

function firstSlide(planting: Planting): string {
  const { text } = planting;
  const rows = [...text.table, [planting.entry('cell'), planting.again(), 'x']];
  const cells = (row: readonly string[]): string =>
    row.map((cell) => `<a:tc><a:txBody><a:bodyPr/>${paragraph(run(cell))}</a:txBody></a:tc>`).join('');
  const split = (planting.sentence('runs').match(/[^]{1,7}/g) ?? []).map(run);
  return tree(
    shape(2, `name="${planting.name('name of a shape')}"`, paragraph(run(text.heading))),
    shape(
      3,
      `name="x" descr="${planting.entry('alternative text')}" title="${planting.entry('title of a shape')}"`,
      ...[...text.paragraphs, ...text.list, planting.sentence('paragraph'), planting.again()].map((one) =>
        paragraph(run(one)),
      ),
      paragraph(...split),
      paragraph(`<a:fld id="{0}" type="datetime"><a:t>${planting.entry('field')}</a:t></a:fld>`),
      paragraph(
        `<a:r><a:rPr><a:hlinkClick r:id="rId4" tooltip="${planting.entry('tooltip')}"/></a:rPr><a:t>link</a:t></a:r>`,
        '<a:r><a:rPr><a:hlinkClick r:id="rId7"/></a:rPr><a:t>other</a:t></a:r>',
      ),
    ),
    `<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="4" name="t"/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr><p:xfrm/><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/table"><a:tbl><a:tblPr/><a:tblGrid/>${rows.map((row) => `<a:tr h="1">${cells(row)}</a:tr>`).join('')}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>`,
    `<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="5" name="o"/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr><p:xfrm/><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/presentationml/2006/ole"><p:oleObj name="${planting.name('name of an object')}" r:id="rId6" progId="x"><p:embed/></p:oleObj></a:graphicData></a:graphic></p:graphicFrame>`,
    `<p:pic><p:nvPicPr><p:cNvPr id="6" name="${planting.name('file of a picture')}.jpg"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr><p:blipFill><a:blip r:embed="rId3"/><a:stretch><a:fillRect/></a:stretch></p:blipFill><p:spPr/></p:pic>`,
    `<!-- ${planting.sentence('comment of XML')} -->`,
  );
}

function furniture(planting: Planting): Record<string, TestPart> {
  const layout = ['slideLayout', '../slideLayouts/slideLayout1.xml'] as const;
  return {
    'ppt/slideMasters/slideMaster1.xml': {
      type: `${P}.slideMaster+xml`,
      content: `<p:sldMaster ${NS}>${tree(shape(2, 'name="x"', paragraph(run(planting.sentence('master')))))}<p:clrMap bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" accent2="accent2" accent3="accent3" accent4="accent4" accent5="accent5" accent6="accent6" hlink="hlink" folHlink="folHlink"/><p:sldLayoutIdLst><p:sldLayoutId id="2147483649" r:id="rId1"/></p:sldLayoutIdLst></p:sldMaster>`,
      relations: { rId1: layout, rId2: ['theme', '../theme/theme1.xml'] },
    },
    'ppt/slideLayouts/slideLayout1.xml': {
      type: `${P}.slideLayout+xml`,
      content: `<p:sldLayout ${NS} matchingName="${planting.name('name of a layout')}">${tree(shape(2, 'name="x"', paragraph(run(planting.sentence('layout')))))}</p:sldLayout>`,
      relations: { rId1: ['slideMaster', '../slideMasters/slideMaster1.xml'] },
    },
    'ppt/notesSlides/notesSlide1.xml': {
      type: `${P}.notesSlide+xml`,
      content: `<p:notes ${NS}>${tree(shape(2, 'name="x"', paragraph(run(planting.sentence('notes'))), paragraph(run(planting.again()))))}</p:notes>`,
      relations: { rId1: ['slide', '../slides/slide1.xml'] },
    },
    'ppt/theme/theme1.xml': {
      type: 'theme+xml',
      content: `<a:theme ${NS} name="${planting.name('name of a theme')}"><a:themeElements/></a:theme>`,
    },
    'ppt/commentAuthors.xml': {
      type: `${P}.commentAuthors+xml`,
      content: `<p:cmAuthorLst ${NS}><p:cmAuthor id="0" name="${planting.name("comment's author")}" initials="x"/></p:cmAuthorLst>`,
    },
    'ppt/comments/comment1.xml': {
      type: `${P}.comments+xml`,
      content: `<p:cmLst ${NS}><p:cm authorId="0" idx="1"><p:text>${planting.sentence('comment')}</p:text></p:cm></p:cmLst>`,
    },
    'docProps/core.xml': {
      type: 'application/vnd.openxmlformats-package.core-properties+xml',
      content: `<cp:coreProperties xmlns:cp="urn:cp" xmlns:dc="urn:dc"><dc:creator>${planting.name('creator')}</dc:creator><cp:keywords>${planting.entry('keywords')}</cp:keywords></cp:coreProperties>`,
    },
  };
}
