import { strToU8, zipSync } from 'fflate';
import { addressOf } from './disguises.ts';
import { photo } from './photo.ts';
import type { CorpusDocument, Planting } from './planting.ts';

const XHTML = 'xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"';
const DOCTYPE = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd">';
const EPUB = 'application/epub+zip';

/** A book with something in every place that the format has for text. */
export async function book(planting: Planting): Promise<CorpusDocument> {
  const { text } = planting;
  const shown = [text.heading, ...text.paragraphs, ...text.list, ...text.table.flat()];
  const chapterName = `${encodeURIComponent(planting.name('name of a chapter').replace(' ', '_'))}.xhtml`;
  const bytes = zipSync({
    mimetype: [strToU8(EPUB), { level: 0 }],
    'META-INF/container.xml': strToU8(
      `<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`,
    ),
    'OEBPS/book.opf': strToU8(
      `<package xmlns="http://www.idpf.org/2007/opf" version="2.0"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>${planting.entry('title')}</dc:title><dc:creator>${planting.name('creator')}</dc:creator><dc:description>${planting.sentence('description')}</dc:description><meta name="${planting.name('name of a property')}" content="${planting.entry('property')}"/></metadata><manifest><item id="c" href="${chapterName}" media-type="application/xhtml+xml"/><item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/><item id="p" href="photo.jpg" media-type="image/jpeg"/><item id="s" href="style.css" media-type="text/css"/></manifest><spine toc="ncx"><itemref idref="c"/></spine></package>`,
    ),
    'OEBPS/toc.ncx': strToU8(
      `<?xml version="1.0"?><!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://www.daisy.org/z3986/2005/ncx-2005-1.dtd"><ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint id="n"><navLabel><text>${planting.entry('list of contents')}</text></navLabel><content src="${chapterName}"/></navPoint></navMap></ncx>`,
    ),
    'OEBPS/style.css': strToU8(`p::after{content:"${planting.entry('style sheet')}"}`),
    'OEBPS/photo.jpg': await photo(planting),
    [`OEBPS/${decodeURIComponent(chapterName)}`]: strToU8(chapter(planting, chapterName)),
  });
  return { name: 'book.epub', mediaType: EPUB, bytes, scanned: false, ...planting.done(shown) };
}

function chapter(planting: Planting, ownName: string): string {
  const { text } = planting;
  const id = planting.name('identifier').replace(' ', '_');
  const runs = Array.from(planting.sentence('runs'), (letter, at) => (at % 3 === 2 ? `<b>${letter}</b>` : letter)).join(
    '',
  );
  return `<?xml version="1.0" encoding="utf-8"?>${DOCTYPE}<html ${XHTML}><head><title>${planting.entry('title of a chapter')}</title>
<script type="text/javascript">var owner = "${planting.entry('script')}";</script><style>.x{content:"${planting.entry('style')}"}</style></head>
<body class="${planting.name('class').replace(' ', '-')}"><h1 id="${id}">${text.heading}</h1>
<p>${planting.sentence('paragraph')}&nbsp;&mdash;&#160;x</p>${text.paragraphs.map((one) => `<p>${one}</p>`).join('\n')}
<p>${planting.again()}</p><p>${runs}</p><ul>${text.list.map((one) => `<li>${one}</li>`).join('')}</ul>
<p title="${planting.entry('tooltip')}"><a href="${ownName}#${id}">1</a> <a href="mailto:${planting.email('link')}">2</a>
<a href="${addressOf(planting.entry('query')).replaceAll('&', '&amp;')}">3</a></p>
<p><img src="photo.jpg" alt="${planting.entry('alternative text')}"/><img src="https://example.org/${encodeURIComponent(planting.name('name of a picture'))}.png" alt=""/></p>
<table>${[...text.table, [planting.entry('cell'), planting.again()]].map((row) => `<tr>${row.map((one) => `<td>${one}</td>`).join('')}</tr>`).join('')}</table>
<div style="display:none">${planting.sentence('not displayed')}</div><!-- ${planting.sentence('comment')} -->
<svg xmlns="http://www.w3.org/2000/svg"><title>${planting.entry('drawing')}</title></svg>
<p><![CDATA[${planting.sentence('section of characters')}]]></p><p data-who="${planting.entry('attribute of data')}" aria-label="${planting.entry('label')}">x</p>
</body></html>`;
}
