"""How a state and a question become numbers. inference/decide/typed-input.ts does the same."""

import json
import re
from dataclasses import dataclass

from common.words import folded, kind_of, words_of

CLS, SEP = 101, 102
MOST_WORDS = 384
"""Words of a state that are read. // spec 4.4.4"""
MOST_CHARACTERS = 32768
"""That are looked for words in: more than any that are read have, without blanks after the first eight of a row."""
WINDOW, WINDOWS = 128, 32
"""Pieces of a state that are read together, marks included; and how many times that, where words are of many pieces."""
ASKED, OFFERED = 256, 96
"""Pieces of a question and of an option that are learned from, marks included; none of ours is longer."""
LIMITS = {"tokens": WINDOW, "windows": WINDOWS, "row": ASKED, "question": 4 * ASKED, "questions": 3200}
"""What the runtime reads: long questions and options in stretches, as a state is; what is longer yet it refuses. // spec 4.4.5"""
FEATURES = 4
KINDS = ("noul", "choice", "score")
GONE = str.maketrans("", "", "[]()`")
"""Characters that no question keeps. // spec 4.4.5"""
WORD = re.compile("[^ \t\n\r\f\v\u00a0\u2028\u2029\u3000]+")
BLANKS = re.compile("([ \t\n\r\f\v\u00a0\u2028\u2029\u3000]{8})[ \t\n\r\f\v\u00a0\u2028\u2029\u3000]+")


@dataclass(frozen=True)
class Row:
    """A question or one of its options: its pieces, and plain facts of its words beside the state's."""

    ids: tuple[int, ...]
    features: tuple[float, ...]


def number(value) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    return json.dumps(value)


def said(value) -> str:
    """A state as text: members as `name: value`, a line each; lists as lines."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, (bool, int, float)):
        return number(value)
    if isinstance(value, list):
        return "\n".join(said(item) for item in value)
    lines = []
    for name, item in value.items():
        text = said(item)
        lines.append(f"{name}:\n{text}" if "\n" in text else f"{name}: {text}")
    return "\n".join(lines)


def state_text(value) -> str:
    """The first words of a state, spaces and line ends as they are."""
    text = BLANKS.sub(r"\1", said(value))[:MOST_CHARACTERS]
    for count, match in enumerate(WORD.finditer(text)):
        if count == MOST_WORDS:
            return text[: match.start()]
    return text


def question_text(kind: str, instructions: str, options: list[tuple[str, str]]) -> str:
    """What is asked; of a proposition with what it is like when it holds, and when it does not."""
    if kind != "noul" or not any(description for _, description in options):
        return instructions
    return "\n".join([instructions, *(f"{name}: {description}" for name, description in options if description)])


def option_text(name: str, description: str) -> str:
    return f"{name}: {description}" if description else name


def windows_of(text: str, tokenizer) -> list[list[int]]:
    """A state's pieces in stretches, each between marks."""
    ids = tokenizer.encode(text, add_special_tokens=False).ids if text else []
    size = WINDOW - 2
    stretches = [ids[at : at + size] for at in range(0, len(ids), size)][:WINDOWS]
    return [[CLS, *stretch, SEP] for stretch in stretches or [[]]]


def row_of(text: str, most: int, tokenizer, known: "Words") -> Row:
    ids = tokenizer.encode(text, add_special_tokens=False).ids[: most - 2]
    return Row((CLS, *ids, SEP), known.beside(text))


class Words:
    """A state's words, to look for a row's among them."""

    def __init__(self, text: str):
        words = spoken(text)
        self.words = set(words)
        self.beginnings = {word[:4] for word in words}

    def beside(self, text: str) -> tuple[float, ...]:
        """The shares of a row's words that the state has, that begin as one of its words does, and of its numbers; and whether it has any."""
        words = spoken(text)
        numbers = [word for word in words if kind_of(word[0]) == "d"]
        share = lambda found, of: round(sum(found) / max(1, len(of)), 6)
        return (
            share([word in self.words for word in words], words),
            share([word[:4] in self.beginnings for word in words], words),
            share([word in self.words for word in numbers], numbers),
            1.0 if numbers else 0.0,
        )


def spoken(text: str) -> list[str]:
    return [folded(text[s:e]) for s, e, _ in words_of(text) if kind_of(text[s]) != "."]
