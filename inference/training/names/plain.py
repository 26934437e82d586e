"""Words that are no names: what taggers take for some where nouns are capitalized. See data/README.md."""

import json
import random
import re
from collections import defaultdict
from pathlib import Path

from common.words import words_of
from names.data import Item, Varied, read_lines

SLOT = re.compile(r"\{([NAPL])\}")
ARTICLE = set(
    "der die das dem den des ein eine einen einem einer eines kein keine keinen keinem keiner mein meine meinen meinem meiner "
    "unser unsere unseren unserem unserer ihr ihre ihren ihrem ihrer euer eure im am zum zur beim vom ins ans".split()
)
HEADED = (
    "{0}\n", "{0}: ", "{0}: {1}\n", "## {0}\n", "- {0}\n- {1}\n", "Subject: {0}\n", "Re: {0} and {1}\n",
    "Please send the {0} to {P}.", "the {0} ({1}) is due on Friday", "{P}, {0}\n{1}", "{P} owns the {0}.", "{0} of {L}\n",
)
SENTENCES = {"de": 5000, "en": 1200}
"""Made anew in every epoch."""


class Plain:
    """Sentences full of nouns, with a name here and there so that nobody learns their frames instead."""

    def __init__(self, own: Path, varied: Varied, chance: random.Random):
        self.lists = json.loads((own / "plain.json").read_text(encoding="utf8"))
        self.varied = varied
        self.chance = chance

    def noun(self) -> str:
        roll = self.chance.random()
        pick = lambda name: self.chance.choice(self.lists[name])
        if roll < 0.5:
            return pick("nouns")
        if roll < 0.55:
            return pick("acronyms")
        made = pick("firsts") + pick("seconds")
        if roll > 0.9:
            made += self.chance.choice(("en", "s", "e", "n", "er"))
        return made

    def name(self, lang: str, kind: str) -> tuple[str, str]:
        if kind == "L":
            return self.varied.pick(lang, "city"), "LOC"
        shown = self.chance.choice(("Ada Roe", "Ada Roe", "Roe"))
        return self.varied.person(lang, shown), "PER"

    def filled(self, frame: str, lang: str, plain: dict) -> Item:
        text, spans, at = "", [], 0
        for slot in SLOT.finditer(frame):
            text += frame[at : slot.start()]
            if slot[1] in "PL":
                said, label = self.name(lang, slot[1])
                spans.append((len(text), len(text) + len(said), label))
            else:
                said = plain[slot[1]]()
            text += said
            at = slot.end()
        return Item(lang, text + frame[at:], spans, "plain")

    def heading(self) -> str:
        words = [self.chance.choice(self.lists["headings"]["en"]) for _ in range(self.chance.choice((1, 2, 2, 3)))]
        if self.chance.random() < 0.2:
            words.insert(0, self.chance.choice(self.lists["acronyms"]))
        return " ".join(words)

    def sentences(self) -> list[Item]:
        """Of one epoch."""
        german = {"N": self.noun, "A": lambda: self.chance.choice(self.lists["adjectives"])}
        items = [self.filled(self.chance.choice(self.lists["frames"]), "de", german) for _ in range(SENTENCES["de"])]
        for _ in range(SENTENCES["en"]):
            frame = self.chance.choice(HEADED).replace("{0}", self.heading()).replace("{1}", self.heading())
            items.append(self.filled(frame, "en", {}))
        return items


def texts_in(value) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [text for part in (value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()) for text in texts_in(part)]


def unjudged(texts: list[tuple[str, str]], known_names: set[str], nouns: set[str]) -> list[Item]:
    """
    Texts in which nobody marked names, as (language, text). Small words are none, nor are capitalized ones that stand in
    small letters elsewhere, or of German after articles: no label is learned of the others.
    """
    small: dict[str, set[str]] = defaultdict(set)
    after: dict[str, int] = defaultdict(int)
    for lang, text in texts:
        before = ""
        for start, end, _ in words_of(text):
            word = text[start:end]
            if word.islower():
                small[lang].add(word)
            elif lang == "de" and before.lower() in ARTICLE:
                after[word] += 1
            before = word
    items = []
    for lang, text in texts:
        unsure = set()
        for start, end, _ in words_of(text):
            word = text[start:end]
            plain = not word[:1].isupper() or word in nouns or (lang != "de" and word.lower() in small[lang])
            plain = plain or (lang == "de" and (word.lower() in small["de"] or after[word] > 0) and word.lower() not in known_names)
            if not plain:
                unsure.add(start)
        items.append(Item(lang, text, [], "plain", 1.0, frozenset(unsure)))
    return items


def unjudged_items(data: Path, own: Path, lists: dict, plain: Plain) -> list[Item]:
    """What people ask of models, and tickets in German: most of what a gateway sees."""
    texts = []
    for path in sorted(own.glob("prompts.*.jsonl")) + sorted(own.glob("decisions.*.jsonl")):
        for entry in read_lines(path):
            texts += [(entry["lang"], text[:1500]) for text in texts_in(entry["state"]) if " " in text]
    for entry in list(read_lines(data / "decisions" / "synth_support.jsonl.gz"))[::3]:
        texts += [(entry["lang"], text) for text in texts_in(entry["state"]) if " " in text and entry["lang"] == "de"]
    names = {part.lower() for l in lists.values() for kind in ("given", "surname", "city") for text in l.get(kind, ()) for part in text.split()}
    nouns = {*plain.lists["nouns"], *plain.lists["acronyms"]} - {"Mai", "April", "August", "Juni", "Juli"}
    return unjudged(texts, names, nouns)
