"""Sentences made up around words and names: what people write to models, in all languages. See data/README.md."""

import json
import random
import re
from collections import defaultdict
from pathlib import Path

from common.words import words_of
from names.addresses import Addresses
from names.data import LOCALES, Item, Varied, read_lines

SLOT = re.compile(r"\{([A-Za-z]\d?)\}")
LABELLED = {"P": "PER", "L": "LOC", "K": "LOC", "O": "ORG", "D": "ADDRESS", "Z": "LOC"}
SENTENCE_ENDS = set(".!?:…¿¡\"'«»„“”(•-–*")
"""What a word stands after that may have its capital from its place."""
ARTICLE = set(
    "der die das dem den des ein eine einen einem einer eines kein keine keinen keinem keiner mein meine meinen meinem meiner "
    "unser unsere unseren unserem unserer ihr ihre ihren ihrem ihrer euer eure im am zum zur beim vom ins ans".split()
)
HEADED = (
    "{H}\n", "{H}: ", "{H}: {H}\n", "## {H}\n", "- {H}\n- {H}\n", "Subject: {H}\n", "Re: {H} and {H}\n",
    "Please send the {H} to {P}.", "the {H} ({H}) is due on Friday", "{P}, {H}\n{H}", "{P} owns the {H}.", "{H} of {L}\n",
)
SENTENCES = {"de": 5500, "en": 4500, "es": 1400, "fr": 1400, "it": 1500, "nl": 1400, "pl": 1800, "pt": 1500}
"""Made anew in every epoch."""
HEADINGS = 900
ADDRESSED = {"en": 800, "de": 250, "es": 200, "fr": 200, "it": 200, "nl": 200, "pl": 200, "pt": 200}
"""More of them, with an address in each: no two are written alike, and few texts with labels have one."""
UNJUDGED = 6000
"""Of the texts without labels, how many an epoch takes, about: however many more are written, what has labels weighs the same."""
FORMS = (*("Ada Roe",) * 6, *("Roe",) * 4, "Ada Mary Roe", "Ada M. Roe", "A. Roe", "Roe, Ada")
POLISH = {"ski": ("skiego", "skiemu", "skim"), "cki": ("ckiego", "ckiemu", "ckim"), "a": ("y", "ę", "ą", "ie"), "": ("a", "owi", "em")}


class Plain:
    """Sentences with nouns and names in the same places, so that nobody learns their frames instead."""

    def __init__(self, own: Path, varied: Varied, chance: random.Random):
        self.most = 10**6
        """Sentences in a language."""
        self.lists = json.loads((own / "plain.json").read_text(encoding="utf8"))
        self.varied = varied
        self.chance = chance
        having = [locale for locale, found in sorted(varied.lists.items()) if len(found.get("firm", ())) > 30]
        self.firms = {"all": having, **{lang: [l for l in LOCALES[lang] if l in having] for lang in LOCALES}}
        self.addresses = Addresses(varied.lists, json.loads((own / "addresses.json").read_text(encoding="utf8")), chance)

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

    def heading(self) -> str:
        words = [self.chance.choice(self.lists["headings"]["en"]) for _ in range(self.chance.choice((1, 2, 2, 3)))]
        if self.chance.random() < 0.2:
            words.insert(0, self.chance.choice(self.lists["acronyms"]))
        return " ".join(words)

    def person(self, lang: str) -> str:
        said = self.varied.person(lang, self.chance.choice(FORMS))
        if lang != "pl" or self.chance.random() < 0.5:
            return said
        end = lambda word: next((e for e in POLISH if e and word.endswith(e)), "")
        bend = lambda word: word[: len(word) - len(end(word))] + self.chance.choice(POLISH[end(word)])
        return " ".join(bend(word) if word[-1:].isalpha() else word for word in said.split())

    def town(self, lang: str) -> str:
        town = self.varied.pick(lang, "city")
        return town.upper() if self.chance.random() < 0.05 else town

    def land(self, lang: str) -> str:
        """A country, or a part of one."""
        own = self.varied.lists["pt_PT" if lang == "pt" else lang]
        return self.chance.choice(own["country"] if self.chance.random() < 0.75 or not own["state"] else own["state"])

    def firm(self, lang: str) -> str:
        """With or without a form of law: called after people and towns, as lists have it, or by a made-up word."""
        roll, pick = self.chance.random(), self.chance.choice
        if roll < 0.4:
            return self.filled(pick(self.lists["firms"][lang]), lang)[0]
        if roll < 0.65:
            locale = pick(self.firms[lang] if roll < 0.55 else self.firms["all"])
            return pick(self.varied.lists[locale]["firm"])
        brands = self.lists["brands"]
        name = pick(brands["firsts"])
        name += pick(brands["ends"]) if roll < 0.85 else pick((" ", " ", "")) + pick(brands["firsts"])
        if self.chance.random() < 0.45:
            name += " " + pick(brands["lasts"])
        return f"{name} {pick(brands['forms'])}" if self.chance.random() < 0.25 else name

    def address(self, lang: str) -> str:
        if self.chance.random() < 0.2:
            return self.filled(self.chance.choice(self.lists["addresses"][lang]), lang)[0]
        return self.addresses.made(lang)

    def part(self, slot: str, lang: str) -> str:
        pick = self.varied.pick
        digits = lambda count: "".join(self.chance.choice("0123456789") for _ in range(count))
        made = {
            "P": lambda: self.person(lang),
            "L": lambda: self.town(lang),
            "K": lambda: self.land(lang),
            "O": lambda: self.firm(lang),
            "D": lambda: self.address(lang),
            "Z": lambda: self.addresses.code_of(lang),
            "N": self.noun,
            "A": lambda: self.chance.choice(self.lists["adjectives"]),
            "H": self.heading,
            "S": lambda: pick(lang, "surname"),
            "C": lambda: pick(lang, "city"),
            # Streets are called after people and towns where there is no list of them.
            "T": lambda: pick(lang, "street") if lang in ("de", "en", "fr") else pick(lang, self.chance.choice(("surname", "city"))),
            "n": lambda: str(self.chance.randint(1, 180)),
            "m": lambda: str(self.chance.randint(1, 12)),
        }
        return digits(int(slot[1])) if slot[0] == "z" else made[slot]()

    def filled(self, frame: str, lang: str) -> tuple[str, list]:
        text, spans, at = "", [], 0
        for slot in SLOT.finditer(frame):
            text += frame[at : slot.start()]
            said = self.part(slot[1], lang)
            if slot[1] in LABELLED:
                spans.append((len(text), len(text) + len(said), LABELLED[slot[1]]))
            text += said
            at = slot.end()
        return text + frame[at:], spans

    def sentences(self) -> list[Item]:
        """Of one epoch."""
        items = []
        for lang, count in SENTENCES.items():
            frames = self.lists["frames"][lang]
            addressed = [frame for frame in frames if "{D}" in frame]
            for choice, most in ((frames, count), (addressed, ADDRESSED[lang])):
                for _ in range(min(self.most, most)):
                    text, spans = self.filled(self.chance.choice(choice), lang)
                    items.append(self.varied.cased(Item(lang, text, spans, "plain")))
        items += [Item("en", *self.filled(self.chance.choice(HEADED), "en"), "plain") for _ in range(min(self.most, HEADINGS))]
        return items


def texts_in(value) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [text for part in (value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()) for text in texts_in(part)]


def unjudged(texts: list[tuple[str, str]], known_names: set[str], nouns: set[str]) -> list[Item]:
    """
    Texts in which nobody marked names, as (language, text). Small words are none, nor are capitalized ones that stand in
    small letters elsewhere, or of German after articles, unless lists know them as names and no sentence begins there: no
    label is learned of the others.
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
        unsure, before = set(), "."
        for start, end, gap in words_of(text):
            word = text[start:end]
            opens = lang != "de" and (gap == 2 or before in SENTENCE_ENDS)
            elsewhere = word.lower() in small[lang] or (lang == "de" and after[word] > 0)
            plain = not word[:1].isupper() or word in nouns or (elsewhere and (opens or word.lower() not in known_names))
            if not plain:
                unsure.add(start)
            before = word
        items.append(Item(lang, text, [], "plain", min(1.0, UNJUDGED / len(texts)), frozenset(unsure)))
    return items


LAST_READ = 1000
"""The highest number of a prompt or a state that is read: enough of them, and the same when others are written for other models."""


def unjudged_items(data: Path | None, own: Path, lists: dict, plain: Plain) -> list[Item]:
    """What people ask of models, and tickets in German where there is shared data: most of what a gateway sees."""
    texts = []
    for path in sorted(own.glob("prompts.*.jsonl")) + sorted(own.glob("decisions.*.jsonl")):
        for entry in read_lines(path):
            if int(entry["id"].split("-")[-1]) <= LAST_READ:
                texts += [(entry["lang"], text[:1500]) for text in texts_in(entry["state"]) if " " in text]
    for entry in list(read_lines(data / "decisions" / "synth_support.jsonl.gz"))[::3] if data else ():
        texts += [(entry["lang"], text) for text in texts_in(entry["state"]) if " " in text and entry["lang"] == "de"]
    names = {part.lower() for l in lists.values() for kind in ("given", "surname", "city") for text in l.get(kind, ()) for part in text.split()}
    nouns = {*plain.lists["nouns"], *plain.lists["acronyms"]} - {"Mai", "April", "August", "Juni", "Juli"}
    return unjudged(texts, names, nouns)
