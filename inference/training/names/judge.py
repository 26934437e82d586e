"""What the tagger finds, how much of it is right, and how sure it has to be."""

import random

import numpy as np
import torch
from torch import nn

from names.batches import Seen, batches, tensors
from names.data import LABELS, TAGS, Item

WEIGHTS = {"PER": 1.0, "LOC": 1.0, "ORG": 1.0, "ADDRESS": 4.0}
"""Of missed ones beside wrong ones: the square of the beta of an F."""
MOST = {"PER": 0.07, "LOC": 0.04, "ORG": 0.04, "ADDRESS": 0.01}
"""Finds in a text without any name, on average."""


def allowed() -> np.ndarray:
    """allowed[a, b]: tag b may follow tag a. What is inside a name follows its beginning or inside."""
    size = len(TAGS)
    table = np.ones((size, size), bool)
    for tag in range(2, size, 2):
        table[:, tag] = False
        table[tag - 1, tag] = table[tag, tag] = True
    return table


def decode(scores: np.ndarray) -> list[int]:
    """The likeliest tags that may follow one another (Viterbi over log probabilities)."""
    if len(scores) == 0:
        return []
    block = np.where(allowed(), 0.0, -1e9)
    first = np.where([tag > 0 and tag % 2 == 0 for tag in range(scores.shape[1])], -1e9, 0.0)
    best = scores[0] + first
    back = []
    for row in scores[1:]:
        paths = best[:, None] + block
        back.append(paths.argmax(0))
        best = paths.max(0) + row
    tags = [int(best.argmax())]
    for pointers in reversed(back):
        tags.append(int(pointers[tags[-1]]))
    return tags[::-1]


def spans_of(words, tags) -> list[tuple[int, int, str]]:
    spans, open_ = [], None
    for (start, end, _), tag in zip(words, tags):
        label = LABELS[(tag - 1) // 2] if tag else None
        if tag and tag % 2 == 0 and open_ and open_[2] == label:
            open_[1] = end
            continue
        if open_:
            spans.append(tuple(open_))
        open_ = [start, end, label] if tag else None
    if open_:
        spans.append(tuple(open_))
    return spans


def found_in(model: nn.Module, seen: Seen, items: list[Item]):
    """Of each item: the spans that are found, with the least probability of their tags, as the runtime has it; and the true ones."""
    encoded = [seen.encode(item) for item in items]
    model.eval()
    with torch.no_grad():
        for group, numbers, bits, gaps, mask, _ in batches(encoded, random.Random(0), False):
            logits = model(*tensors(numbers, bits, gaps, mask)).log_softmax(-1).numpy()
            for row, i in enumerate(group):
                words = encoded[i][4]
                tags = decode(logits[row, : len(words)])
                sure = {word[0]: logits[row, at, tag] for at, (word, tag) in enumerate(zip(words, tags))}
                found = {
                    span: float(np.exp(min(p for start, p in sure.items() if span[0] <= start < span[1])))
                    for span in spans_of(words, tags)
                }
                yield items[i], found, set(spans_of(words, encoded[i][3]))


def measure(model: nn.Module, seen: Seen, items: list[Item], least: dict[str, float]) -> dict:
    """F1 of exact spans, by label and by language."""
    counts: dict[str, list[int]] = {}
    for item, scored, true in found_in(model, seen, items):
        for label in LABELS:
            f = {s for s, score in scored.items() if s[2] == label and score >= least.get(label, 0)}
            t = {s for s in true if s[2] == label}
            for key in (label, f"{label} {item.lang}"):
                c = counts.setdefault(key, [0, 0, 0])
                c[0] += len(f & t)
                c[1] += len(f)
                c[2] += len(t)
    return {key: round(2 * h / (f + t), 3) for key, (h, f, t) in sorted(counts.items()) if t}


def bounds(model: nn.Module, seen: Seen, texts: list[list[Item]]) -> dict[str, float]:
    """
    By label: how sure to be of a name for it to be told. The bound with the best F on the sets of texts, on average, of
    those that find little in texts without any name: they are many, and hard to read with tags in them. For addresses
    missed ones weigh twice, since an address leads to a person's door and hardly anything else looks like one.
    """
    judged = [list(found_in(model, seen, items)) for items in texts]
    nameless = [found for rows in judged for _, found, true in rows if not true]
    least = {}
    for label in LABELS:
        weigh = WEIGHTS[label]
        best = (-1.0, 0.9)
        for bound in np.arange(0.3, 0.9, 0.02):
            told = lambda found: [s for s, p in found.items() if s[2] == label and p >= bound]
            if sum(len(told(found)) for found in nameless) > MOST[label] * len(nameless):
                continue
            scores = []
            for rows in judged:
                hits = sum(s in true for _, found, true in rows for s in told(found))
                said = sum(len(told(found)) for _, found, _ in rows)
                there = sum(s[2] == label for _, _, true in rows for s in true)
                if there:
                    scores.append((1 + weigh) * hits / (said + weigh * there))
            best = max(best, (float(np.mean(scores or [0])), round(float(bound), 2)))
        least[label] = best[1]
    return least
