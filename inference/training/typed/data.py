"""States with questions and answers, in one form: what is read, and how often."""

import gzip
import json
import random
import re
from dataclasses import dataclass
from pathlib import Path

MOST_WORDS = 384
"""Words of a state that are read. // spec 4.4.4"""
GONE = str.maketrans("", "", "[]()`")
"""Characters that no question keeps. // spec 4.4.5"""


@dataclass
class Question:
    """`texts`: of noul the proposition alone; of choice and score a text an option. `answer`: 1 or 0, or an index."""

    kind: str
    instructions: str
    texts: list[str]
    answer: int


@dataclass
class Item:
    id: str
    lang: str
    source: str
    state: str
    questions: list[Question]
    weight: float


def said(value) -> str:
    """A state as text: members as `name: value`, a line each; lists as lines."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return json.dumps(value)
    if isinstance(value, list):
        return "\n".join(said(item) for item in value)
    lines = []
    for name, item in value.items():
        text = said(item)
        lines.append(f"{name}:\n{text}" if "\n" in text else f"{name}: {text}")
    return "\n".join(lines)


def first_words(text: str) -> str:
    """The first words of a state, spaces and line ends as they are."""
    for count, match in enumerate(re.finditer(r"\S+", text)):
        if count == MOST_WORDS:
            return text[: match.start()].rstrip()
    return text


def question_of(given: dict) -> Question:
    instructions = given["i"].translate(GONE)
    if given["t"] == "noul":
        return Question("noul", instructions, [instructions], int(given["a"]))
    texts = [text.translate(GONE) for text in (given["o"] if given["t"] == "choice" else given["l"])]
    return Question(given["t"], instructions, texts, given["a"])


def read(path: Path, weight: float) -> list[Item]:
    opened = gzip.open(path, "rt", encoding="utf8") if path.suffix == ".gz" else open(path, encoding="utf8")
    items = []
    with opened as lines:
        for line in lines:
            entry = json.loads(line)
            questions = [question_of(q) for q in entry["q"]]
            items.append(Item(entry["id"], entry["lang"], entry.get("src", "own"), first_words(said(entry["state"])), questions, weight))
    return items


PARAPHRASES = {
    "holds": ("{}", "It is true that {}", "From the text it follows: {}", "Does it follow that {}?"),
}


def varied(item: Item, chance: random.Random) -> Item:
    """Fewer options now and then, other words around a proposition, and its denial."""
    questions = []
    for q in item.questions:
        if q.kind == "choice" and len(q.texts) > 3 and chance.random() < 0.4:
            keep = chance.randint(2, len(q.texts))
            others = [i for i in range(len(q.texts)) if i != q.answer]
            chosen = sorted([q.answer, *chance.sample(others, keep - 1)])
            q = Question("choice", q.instructions, [q.texts[i] for i in chosen], chosen.index(q.answer))
        elif q.kind == "noul" and item.source.startswith(("snli", "dnc")) and chance.random() < 0.5:
            text = chance.choice(PARAPHRASES["holds"]).format(q.instructions)
            q = Question("noul", text, [text], q.answer)
        elif q.kind == "noul" and item.lang == "en" and chance.random() < 0.08:
            text = f"It is not the case that {q.instructions[0].lower()}{q.instructions[1:]}"
            q = Question("noul", text, [text], 1 - q.answer)
        questions.append(q)
    if len(questions) > 4:
        questions = chance.sample(questions, 4)
    return Item(item.id, item.lang, item.source, item.state, questions, item.weight)


WEIGHTS = {"clinc150": 0.5, "dnc": 0.5, "hwu64": 0.5, "nlupp": 1.0, "p3_mini": 2.0, "snli": 1.0, "synth_support": 0.6, "wikiann_questions": 0.4}


def all_items(data: Path, own: Path) -> list[Item]:
    items = []
    for name, weight in WEIGHTS.items():
        items += read(data / "decisions" / f"{name}.jsonl.gz", weight)
    for path in sorted(own.glob("decisions.*.jsonl")):
        items += read(path, 4.0)
    return items
