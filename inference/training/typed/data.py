"""States with questions and answers: where they are from, which part each is in, and how they are varied."""

import gzip
import hashlib
import json
import random
from dataclasses import dataclass, replace
from pathlib import Path

from typed.input import GONE, option_text, question_text, state_text

LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "pl", "pt")
OWN, SCOPE = "own", "scope"
ABOUT = "The request is about this: "
"""How the scope guard asks; in src/inspect/scope/scope-guard.ts, too."""


@dataclass(frozen=True)
class Question:
    """`texts`: of a choice or a score a text an option, of a noul none. `answer`: an index; of a noul 1 where it holds."""

    kind: str
    name: str
    asked: str
    texts: tuple[str, ...]
    answer: int


@dataclass(frozen=True)
class Item:
    lang: str
    source: str
    state: str
    questions: tuple[Question, ...]
    part: str


def roll(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) % 100


def part_of(source: str, entry: dict, state: str) -> str:
    """
    `train`, `calibrate` or `test`, by what an item is and nothing else: of our own, items of one number are in one part in all
    languages; of the others those about one state are.
    """
    if source == OWN:
        at = roll(entry["id"].split("-")[-1])
        return "test" if at < 15 else "calibrate" if at < 25 else "train"
    at = roll(state)
    return "test" if at < 6 else "calibrate" if at < 10 else "train"


def is_unseen(label: str) -> bool:
    """Intents that no training question offers or asks about: to see what becomes of those that nobody trained on."""
    return roll(f"intent {label}") < 12


def question_of(given: dict) -> Question:
    asked = given["i"].translate(GONE)
    if given["t"] == "noul":
        return Question("noul", given["n"], asked, (), int(given["a"]))
    texts = tuple(text.translate(GONE).strip() for text in (given["o"] if given["t"] == "choice" else given["l"]))
    return Question(given["t"], given["n"], asked, texts, given["a"])


def lines_of(path: Path) -> list[dict]:
    opened = gzip.open(path, "rt", encoding="utf8") if path.suffix == ".gz" else open(path, encoding="utf8")
    with opened as lines:
        return [json.loads(line) for line in lines]


def read(path: Path, source: str) -> list[Item]:
    items = []
    for entry in lines_of(path):
        state = state_text(entry["state"])
        part = part_of(source, entry, state)
        questions = tuple(question_of(q) for q in entry["q"])
        if source in ("clinc150", "hwu64"):
            items += intents(Item(entry["lang"], source, state, questions, part))
        else:
            items += purposed(Item(entry["lang"], source, state, questions, part))
    return items


def purposed(item: Item) -> list[Item]:
    """Of our own, questions of the scope guard are a source by themselves."""
    told = tuple(q for q in item.questions if q.asked.startswith(ABOUT))
    others = tuple(q for q in item.questions if not q.asked.startswith(ABOUT))
    found = [replace(item, questions=others)] if others else []
    return [*found, replace(item, source=SCOPE, questions=told)] if told else found


def intents(item: Item) -> list[Item]:
    """An item about an unseen intent is for testing, among others; the rest lose unseen options."""
    told = next((q for q in item.questions if q.name == "intent"), None)
    if told is None:
        return [item]
    truth = told.texts[told.answer]
    if is_unseen(truth):
        return [replace(item, questions=(told,), part="test", source=f"{item.source} unseen")]
    questions = []
    for q in item.questions:
        if q.name == "intent" and item.part == "train":
            texts = tuple(text for text in q.texts if not is_unseen(text))
            if len(texts) > 1:
                questions.append(replace(q, texts=texts, answer=texts.index(truth)))
        elif not (q.name.startswith("is_") and is_unseen(q.name[3:].replace("_", " ")) and item.part == "train"):
            questions.append(q)
    return [replace(item, questions=tuple(questions))] if questions else []


TASKS = {
    "code": "programming: write, explain or repair code", "writing": "writing: make or rewrite a text", "translation": "translation into another language",
    "extraction": "extraction: pull out or classify data from a given text", "document": "document: summarise, check or compare a document",
    "support": "a question, advice or knowledge", "smalltalk": "small talk, greeting or thanks", "action": "an action: do something with a device, calendar, mail or tool",
}
HARDNESS = ("trivial", "simple", "moderate", "hard")
ASKED = ("What does the user want?", "Which kind of task is this?", "What is requested?")


def prompts(folder: Path, lang: str) -> list[Item]:
    """What people ask of assistants, in all languages: which task it is, how hard, and whether it takes several steps."""
    items = []
    for entry in lines_of(folder / f"prompts.{lang}.jsonl"):
        at = roll(entry["id"].split("-")[-1])
        names = list(TASKS)
        names.sort(key=lambda name: roll(entry["id"] + name))
        asked = ASKED[roll(entry["id"]) % len(ASKED)]
        full = roll(entry["id"] + "full") < 60
        questions = (
            Question("choice", "task", asked, tuple(TASKS[n] if full else n for n in names), names.index(entry["task"])),
            Question("noul", "reasoning", "Answering this takes several steps that depend on each other.", (), entry["reasoning"]),
            Question("score", "complexity", "How hard is the request?", HARDNESS, entry["complexity"]),
        )
        state = state_text({"request": entry["state"]["request"]} if roll(entry["id"] + "o") < 40 else entry["state"]["request"])
        items.append(Item(lang, "prompts", state, questions, "test" if at < 6 else "calibrate" if at < 10 else "train"))
    return items


HELD = {
    "PERSON": "a person's name", "EMAIL": "an e-mail address", "PHONE": "a phone number", "IBAN": "a bank account number", "ADDRESS": "a postal address",
    "CREDIT_CARD": "a card number", "DATE_OF_BIRTH": "a date of birth", "SECRET": "a password or key", "ORG": "an organisation",
}


def personal(path: Path) -> list[Item]:
    """Whether texts in many languages have something of a kind in them."""
    items = []
    for entry in lines_of(path):
        state = state_text(entry["text"])
        there = {span[2] for span in entry["spans"]}
        asked = sorted(HELD, key=lambda name: roll(state + name))[:2] + sorted(there & HELD.keys())[:1]
        questions = tuple(
            Question("noul", name, f"The text contains {HELD[name]}.", (), int(name in there)) for name in dict.fromkeys(asked)
        )
        items.append(Item(entry["lang"], "personal", state, questions, part_of("personal", entry, state)))
    return items


SOURCES = ("clinc150", "dnc", "hwu64", "nlupp", "p3_mini", "snli", "synth_support", "wikiann_questions")


def own_items(own: Path) -> list[Item]:
    items = []
    for lang in LANGUAGES:
        items += read(own / f"decisions.{lang}.jsonl", OWN) + prompts(own, lang)
    return items


def all_items(data: Path, own: Path) -> list[Item]:
    items = []
    for name in SOURCES:
        items += read(data / "decisions" / f"{name}.jsonl.gz", name)
    return items + personal(data / "pii" / "synth_eu.train.jsonl.gz") + own_items(own)


ROUNDS = (
    {"snli": 0.8},
    {"snli": 2.0},
    {
        "clinc150": 0.3, "dnc": 0.12, "hwu64": 0.35, "nlupp": 0.9, "p3_mini": 0.4, "snli": 0.8, "synth_support": 0.1,
        "wikiann_questions": 0.02, "personal": 0.02,
    },
    {
        OWN: 1.3, SCOPE: 1.2, "concepts": 0.4, "clinc150": 0.3, "dnc": 0.06, "hwu64": 0.3, "nlupp": 0.5, "p3_mini": 0.3, "snli": 0.6, "synth_support": 0.35,
        "wikiann_questions": 0.02, "prompts": 0.15, "personal": 0.02, "purposes": 0.2,
    },
    {
        OWN: 1.3, SCOPE: 1.2, "concepts": 0.4, "clinc150": 0.5, "dnc": 0.04, "hwu64": 0.3, "nlupp": 0.4, "p3_mini": 0.3, "snli": 0.9, "synth_support": 0.4,
        "wikiann_questions": 0.02, "prompts": 0.15, "personal": 0.02, "purposes": 0.2,
    },
)
"""
How often an item is read in each round. First what follows from a sentence, by itself, which is learned within a hundred steps
then, and among others late or never; then how two sentences are related; then what else is short; then what callers ask.
"""
PACE = (1.0, 0.5, 0.35, 0.45, 0.35)
"""How fast each learns, of the highest rate: which relation there is is not found at a higher one."""
PROPOSED = (1.0, 0.3, 0.3, 0.3, 0.25)
"""How often of SNLI a proposition is asked in each round, and not which relation there is: the one is learned of the other."""
MOST_ASKED = 4
MOST_OFFERED = (8, 8, 8, 8, 16)
"""Options of a choice in each round."""


def chosen_for(round_: int, items: list[Item], chance: random.Random) -> list[Item]:
    chosen = []
    for item in items:
        weight = ROUNDS[round_].get(item.source, 0)
        # What a round does not read leaves its choice of the rest as it is.
        for _ in range(int(weight) + (chance.random() < weight % 1) if weight else 0):
            kept = item
            if item.source == "snli" and chance.random() < PROPOSED[round_]:
                kept = replace(item, questions=tuple(q for q in item.questions if q.kind == "noul"))
            chosen.append(varied(kept, chance, MOST_OFFERED[round_]))
    return chosen


LICENCES = {
    OWN: "Gatewarden's own", SCOPE: "Gatewarden's own", "concepts": "Gatewarden's own", "prompts": "Gatewarden's own", "clinc150": "CC BY 3.0", "hwu64": "CC BY 4.0", "nlupp": "CC BY 4.0", "snli": "CC BY-SA 4.0",
    "dnc": "MIT, CC BY 4.0", "p3_mini": "CC BY 4.0, MIT and others, as its LICENSE.md tells", "synth_support": "CC0", "wikiann_questions": "CC BY-SA 3.0",
    "personal": "CC0", "purposes": "that of clinc150, hwu64, synth_support and prompts",
}


def sources_of(items: list[Item]) -> list[dict]:
    """What is trained on, for the manifest."""
    return [
        {"name": name, "rows": sum(1 for item in items if item.source == name and item.part == "train"), "licence": licence}
        for name, licence in LICENCES.items()
    ]


FOLLOWS = ("It is true that {}", "From the text it follows: {}", "Does it follow that {}?")


def varied(item: Item, chance: random.Random, offered: int) -> Item:
    """Fewer questions and options, and other words around a proposition."""
    most = 1 if item.source == "snli" else MOST_ASKED if item.source in (OWN, SCOPE) else 2
    asked = chance.sample(item.questions, min(most, len(item.questions)))
    if item.source == SCOPE:
        # As many purposes that it has as others, where there are.
        holding, others = ([q for q in item.questions if q.answer == answer] for answer in (1, 0))
        asked = chance.sample(holding, min(2, len(holding))) + chance.sample(others, min(max(1, len(holding)), 2, len(others)))
    return replace(item, questions=tuple(changed(q, item, chance, offered) for q in asked))


def changed(q: Question, item: Item, chance: random.Random, offered: int) -> Question:
    if q.kind == "noul":
        if item.source in ("snli", "dnc") and chance.random() < 0.25:
            return replace(q, asked=chance.choice(FOLLOWS).format(q.asked[:1].lower() + q.asked[1:]))
        return q
    if q.kind == "score":
        return q
    if chance.random() < 0.12:
        return proposed(q, chance)
    if len(q.texts) > offered or (len(q.texts) > 3 and chance.random() < 0.25 and item.source != "p3_mini"):
        keep = chance.randint(2, min(len(q.texts), offered))
        others = [i for i in range(len(q.texts)) if i != q.answer]
        order = sorted([q.answer, *chance.sample(others, keep - 1)])
        return replace(q, texts=tuple(q.texts[i] for i in order), answer=order.index(q.answer))
    return q


def proposed(q: Question, chance: random.Random) -> Question:
    """A choice as a proposition: that one of its options is the answer, or which of two it is."""
    other = chance.choice([text for i, text in enumerate(q.texts) if i != q.answer])
    right = q.texts[q.answer]
    holds = chance.random() < 0.5
    if chance.random() < 0.3:
        told = [("true", right if holds else other), ("false", other if holds else right)]
        return Question("noul", q.name, question_text("noul", q.asked, told), (), int(holds))
    return Question("noul", q.name, option_text(q.asked, right if holds else other), (), int(holds))
