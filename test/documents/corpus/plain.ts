import sharp from 'sharp';
import { addressOf, apart, escapedJson } from './disguises.ts';
import { ascii } from './people.ts';
import type { CorpusDocument, Planting } from './planting.ts';

/** Ways to write a text as bytes; of single bytes, those that the language's letters fit in. */
type Encoding = 'utf-8' | 'utf-8-bom' | 'utf-16le' | 'utf-16be' | 'windows-1252' | 'windows-1250' | 'iso-8859-2';

/** Made for a seed: a text, a table of separated values, Markdown. */
export function plainText(planting: Planting): CorpusDocument {
  const { text } = planting;
  const shown = [text.heading, ...text.paragraphs, ...text.list];
  const lines = [
    text.heading,
    planting.sentence('line'),
    ...text.paragraphs,
    planting.again(),
    wrapped(planting.sentence('line that is wrapped')),
    ...text.list.map((item) => `- ${item}`),
    planting.again(),
    `> ${planting.sentence('quotation')}`,
    spacedOut(planting.name('name on two lines')),
    `user=${planting.email('address in an assignment')};`,
    apart(planting.name('letters apart')),
    `See ${addressOf(planting.entry('query of an address'))}`,
    `-- \r\n${planting.entry('signature')}`,
  ];
  return { ...file(planting, 'txt', 'text/plain', lines.join('\r\n\r\n')), ...planting.done(shown) };
}

export function separatedValues(planting: Planting): CorpusDocument {
  const { text, random } = planting;
  const [ending, mediaType, delimiter] = random.pick([
    ['csv', 'text/csv', ','],
    ['csv', 'text/csv', ';'],
    ['tsv', 'text/tab-separated-values', '\t'],
  ]);
  const quote = (cell: string): string =>
    /["\n\r,;\t]/.test(cell) || random.chance(1 / 4) ? `"${cell.replaceAll('"', '""')}"` : cell;
  const rows = [
    [...(text.table[0] ?? []), planting.name('name of a column')],
    ...text.table.slice(1).map((row) => [...row, planting.entry('cell')]),
    [planting.sentence('cell with a sentence'), planting.again(), 'x "y" z', ''],
    [`first\n${planting.entry('cell of two lines')}`, planting.again(), planting.email('cell of mail'), '0'],
    [addressOf(planting.entry('cell with an address')), apart(planting.name('cell of letters apart')), '', ''],
    [`=HYPERLINK("mailto:${planting.email('formula of a cell')}")`, '', '', ''],
  ];
  const written = rows.map((row) => row.map(quote).join(delimiter)).join('\n');
  return { ...file(planting, ending, mediaType, written), ...planting.done(text.table.flat()) };
}

export function markdown(planting: Planting): CorpusDocument {
  const { text } = planting;
  const shown = [text.heading, ...text.paragraphs, ...text.list, ...text.table.flat()];
  const reference = planting.email('address of a reference');
  const lines = [
    `---\nauthor: ${planting.name('front matter')}\n---`,
    `# ${text.heading}`,
    `## ${planting.name('heading')}`,
    planting.sentence('paragraph').replace(/,/g, '\\,'),
    ...text.paragraphs,
    planting.again(),
    text.list.map((item) => `* ${item}`).join('\n'),
    `<!-- ${planting.sentence('comment')} -->`,
    `[x](mailto:${planting.email('link')} "${planting.name('title of a link')}") and [y][1]`,
    `![${planting.name('text of a picture')}](https://example.org/a.png)`,
    `\`\`\`sh\nexport OWNER="${planting.entry('code')}"\n\`\`\``,
    text.table.map((row) => `| ${row.join(' | ')} |`).join('\n|---|---|---|\n'),
    `| ${planting.entry('cell')} |`,
    `**${bold(planting.name('name in two weights'))}`,
    `by [${planting.name('half of a link').replace(' ', '](https://example.org) ')}.`,
    planting.name('broken line').replace(' ', '\\\n'),
    planting.name('broken line of HTML').replace(' ', '<br>'),
    `<${addressOf(planting.entry('query of an address'))}>`,
    `Caf&eacute; ${entities(planting.name('entities'))}`,
    planting.again(),
    `[^1]: ${planting.sentence('footnote')}`,
    `[1]: mailto:${encodeURIComponent(reference)}`,
  ];
  return { ...file(planting, 'md', 'text/markdown', lines.join('\n\n')), ...planting.done(shown) };
}

/** A page of HTML with something in every place that a browser shows, and those that it doesn't. */
export async function htmlPage(planting: Planting): Promise<CorpusDocument> {
  const { text, random } = planting;
  const shown = [text.heading, ...text.paragraphs, ...text.list, ...text.table.flat()];
  const picture = await sharp({ create: { width: 16, height: 16, channels: 3, background: '#3355ff' } })
    .withExif({ IFD0: { Artist: ascii(planting.name('EXIF of a picture')) } })
    .jpeg()
    .toBuffer();
  const id = planting.name('identifier').replace(' ', '_');
  const page = `<!DOCTYPE html><!-- ${planting.sentence('comment in front')} -->
<html lang="en" data-owner="${planting.entry('attribute of data')}"><head><meta charset="utf-8">
<title>${planting.entry('title')}</title>
<meta name="author" content="${planting.entry('meta')}"><link rel="author" href="mailto:${planting.email('link of the head')}">
<script type="application/ld+json">{"@type":"Person","name":"${planting.entry('linked data')}"}</script>
<style>p::after{content:"${planting.entry('style sheet')}"} .${planting.name('class of a style').replace(' ', '-')}{color:red}</style>
</head><body class="${planting.name('class').replace(' ', '-')}">
<h1 id="${id}">${text.heading}</h1><p>${planting.sentence('paragraph')}</p>
${text.paragraphs.map((paragraph) => `<p>${paragraph}</p>`).join('\n')}
<p>${planting.again()}</p><p>${runs(planting.sentence('runs'))}</p>
<p>${addressOf(planting.entry('address in a text')).replaceAll('&', '&amp;')}</p><p>${apart(planting.name('letters apart'))}</p>
<p style="font-family:'${planting.name('style')}';color:#000">${text.list.join('<br>')}</p>
<p title="${planting.entry('tooltip')}"><a href="#${id}">1</a> <a href="mailto:${planting.email('link')}?subject=a">2</a>
<a href="https://example.org/?q=${encodeURIComponent(planting.entry('query'))}">3</a></p>
<img alt="${planting.entry('alternative text')}" src="data:image/jpeg;base64,${picture.toString('base64')}">
<img src="https://example.org/${encodeURIComponent(planting.name('name of a picture'))}.png">
<form action="/${encodeURIComponent(planting.name('address of a form'))}"><input name="${planting.email('name of a field')}" value="${planting.entry('value of a field')}"
 placeholder="${planting.entry('placeholder')}"><input type="hidden" value="${planting.entry('hidden field')}">
<textarea>${planting.entry('text area')}</textarea><select><option value="${planting.email('value of an option')}">${planting.name('option')}</option></select></form>
<table><caption>${planting.entry('caption')}</caption>${text.table.map((row) => `<tr><td>${row.join('</td><td>')}</td></tr>`).join('')}</table>
<div style="display:none">${planting.sentence('not displayed')}</div><template>${planting.sentence('template')}</template>
<noscript>${planting.sentence('without scripts')}</noscript><iframe srcdoc="<p>${planting.entry('frame')}</p>"></iframe>
<svg><title>${planting.entry('drawing')}</title><text>${planting.entry('text of a drawing')}</text></svg>
<p aria-label="${planting.entry('label for readers')}">${entities(planting.sentence('entities'))}</p><p>${planting.again()}</p>
<x-${random.whole(100, 999)} who="${planting.entry('unknown element')}">${planting.sentence('in an unknown element')}</x-1>
<script>var owner = "${planting.entry('script')}";</script></body></html><!-- ${planting.entry('comment behind')} -->`;
  return { ...file(planting, 'html', 'text/html', page, 'utf-8'), ...planting.done(shown) };
}

/** Records, with letters beyond ASCII as many programs write them. */
export function json(planting: Planting): CorpusDocument {
  const { text } = planting;
  const said = [text.heading, ...text.paragraphs, planting.again(), ...text.list, planting.again()];
  const members = [
    `"records": ${JSON.stringify(said, undefined, 2)}`,
    `"customer": ${escapedJson(planting.entry('value'))}`,
    `${escapedJson(planting.name('name of a member'))}: 4711`,
    `"nested": [{"a": ${escapedJson(planting.sentence('nested value'))}}, true, null]`,
    `"inner": ${escapedJson(`{"a":${escapedJson(planting.entry('JSON in JSON'))}}`)}`,
    `"link": ${escapedJson(addressOf(planting.entry('query of an address')))}`,
    `"lines": ${escapedJson(planting.name('name on two lines').replace(' ', '\n'))}`,
  ];
  const written = `{\n  ${members.join(',\n  ')}\n}\n`;
  return {
    ...file(planting, 'json', 'application/json', written, 'utf-8'),
    ...planting.done([text.heading, ...text.paragraphs, ...text.list]),
  };
}

function file(
  planting: Planting,
  ending: string,
  mediaType: string,
  text: string,
  encoding?: Encoding,
): Pick<CorpusDocument, 'name' | 'mediaType' | 'bytes' | 'scanned'> {
  const own = planting.language === 'pol' ? (['windows-1250', 'iso-8859-2'] as const) : (['windows-1252'] as const);
  const chosen =
    encoding ?? planting.random.pick(['utf-8', 'utf-8', 'utf-8-bom', 'utf-16le', 'utf-16be', ...own] as const);
  return { name: `${chosen}.${ending}`, mediaType, bytes: encode(text, chosen), scanned: false };
}

/** Writes a text in an encoding; letters that it does not have become question marks. */
function encode(text: string, encoding: Encoding): Uint8Array {
  switch (encoding) {
    case 'utf-8':
      return Buffer.from(text);
    case 'utf-8-bom':
      return Buffer.from(`\ufeff${text}`);
    case 'utf-16le':
      return Buffer.from(`\ufeff${text}`, 'utf16le');
    case 'utf-16be':
      return Buffer.from(`\ufeff${text}`, 'utf16le').swap16();
    default: {
      const letters = new TextDecoder(encoding).decode(Uint8Array.from({ length: 256 }, (_, byte) => byte));
      return Uint8Array.from(text, (letter) => {
        const byte = letters.indexOf(letter);
        return byte < 0 ? 0x3f : byte;
      });
    }
  }
}

function wrapped(sentence: string): string {
  return sentence.replace(/ /g, (blank, at: number) => (at % 3 === 0 ? '\r\n' : blank));
}

function spacedOut(name: string): string {
  return name.replace(' ', '\r\n    ');
}

function bold(name: string): string {
  return `${name.replace(' ', '** ')}.`;
}

function entities(text: string): string {
  return Array.from(text, (letter) =>
    /[\p{L}\d]/u.test(letter) ? `&#x${letter.codePointAt(0)?.toString(16)};` : letter,
  ).join('');
}

/** Every third letter stands in an element of its own. */
function runs(text: string): string {
  return Array.from(text, (letter, at) => (at % 3 === 2 ? `<b>${letter}</b>` : letter)).join('');
}
