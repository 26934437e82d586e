/** Words that stand for a letter or sign. */
export const LETTERS: Readonly<Record<string, string>> = {
  ...{ tab: '\t', line: '\n', lbr: '\n', softline: '\n', emdash: '\u2014', endash: '\u2013', bullet: '\u2022' },
  ...{
    lquote: '\u2018',
    rquote: '\u2019',
    ldblquote: '\u201c',
    rdblquote: '\u201d',
    emspace: '\u2003',
    enspace: '\u2002',
  },
  ...{
    qmspace: '\u2005',
    '~': '\u00a0',
    _: '\u2011',
    '-': '\u00ad',
    zwj: '\u200d',
    zwnj: '\u200c',
    ltrmark: '\u200e',
    rtlmark: '\u200f',
  },
};

/** Words that end a stretch of text that is read as a whole; they stay. */
export const ENDS = new Set('par sect page cell nestcell row nestrow column sbkpage'.split(' '));

/** Words about how text and pages look, which say nothing else; they stay. */
export const LOOKS = new Set(
  (
    'b i ul ulnone uld uldb ulw strike striked fs super sub nosupersub plain scaps caps pard ql qc qr qj li ri fi lin rin ' +
    'sb sa sl slmult keep keepn pagebb intbl itap trowd trgaph trleft trrh trqc trqr trhdr cellx clvmgf clvmrg clmgf clmrg ' +
    'clvertalt clvertalc clvertalb clbrdrt clbrdrl clbrdrb clbrdrr brdrs brdrw brdrnone trbrdrt trbrdrl trbrdrb trbrdrr ' +
    'trbrdrh trbrdrv sectd titlepg landscape paperw paperh margl margr margt margb lndscpsxn pgwsxn pghsxn marglsxn ' +
    'margrsxn margtsxn margbsxn cols colsx tx tqr tqc ltrpar rtlpar ltrch rtlch chftn'
  ).split(' '),
);

/** Groups with a text of their own that a reader sees; they stay. */
export const KEPT_GROUPS = new Set('header headerl headerr headerf footer footerl footerr footerf footnote'.split(' '));
/** Groups that begin with a star although their text belongs to the text around them. */
export const OPEN_GROUPS = new Set('shpinst shptxt shppict shpgrp fldrslt result'.split(' '));
/** Groups that begin without a star and are not shown. */
export const UNSEEN_GROUPS = new Set(
  (
    'fonttbl colortbl stylesheet info fldinst pict objdata objclass objname objalias objsect sp shprslt upr bkmkstart bkmkend ' +
    'xe tc rxe atnid atnauthor annotation atntime atndate atnref atnicn listtable listoverridetable revtbl filetbl private ' +
    'title subject author manager company operator category keywords comment doccomm hlinkbase creatim revtim printim buptim ' +
    'userprops nextfile template macpict nonshppict ftnsep ftnsepc ftncn aftnsep aftnsepc aftncn pgptbl rsidtbl'
  ).split(' '),
);

/** Encodings by the number of a font's character set. */
const CHARSETS: Readonly<Record<number, string>> = {
  ...{ 77: 'macintosh', 128: 'shift_jis', 129: 'euc-kr', 134: 'gbk', 136: 'big5', 161: 'windows-1253' },
  ...{ 162: 'windows-1254', 163: 'windows-1258', 177: 'windows-1255', 178: 'windows-1256', 186: 'windows-1257' },
  ...{ 204: 'windows-1251', 222: 'windows-874', 238: 'windows-1250' },
};
const PAGES: Readonly<Record<number, string>> = {
  ...{
    874: 'windows-874',
    932: 'shift_jis',
    936: 'gbk',
    949: 'euc-kr',
    950: 'big5',
    866: 'ibm866',
    10000: 'macintosh',
  },
  ...{ 65001: 'utf-8', 1361: 'euc-kr', 20127: 'windows-1252', 28591: 'windows-1252', 28592: 'iso-8859-2' },
};

/** The encoding of a font's letters, where its character set says one. */
export function encodingOfCharset(charset: number): string | undefined {
  return CHARSETS[charset];
}

/** The encoding of a code page; undefined if it is not supported. */
export function encodingOfPage(page: number): string | undefined {
  return PAGES[page] ?? (page >= 1250 && page <= 1258 ? `windows-${page}` : undefined);
}
