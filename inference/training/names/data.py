"""Sentences with names, as words and labels: what is read, what is made up, and what is done to it."""

import gzip
import json
import random
import re
from dataclasses import dataclass, replace
from pathlib import Path

from common.words import words_of

LABELS = ("PER", "LOC", "ORG", "ADDRESS")
TAGS = ("O", *(f"{part}-{label}" for label in LABELS for part in "BI"))
OWN = {"PER": "PER", "PERSON": "PER", "LOC": "LOC", "ORG": "ORG", "ADDRESS": "ADDRESS"}
MARK = re.compile(r"\[\[(PER|LOC|ORG|ADDRESS):([^\[\]]+)\]\]")
LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
LOCALES = {
    "en": ("en", "en_GB", "en_US", "en_IE", "en_IN"),
    "de": ("de", "de_AT", "de_CH"),
    "fr": ("fr", "fr_BE", "fr_CH"),
    "es": ("es", "es_MX"),
    "it": ("it",),
    "nl": ("nl", "nl_BE"),
    "pl": ("pl",),
    "pt": ("pt_PT", "pt_BR"),
}


@dataclass
class Item:
    """
    A text; `spans`: (start, end, label), in order. `weight`: how often it is seen in an epoch, about. `unsure`: where words
    begin of which nobody said whether they are names.
    """

    lang: str
    text: str
    spans: list[tuple[int, int, str]]
    source: str
    weight: float = 1.0
    unsure: frozenset[int] = frozenset()


def read_lines(path: Path):
    opened = gzip.open(path, "rt", encoding="utf8") if path.suffix == ".gz" else open(path, encoding="utf8")
    with opened as lines:
        for line in lines:
            yield json.loads(line)


def read_spans(path: Path, source: str, weight: float = 1.0) -> list[Item]:
    """A file of shared data: offsets into the text. Labels that are no names are none here."""
    items = []
    for entry in read_lines(path):
        spans = sorted((s[0], s[1], OWN[s[2]]) for s in entry["spans"] if s[2] in OWN)
        items.append(Item(entry["lang"], entry["text"], spans, source, weight))
    return items


def read_marked(path: Path, held_out: bool, weight: float = 1.0) -> list[Item]:
    """A file of our own, the part that is learned from or the other: names are marked in the text."""
    items = []
    for entry in read_lines(path):
        if is_held_out(entry) != held_out:
            continue
        text, spans, at = "", [], 0
        for mark in MARK.finditer(entry["text"]):
            text += entry["text"][at : mark.start()]
            spans.append((len(text), len(text) + len(mark[2]), mark[1]))
            text += mark[2]
            at = mark.end()
        items.append(Item(entry["lang"], text + entry["text"][at:], spans, "own", weight))
    return items


def is_title(item: Item) -> bool:
    """A headword of an encyclopedia: nothing around the name tells that it is one."""
    return len(item.spans) == 1 and item.spans[0][1] - item.spans[0][0] > 0.7 * len(item.text)


def pieces(item: Item, most: int = 160) -> list[Item]:
    """A long text, cut at line ends."""
    if len(item.text) < most * 5:
        return [item]
    parts, at = [], 0
    while at < len(item.text):
        end = item.text.find("\n", at + most * 3)
        end = len(item.text) if end < 0 else end + 1
        spans = [(s - at, e - at, label) for s, e, label in item.spans if s >= at and e <= end]
        parts.append(Item(item.lang, item.text[at:end], spans, item.source, item.weight))
        at = end
    return parts


def replace_spans(item: Item, texts: dict[int, str]) -> Item:
    """A copy in which the spans of these positions say something else."""
    text, spans, at = "", [], 0
    for index, (start, end, label) in enumerate(item.spans):
        text += item.text[at:start]
        said = texts.get(index, item.text[start:end])
        spans.append((len(text), len(text) + len(said), label))
        text += said
        at = end
    return Item(item.lang, text + item.text[at:], spans, item.source, item.weight)


class Varied:
    """Other names in the same places, and texts in small or large letters."""

    def __init__(self, lists: dict, chance: random.Random):
        self.lists = lists
        self.chance = chance
        kinds = ("given", "surname", "city", "street")
        latin = {kind: [[text for text in l.get(kind, ()) if LATIN.match(text)] for l in lists.values()] for kind in kinds}
        self.everywhere = {kind: [texts for texts in found if len(texts) > 9] for kind, found in latin.items()}

    def pick(self, lang: str, kind: str) -> str:
        locale = self.chance.choice(LOCALES.get(lang, LOCALES["en"]))
        found = self.lists.get(locale, {}).get(kind) or ()
        # One in four comes from anywhere: people move.
        if not found or self.chance.random() < 0.25:
            found = self.chance.choice(self.everywhere[kind])
        return self.chance.choice(found)

    def person(self, lang: str, was: str) -> str:
        """In the form of the name that was there: how many words, which letters."""
        given, surname = self.pick(lang, "given"), self.pick(lang, "surname")
        parts = was.split()
        if "," in was:
            made = f"{surname}, {given}"
        elif len(parts) == 1:
            made = given if self.chance.random() < 0.6 else surname
        elif len(parts) > 2 and len(parts[1].rstrip(".")) == 1:
            made = f"{given} {self.pick(lang, 'given')[0]}{self.chance.choice(('.', '.', ''))} {surname}"
        elif len(parts) > 2 and self.chance.random() < 0.6:
            made = f"{given} {self.pick(lang, self.chance.choice(('given', 'surname')))} {surname}"
        elif len(parts[0].rstrip(".")) == 1:
            made = f"{given[0]}. {surname}"
        else:
            made = f"{given} {surname}"
            if self.chance.random() < 0.08:
                made += "-" + self.pick(lang, "surname")
        if lang == "de" and self.chance.random() < 0.06 and made[-1] not in "sßxz":
            made += "s"
        return made.lower() if was.islower() else made.upper() if was.isupper() and len(was) > 3 else made

    def vary(self, item: Item) -> Item:
        if item.spans and self.chance.random() < 0.5:
            texts = {}
            for index, (start, end, label) in enumerate(item.spans):
                was = item.text[start:end]
                if label == "PER" and self.chance.random() < 0.8:
                    texts[index] = self.person(item.lang, was)
                elif label == "LOC" and self.chance.random() < 0.4 and was[:1].isupper():
                    texts[index] = self.pick(item.lang, "city")
            item = replace_spans(item, texts)
        return self.wrapped(self.cased(item))

    def wrapped(self, item: Item) -> Item:
        """Now and then in lines of no more than so many characters, as mails and pages of print are: names go on in the next one."""
        if len(item.text) < 25 or self.chance.random() >= 0.12:
            return item
        width = self.chance.randint(15, 80)
        text, begin = "", self.chance.randint(0, width - 1)
        for word in item.text.split(" "):
            breaks = text and begin + len(word) >= width
            text += ("\n" if breaks else " " if text else "") + word
            begin = len(word) if breaks else begin + len(word) + 1
        return replace(item, text=text) if len(text) == len(item.text) else item

    def cased(self, item: Item) -> Item:
        """Now and then in small letters throughout, or in capitals, or with capitals where there is no name."""
        roll = self.chance.random()
        if roll < 0.2:
            cased = item.text.lower() if roll < 0.08 else item.text.upper() if roll < 0.11 else self.puffed_up(item)
            if len(cased) == len(item.text):
                item = replace(item, text=cased)
        return item

    def puffed_up(self, item: Item) -> str:
        """Some Words that are no Names begin with a Capital, as People write who want to be Heard."""
        text = item.text
        inside = {at for start, end, _ in item.spans for at in range(start, end)}
        share = self.chance.choice((0.15, 0.3, 0.9))
        for start, end, _ in words_of(text):
            if start not in inside and start not in item.unsure and end - start > 2 and self.chance.random() < share:
                text = text[:start] + text[start].upper() + text[start + 1 :]
        return text


def tags_of(item: Item) -> tuple[list[tuple[int, int, int]], list[int]]:
    """Words and the tag of each, -100 where nobody knows it. A word that is only in part a name's belongs to it."""
    words = words_of(item.text)
    tags, index, inside = [], 0, -1
    for start, end, _ in words:
        while index < len(item.spans) and item.spans[index][1] <= start:
            index += 1
        if index < len(item.spans) and item.spans[index][0] < end:
            label = LABELS.index(item.spans[index][2])
            tags.append(1 + 2 * label + (1 if inside == index else 0))
            inside = index
        else:
            tags.append(-100 if start in item.unsure else 0)
    return words, tags


def is_held_out(entry: dict) -> bool:
    """One in five of our own, by number: lines of one number may be alike in two languages. test/eval does the same."""
    return int(entry["id"].rsplit("-", 1)[1]) % 5 == 0


def shared_items(data: Path) -> list[Item]:
    """What others labelled, wikis thinned out: they are many, and written by a machine."""
    items: list[Item] = []
    for path in sorted((data / "ner").glob("wikiann.*.train.jsonl.gz")):
        items += [i for i in read_spans(path, "wikiann", 0.35) if not is_title(i) or len(i.text) % 8 == 0]
    items += read_spans(data / "ner" / "wnut17.en.train.jsonl.gz", "wnut17", 1.0)
    items += read_spans(data / "pii" / "synth_eu.train.jsonl.gz", "synth_eu", 0.5)
    for item in read_spans(data / "pii" / "meddocan.es.train.jsonl.gz", "meddocan", 0.6):
        items += pieces(item)
    return items


def own_items(own: Path, held_out: bool, weight: float = 1.0) -> list[Item]:
    return [item for path in sorted(own.glob("names.*.jsonl")) for item in read_marked(path, held_out, weight)]
