import { Composer, LineCounter, Parser, type Document, type ParsedNode } from 'yaml';
import type { Fault, SourceDocument } from '../fault.ts';
import { toValue, UnreadableYaml } from './yaml-value.ts';

/** Documents of one file, and the faults of its text. */
export interface ParsedFile {
  readonly documents: readonly SourceDocument[];
  readonly faults: readonly Fault[];
}

const MAX_DOCUMENTS = 100_000;
const SLICE_MS = 10;

/** Own words for the library's errors: its messages quote the text, which may be a secret. */
const MESSAGES: ReadonlyMap<string, string> = new Map([
  ['BAD_INDENT', 'has wrong indentation, or an unclosed bracket'],
  ['TAB_AS_INDENT', 'is indented with a tab: use spaces'],
  ['MISSING_CHAR', 'is missing a character, such as a closing quote'],
  ['BAD_DQ_ESCAPE', 'has an escape that YAML does not know'],
  ['BAD_SCALAR_START', 'has a value that must be in quotes'],
  ['BLOCK_AS_IMPLICIT_KEY', 'has two colons: put the value in quotes'],
  ['NON_STRING_KEY', 'has a key that is not a string'],
  ['TAG_RESOLVE_FAILED', 'has a tag that is not supported'],
  ['RESOURCE_EXHAUSTION', 'is nested too deeply'],
]);

/**
 * Reads the documents of a YAML file (1.2, core schema); empty ones are left out. Of a document that is not YAML the
 * first fault is reported: the others mostly follow from it. Gives way to other work every few milliseconds.
 */
export async function parseYaml(file: string, text: string): Promise<ParsedFile> {
  const lines = new LineCounter();
  const composer = new Composer<ParsedNode>({
    version: '1.2',
    schema: 'core',
    stringKeys: true,
    merge: false,
    resolveKnownTags: false,
    prettyErrors: false,
    // The library compares every key with every other one; toValue finds duplicates in linear time.
    uniqueKeys: false,
    logLevel: 'silent',
  });
  const documents: SourceDocument[] = [];
  const faults: Fault[] = [];
  let index = 0;
  let pauseAt = performance.now() + SLICE_MS;
  for (const document of composer.compose(new Parser(lines.addNewLine).parse(text))) {
    const fault = (offset: number, message: string): void => {
      faults.push({ file, object: `document ${index + 1}`, field: `line ${lines.linePos(offset).line}`, message });
    };
    if (index === MAX_DOCUMENTS) {
      fault(document.range[0], 'is not read: the file has too many documents');
      break;
    }
    readDocument(document, fault, (value) => documents.push({ file, index, value }));
    index++;
    if (performance.now() > pauseAt) {
      await new Promise((resume) => setImmediate(resume));
      pauseAt = performance.now() + SLICE_MS;
    }
  }
  return { documents, faults };
}

function readDocument(
  document: Document.Parsed,
  fault: (offset: number, message: string) => void,
  found: (value: unknown) => void,
): void {
  const error = document.errors[0] ?? document.warnings[0];
  if (error) return fault(error.pos[0], MESSAGES.get(error.code) ?? 'is not YAML');
  if (!document.contents) return;
  try {
    const value = toValue(document.contents);
    if (value !== null) found(value);
  } catch (thrown) {
    if (!(thrown instanceof UnreadableYaml)) throw thrown;
    fault(thrown.offset, thrown.message);
  }
}
