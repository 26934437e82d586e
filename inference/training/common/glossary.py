"""English words for those of other languages, one by one: what an encoder that knows English reads. inference/decide/glossary.ts does the same."""

import re
import unicodedata
from bisect import bisect_left
from pathlib import Path

from common.words import folded, kind_of, words_of

FILE = "glossary.txt"
ENGLISH = "en"
SHARE = 840
"""What a word counts for the languages that know it, in equal parts: whole numbers for up to eight of them."""
PARTED = ("de", "nl")
"""Languages that write words together."""
ENDING, STEM = 3, 4
"""Letters that a form may lose at its end, and those that have to stay."""
JOINED, PARTS = 8, 3
"""Letters of a word that may be of several, and how many those may be."""
JOINTS = ("", "s", "es", "n", "en")
WITHOUT = re.compile("(?:los(?:e[mnrs]?)?|loos|loze)$")
"""How words end in those languages that say what there is nothing of."""
CLOSING = set('.:;!?|()"\u201c\u201d\u201e\u00ab\u00bb')
"""What ends a stretch of one language; so does a line's end."""


def plain(word: str) -> str:
    """Without accents, as people type."""
    bare = "".join(c for c in unicodedata.normalize("NFD", word) if unicodedata.category(c)[0] != "M")
    return bare.replace("ł", "l").replace("ß", "ss")


class Forms:
    """The words of one language."""

    def __init__(self, language: str, entries: dict[str, str]):
        self.is_parted = language in PARTED
        self.glosses = dict(entries)
        for form, gloss in entries.items():
            self.glosses.setdefault(plain(form), gloss)
        self.sorted = sorted(self.glosses)

    def exactly(self, word: str) -> str | None:
        return self.glosses.get(word) or self.glosses.get(plain(word))

    def inflected(self, word: str) -> str | None:
        """The gloss of the form that begins alike and ends otherwise: of the one that differs least, of two the first by letters."""
        bare = plain(word)
        best, found = 2 * ENDING + 1, None
        for lost in range(min(ENDING, len(bare) - STEM) + 1):
            stem = bare[: len(bare) - lost]
            at = bisect_left(self.sorted, stem)
            while at < len(self.sorted) and self.sorted[at].startswith(stem):
                more = len(self.sorted[at]) - len(stem)
                if more <= ENDING and lost + more < best:
                    best, found = lost + more, self.glosses[self.sorted[at]]
                at += 1
        return found

    def joined(self, word: str, parts: int = PARTS) -> str | None:
        """The glosses of the words that it is written together from: the longest first."""
        if parts < 2 or len(word) < JOINED:
            return None
        for size in range(len(word) - STEM, STEM - 1, -1):
            first = self.part(word[:size])
            if first:
                rest = word[size:]
                second = self.exactly(rest) or self.inflected(rest) or self.joined(rest, parts - 1)
                if second:
                    return f"{first} {second}"
        return None

    def part(self, word: str) -> str | None:
        for joint in JOINTS:
            stem = word[: len(word) - len(joint)]
            if word.endswith(joint) and len(stem) >= STEM - 1:
                found = self.glosses.get(stem)
                if found:
                    return found
        return None

    def without(self, word: str) -> str | None:
        ending = WITHOUT.search(word)
        found = self.part(word[: ending.start()]) if ending else None
        return f"without {found}" if found else None

    def of(self, word: str, is_english: bool) -> str | None:
        found = self.exactly(word)
        if found or is_english:
            return found
        if not self.is_parted:
            return self.inflected(word)
        return self.without(word) or self.inflected(word) or self.joined(word)


class Glossary:
    """`text`: a line an entry, language, form and gloss between tabs; what is said first of a form holds. English words are their own."""

    def __init__(self, text: str):
        self.text = text
        entries: dict[str, dict[str, str]] = {}
        self.english: set[str] = set()
        for line in text.splitlines():
            language, form, gloss = line.split("\t")
            if language != ENGLISH:
                entries.setdefault(language, {}).setdefault(form, gloss)
            self.english.update(gloss.split(" "))
        self.languages = {language: Forms(language, forms) for language, forms in entries.items()}

    def read(self, texts: list[str]) -> tuple[list[str], list[str]]:
        """Texts that are said together, in English as far as their words are known; and the languages that they were in."""
        split = [self.stretches_of(text) for text in texts]
        counted = [[(stretch, self.count(text, stretch)) for stretch in stretches] for text, stretches in zip(texts, split)]
        whole = {language: sum(c[language] for stretches in counted for _, c in stretches) for language in (ENGLISH, *self.languages)}
        total = max(1, sum(whole.values()))
        found, said = set(), []
        for text, stretches in zip(texts, counted):
            made, last = [], 0
            for stretch, count in stretches:
                language = max(whole, key=lambda name: count[name] + SHARE * whole[name] // total)
                if sum(count.values()):
                    found.add(language)
                if language == ENGLISH:
                    continue
                for start, end in stretch:
                    word = folded(text[start:end])
                    gloss = self.languages[language].of(word, word in self.english)
                    if gloss:
                        made += [text[last:start], gloss]
                        last = end
            said.append("".join([*made, text[last:]]))
        return said, [language for language in whole if language in found]

    def read_apart(self, texts: list[str]) -> list[str]:
        """Texts as `read` gives them; as they are where two would become the same that are not."""
        said, _ = self.read(texts)
        return said if len(set(said)) == len(set(texts)) else texts

    def stretches_of(self, text: str) -> list[list[tuple[int, int]]]:
        """Its words of letters, those between two marks or line ends together; what stands at a number without a space, or has letters beyond the common plane, is none."""
        stretches: list[list[tuple[int, int]]] = [[]]
        is_number = lambda at: 0 <= at < len(text) and kind_of(text[at]) == "d"
        is_common = lambda word: max(word) <= "\uffff"
        for start, end, gap in words_of(text):
            if gap == 2 or text[start] in CLOSING:
                stretches.append([])
            if kind_of(text[start]) == "a" and not is_number(start - 1) and not is_number(end) and is_common(text[start:end]):
                stretches[-1].append((start, end))
        return [stretch for stretch in stretches if stretch]

    def count(self, text: str, stretch: list[tuple[int, int]]) -> dict[str, int]:
        """How much of a stretch each language knows."""
        counts = dict.fromkeys((ENGLISH, *self.languages), 0)
        for start, end in stretch:
            word = folded(text[start:end])
            known = [name for name, forms in self.languages.items() if forms.exactly(word)]
            if word in self.english:
                known.append(ENGLISH)
            for name in known:
                counts[name] += SHARE // len(known)
        return counts


def glossary_of(own: Path) -> Glossary:
    """That of the repository's own words; its `text` is the file of a model's folder."""
    lines = []
    for path in sorted(own.glob("glossary.*.txt")):
        language = path.name.split(".")[1]
        for entry in path.read_text("utf8").splitlines():
            form, _, gloss = entry.partition(" ")
            lines.append(f"{language}\t{form}\t{gloss or form}\n")
    return Glossary("".join(lines))
