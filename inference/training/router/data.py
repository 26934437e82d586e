"""Prompts with what they ask for, and how a prompt becomes numbers. inference/decide/router-input.ts does the same."""

import gzip
import hashlib
import json
import math
import re
from dataclasses import dataclass
from pathlib import Path

from common.glossary import Glossary
from common.words import folded, hash_of, kind_of, words_of

TASKS = ("code", "writing", "translation", "extraction", "document", "support", "smalltalk", "action")
GRAMS = 65536
MOST_GRAMS = 512
FEATURES = 12
"""Pieces of each part: beginning and end of the request, what was said before, the system's words, names of files."""
HEAD, TAIL, PREVIOUS, SYSTEM, ATTACHED = 96, 24, 24, 12, 8
LIMITS = {
    "tokens": 256, "head": HEAD, "tail": TAIL, "previous": PREVIOUS, "system": SYSTEM, "attachments": ATTACHED,
    "grams": MOST_GRAMS, "buckets": GRAMS,
}
"""What the runtime reads, as the manifest tells it."""
CLS, SEP = 101, 102


@dataclass
class Prompt:
    id: str
    lang: str
    source: str
    state: dict
    task: int
    reasoning: int
    complexity: int
    weight: float


def read(path: Path, source: str, weight: float) -> list[Prompt]:
    opened = gzip.open(path, "rt", encoding="utf8") if path.suffix == ".gz" else open(path, encoding="utf8")
    with opened as lines:
        entries = [json.loads(line) for line in lines]
    return [
        Prompt(e["id"], e["lang"], source, e["state"], TASKS.index(e["task"]), e["reasoning"], e["complexity"], weight)
        for e in entries
    ]


def part_of(prompt: Prompt) -> str:
    """
    `train`, `calibrate` or `test`, by the prompt's id and nothing else: prompts of one number, which may be alike in two
    languages, are in one part. What follows a rule is never tested on.
    """
    if prompt.source == "weak":
        return "train"
    roll = int(hashlib.sha256(prompt.id.split("-")[-1].encode()).hexdigest()[:8], 16) % 100
    return "test" if roll < 15 else "calibrate" if roll < 25 else "train"


def attachments_of(state: dict) -> str:
    given = state.get("attachments") or []
    return given if isinstance(given, str) else "\n".join(given)


def parts_of(state: dict) -> list[str]:
    """Request, previous, system and files, as far as they are read; a long request by its beginning and its end."""
    request = state["request"]
    shown = request if len(request) <= 4000 else request[:3000] + "\n" + request[-1000:]
    return [shown, *((text or "")[:1000] for text in (state.get("previous"), state.get("system"), attachments_of(state)))]


def numbers_of(state: dict, tokenizer, glossary: Glossary) -> tuple[list[int], list[int], list[float]]:
    """Pieces, hashed words and plain facts."""
    (request, *others), languages = glossary.read(parts_of(state))
    return ids_of(request, others, tokenizer), grams_of(request, others, languages), features_of(state)


def ids_of(request: str, others: list[str], tokenizer) -> list[int]:
    """Each part closed by a mark; of a long request what is at its beginning and its end."""
    pieces = lambda text: tokenizer.encode(text, add_special_tokens=False).ids if text else []
    asked = pieces(request)
    if len(asked) > HEAD + TAIL:
        asked = asked[:HEAD] + asked[-TAIL:]
    ids = [CLS, *asked, SEP]
    for text, most in zip(others, (PREVIOUS, SYSTEM, ATTACHED)):
        ids += [*pieces(text)[:most], SEP]
    return ids


def grams_of(request: str, others: list[str], languages: list[str]) -> list[int]:
    """Words, pairs of words and parts of words of the request, words of the rest, and the languages, as numbers. 0 is nobody's."""
    texts = [f"l{name}" for name in languages]
    before = "^"
    for word in (folded(request[s:e]) for s, e, _ in words_of(request)):
        texts += [f"w{word}", f"b{before} {word}"]
        if kind_of(word[0]) == "a" and len(word) > 4:
            texts += [f"p{word[:4]}", f"e{word[-3:]}"]
        before = word
    for mark, text in zip("vya", others):
        texts += [f"{mark}{folded(text[s:e])}" for s, e, _ in words_of(text)][:60]
    return [1 + hash_of(t) % (GRAMS - 1) for t in dict.fromkeys(texts)][:MOST_GRAMS]


def features_of(state: dict) -> list[float]:
    """Twelve plain facts, each about between 0 and 1."""
    request = state["request"]
    size = max(1, len(request))
    count = lambda pattern: len(re.findall(pattern, request))
    given = attachments_of(state)
    return [
        min(1.0, math.log(size) / 10),
        min(1.0, count("\n") / 20),
        1.0 if "```" in request else 0.0,
        min(1.0, 5 * count("[0-9]") / size),
        1.0 if "?" in request else 0.0,
        1.0 if given else 0.0,
        1.0 if state.get("previous") else 0.0,
        1.0 if state.get("system") else 0.0,
        min(1.0, 10 * count(r"[{}();=<>\[\]]") / size),
        min(1.0, 5 * count("[A-Z]") / size),
        min(1.0, count(r"[.!?;:\n]") / 12),
        min(1.0, count('["\u201c\u201e\u00ab]') / 4),
    ]
