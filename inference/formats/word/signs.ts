import type { OfficePackage } from '../ooxml/package.ts';
import { signIn } from '../ooxml/signs.ts';
import { element, rewrite } from '../ooxml/xml.ts';

/** Makes text of letters that are written as signs of a font of letters: they are read, and found, as text is. */
export function signsToText({ parts }: OfficePackage): void {
  for (const { xml } of parts)
    if (xml)
      rewrite(xml, (own) => {
        const sign = signIn(own);
        if (!sign || sign.pictured) return [own];
        const prefix = own.name.slice(0, -own.local.length);
        return [element(`${prefix}t`, { 'xml:space': 'preserve' }, [{ text: sign.letter }])];
      });
}
