import { PDFDocument, rgb, StandardFonts } from '@cantoo/pdf-lib';
import {
  CommentRangeEnd,
  CommentRangeStart,
  CommentReference,
  DeletedTextRun,
  Document,
  Footer,
  Header,
  HeadingLevel,
  InsertedTextRun,
  Packer,
  Paragraph,
  Table,
  TableCell,
  TableRow,
  TextRun,
  WidthType,
} from 'docx';
import sharp from 'sharp';
import { paper, print, worn, type Print } from './printed-page.ts';

/** The papers of an office, with people, numbers and addresses that exist nowhere. */

export const PEOPLE = { sender: 'Henrike Saalfeld', receiver: 'Torben Achterberg' } as const;
export const MAIL = 'torben.achterberg@example.org';
export const IBAN = 'DE89 3704 0044 0532 0130 00';
export const PHONE = '+49 30 901820';

const DPI = 150;

/** A letter of A4 from a poor scanner: a letter head, a heading, a list and a table. JPEG. */
export async function scannedLetter(): Promise<Buffer> {
  const left = 150;
  const line = (text: string, y: number, more: Partial<Print> = {}): Print => ({ text, x: left, y, ...more });
  const rows = [
    ['Position', 'Quantity', 'Amount'],
    ['Roof tiles', '1,200', '3,480.00'],
    ['Gutters', '42', '1,155.00'],
    ['Scaffold', '12', '890.00'],
  ];
  const page = await print(paper(DPI), [
    line(PEOPLE.receiver, 190),
    line('Lindenallee 14', 225),
    line('10115 Berlin', 260),
    line('Your offer of 3 March', 380, { size: 18, bold: true }),
    line(
      `Dear ${PEOPLE.receiver}, thank you for the offer that you sent from ${MAIL} last week. We went through it with the owners of the house and would like to go on as you propose, with three exceptions that are named below.`,
      470,
      { width: 940 },
    ),
    line('• The gutters on the north side stay as they are.', 680),
    line('• The scaffold stands for four weeks at most.', 725),
    line('• The old tiles are taken away by you.', 770),
    ...rows.flatMap((row, at) => row.map((cell, column) => line(cell, 860 + at * 42, { x: left + column * 330 }))),
    line(
      `Please send the invoice to us as before. We pay within ten days, from the account ${IBAN}. Should anything be unclear, call us: ${PHONE}.`,
      1090,
      { width: 940 },
    ),
    line('Kind regards', 1260),
    line(PEOPLE.sender, 1320),
  ]);
  return worn(page);
}

/** A page of a PDF that is nothing but a picture. */
export async function scanAsPdf(jpeg: Uint8Array): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const picture = await document.embedJpg(jpeg);
  const factor = 72 / DPI;
  const [width, height] = [picture.width * factor, picture.height * factor];
  document.addPage([width, height]).drawImage(picture, { x: 0, y: 0, width, height });
  return document.save();
}

/** A contract in Word: header and footer, a comment, an insertion and a deletion that nobody has accepted, a table. */
export function contract(): Promise<Buffer> {
  const change = { id: 1, author: PEOPLE.sender, date: '2026-03-04T10:00:00Z' };
  const document = new Document({
    creator: PEOPLE.sender,
    title: `Contract with ${PEOPLE.receiver}`,
    comments: {
      children: [
        {
          id: 0,
          author: PEOPLE.sender,
          date: new Date('2026-03-04T10:00:00Z'),
          children: [new Paragraph(`Ask ${PEOPLE.receiver} whether ${MAIL} is still right.`)],
        },
      ],
    },
    sections: [
      {
        headers: { default: new Header({ children: [new Paragraph(`Contract ${PEOPLE.receiver}, page 1`)] }) },
        footers: { default: new Footer({ children: [new Paragraph(`Paid from ${IBAN}`)] }) },
        children: [
          new Paragraph({ text: 'Contract for work', heading: HeadingLevel.HEADING_1 }),
          new Paragraph({
            children: [
              new TextRun('Between the town and '),
              new TextRun({ text: 'Torben ', bold: true }),
              new TextRun({ text: 'Achterberg', italics: true }),
              new TextRun(', reached at '),
              new CommentRangeStart(0),
              new TextRun(MAIL),
              new CommentRangeEnd(0),
              new TextRun({ children: [new CommentReference(0)] }),
              new TextRun(' or '),
              new InsertedTextRun({ ...change, text: PHONE }),
              new DeletedTextRun({ ...change, id: 2, text: ' +49 30 901829' }),
              new TextRun('.'),
            ],
          }),
          new Paragraph({ text: 'The roof is covered by June.', bullet: { level: 0 } }),
          new Paragraph({ text: 'The scaffold stands for four weeks.', bullet: { level: 0 } }),
          new Table({
            width: { size: 100, type: WidthType.PERCENTAGE },
            rows: [
              ['Party', 'Signs'],
              [PEOPLE.receiver, 'in Berlin'],
            ].map(
              (cells) =>
                new TableRow({ children: cells.map((text) => new TableCell({ children: [new Paragraph(text)] })) }),
            ),
          }),
        ],
      },
    ],
  });
  return Packer.toBuffer(document);
}

/** A payslip as programs write it: a PDF of text in two columns and a table with rules. */
export async function payslip(): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.Helvetica);
  const bold = await document.embedFont(StandardFonts.HelveticaBold);
  const page = document.addPage([595, 842]);
  const write = (text: string, x: number, y: number, size = 9.5, face = font): void =>
    page.drawText(text, { x, y, size, font: face });
  page.drawRectangle({ x: 50, y: 752, width: 495, height: 40, color: rgb(0.15, 0.25, 0.45) });
  page.drawText('Payslip March 2026', { x: 62, y: 766, size: 16, font: bold, color: rgb(1, 1, 1) });
  write(PEOPLE.receiver, 60, 715, 10, bold);
  write('Lindenallee 14', 60, 701);
  write('10115 Berlin', 60, 687);
  write(`Mail: ${MAIL}`, 330, 715);
  write(`Phone: ${PHONE}`, 330, 701);
  write(`IBAN: ${IBAN}`, 330, 687);
  const rows = [
    ['Item', 'Hours', 'Amount'],
    ['Basic pay', '160', '3,200.00'],
    ['Overtime', '12', '300.00'],
    ['Tax', '', '-612.40'],
    ['Insurance', '', '-701.75'],
    ['Paid out', '', '2,185.85'],
  ];
  for (const [at, row] of rows.entries()) {
    const y = 640 - at * 22;
    page.drawLine({ start: { x: 50, y: y - 6 }, end: { x: 545, y: y - 6 }, thickness: 0.6, color: rgb(0.6, 0.6, 0.6) });
    for (const [column, cell] of row.entries())
      write(cell, 60 + column * 170, y, 10, at === 0 || at === rows.length - 1 ? bold : font);
  }
  write(`Transferred to ${PEOPLE.receiver}, account ${IBAN}, on 28 March.`, 60, 480);
  return document.save();
}

/** Where a face is in {@link cardPhoto}, as parts of its width and height. */
export const FACE = { x0: 0.13, y0: 0.36, x1: 0.31, y1: 0.66 } as const;

/** A photograph of an identity card on a table: taken at an angle, in an uneven light, with noise. JPEG. */
export async function cardPhoto(): Promise<Buffer> {
  const card = await sharp(Buffer.from(cardDrawing())).flatten().raw().toBuffer({ resolveWithObject: true });
  const [width, height] = [1600, 1100];
  const data = Buffer.alloc(width * height * 3);
  let seed = 11;
  const noise = (): number => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return (((seed >> 8) % 41) - 20) * 0.5;
  };
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      // The far edge is a little shorter than the near one.
      const v = (y - 160) / 780;
      const inset = 190 - 70 * v;
      const u = (x - inset - 12 * v) / (width - 2 * inset);
      const light = 1.05 - 0.35 * Math.hypot(x / width - 0.3, y / height - 0.2);
      const on = u >= 0 && u < 1 && v >= 0 && v < 1;
      const from = (Math.floor(v * card.info.height) * card.info.width + Math.floor(u * card.info.width)) * 3;
      const grain = noise();
      for (let channel = 0; channel < 3; channel++) {
        const value = on
          ? (card.data[from + channel] ?? 0)
          : ([112, 82, 58][channel] ?? 0) + 10 * Math.sin(y / 9 + x / 170);
        data[(y * width + x) * 3 + channel] = Math.max(0, Math.min(255, value * light + grain));
      }
    }
  }
  return sharp(data, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: 80 })
    .toBuffer();
}

function cardDrawing(): string {
  const lines = [
    ['Name', PEOPLE.receiver, 300],
    ['Mail', MAIL, 400],
    ['Phone', PHONE, 500],
    ['Number', 'L01X00T47', 600],
  ] as const;
  const said = lines.map(
    ([label, value, y]) =>
      `<text x="470" y="${y - 42}" font-size="26" fill="#5a6a78">${label}</text><text x="470" y="${y}" font-size="40" fill="#1c2630">${value}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="1280" height="800" font-family="Liberation Sans">
<defs><radialGradient id="skin"><stop offset="0" stop-color="#e8bf9f"/><stop offset="1" stop-color="#b07c58"/></radialGradient>
<linearGradient id="wall"><stop offset="0" stop-color="#8fa7b8"/><stop offset="1" stop-color="#5d7386"/></linearGradient></defs>
<rect width="1280" height="800" rx="36" fill="#dfe9ee"/><rect width="1280" height="130" rx="36" fill="#b9d2dc"/>
<text x="60" y="85" font-size="54" font-weight="bold" fill="#1c2630">IDENTITY CARD</text>
<rect x="60" y="200" width="340" height="440" fill="url(#wall)"/>
<path d="M70 640 Q90 520 230 510 Q370 520 390 640 Z" fill="#44506a"/>
<rect x="195" y="440" width="70" height="90" fill="#b07c58"/><ellipse cx="230" cy="370" rx="95" ry="125" fill="url(#skin)"/>
<path d="M130 350 Q130 225 230 222 Q332 225 330 350 Q310 270 230 268 Q150 270 130 350 Z" fill="#4b3423"/>
<ellipse cx="195" cy="365" rx="13" ry="8" fill="#2b2b2b"/><ellipse cx="265" cy="365" rx="13" ry="8" fill="#2b2b2b"/>
<path d="M230 375 L218 420 L240 422" stroke="#8a5a3c" stroke-width="5" fill="none"/>
<path d="M195 452 Q230 474 265 452" stroke="#8c3f3f" stroke-width="8" fill="none"/>${said.join('')}</svg>`;
}
