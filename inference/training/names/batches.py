"""Texts as the numbers that the tagger takes, many at a time."""

import random

import numpy as np
import torch

from common.words import folded, hash_of, numbers_of
from names.data import Item, tags_of
from names.model import LIST_BITS

LIST_NAMES = ("given", "surname", "city", "country", "street")
BATCH_WORDS = 3000


def list_bits(lists: dict) -> dict[int, int]:
    """Hash of a word -> bits: in lists of given names, surnames, cities, countries and states, streets; part of a longer city's name."""
    bits: dict[int, int] = {}
    for locale in lists.values():
        for bit, name in (*enumerate(LIST_NAMES), (LIST_NAMES.index("country"), "state")):
            for text in locale.get(name, ()):
                parts = text.split()
                for part in parts:
                    word = part.strip(".,'()-")
                    if len(word) < 2:
                        continue
                    flag = 1 << bit
                    if name == "city" and len(parts) > 1:
                        flag = 1 << 5
                    key = hash_of(folded(word))
                    bits[key] = bits.get(key, 0) | flag
    return bits


class Seen:
    """Texts as the numbers that the tagger takes."""

    def __init__(self, bits: dict[int, int]):
        self.bits = bits
        self.known: dict[str, int] = {}

    def bits_of(self, word: str) -> int:
        lower = folded(word)
        found = self.known.get(lower)
        if found is None:
            found = self.known[lower] = self.bits.get(hash_of(lower), 0)
        return found

    def encode(self, item: Item):
        words, tags = tags_of(item)
        texts = [item.text[start:end] for start, end, _ in words]
        numbers = [numbers_of(text) for text in texts]
        bits = [self.bits_of(text) for text in texts]
        return numbers, bits, [gap for _, _, gap in words], tags, words


def unpack(bits: np.ndarray) -> np.ndarray:
    return ((bits[..., None] >> np.arange(LIST_BITS)) & 1).astype(np.float32)


def batches(encoded: list, chance: random.Random, shuffle: bool):
    order = sorted(range(len(encoded)), key=lambda i: len(encoded[i][0]) + (chance.random() * 8 if shuffle else 0))
    groups, at = [], 0
    while at < len(order):
        group = [order[at]]
        at += 1
        while at < len(order) and (len(group) + 1) * len(encoded[order[at]][0]) <= BATCH_WORDS:
            group.append(order[at])
            at += 1
        groups.append(group)
    if shuffle:
        chance.shuffle(groups)
    for group in groups:
        longest = max(len(encoded[i][0]) for i in group)
        numbers = np.zeros((len(group), longest, 5), np.int64)
        bits = np.zeros((len(group), longest), np.int64)
        gaps = np.zeros((len(group), longest), np.int64)
        mask = np.zeros((len(group), longest), np.float32)
        tags = np.full((len(group), longest), -100, np.int64)
        for row, i in enumerate(group):
            n, b, g, t, _ = encoded[i]
            size = len(n)
            if size == 0:
                continue
            numbers[row, :size], bits[row, :size], gaps[row, :size] = n, b, g
            mask[row, :size], tags[row, :size] = 1, t
        yield group, numbers, bits, gaps, mask, tags


def tensors(numbers, bits, gaps, mask):
    return torch.from_numpy(numbers), torch.from_numpy(unpack(bits)), torch.from_numpy(gaps), torch.from_numpy(mask)
