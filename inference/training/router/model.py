"""What a prompt asks for: MiniLM's view of it, its words' numbers and plain facts, and three heads."""

import torch
from torch import nn

from common.minilm import LAYERS, WIDTH, SmallWords, load_minilm
from router.data import FEATURES, GRAMS, TASKS

GRAM_WIDTH = 48
MIXED = 192
HEADS = (len(TASKS), 2, 4)
FROZEN = 2
"""Layers of MiniLM that stay as they were published; what they make of a prompt is worked out once."""


class Router(nn.Module):
    """ids, mask [B,T]; grams [B,G] (0: none); features [B,12] -> logits of task [B,8], reasoning [B,2], complexity [B,4]."""

    def __init__(self):
        super().__init__()
        self.minilm = load_minilm()
        for part in (self.minilm.words, self.minilm.places, self.minilm.kinds, self.minilm.norm, *self.minilm.layers[:FROZEN]):
            part.requires_grad_(False)
        self.grams = nn.Embedding(GRAMS, GRAM_WIDTH, padding_idx=0)
        nn.init.normal_(self.grams.weight, std=0.02)
        self.mix = nn.Linear(WIDTH + GRAM_WIDTH + FEATURES, MIXED)
        self.heads = nn.ModuleList(nn.Linear(MIXED, size) for size in HEADS)
        self.drop = nn.Dropout(0.2)

    def gram_rows(self, grams):
        return self.grams(grams)

    def judge(self, states, mask, grams, features):
        kept = mask.unsqueeze(-1)
        seen = (states * kept).sum(1) / kept.sum(1).clamp(min=1)
        there = (grams > 0).float().unsqueeze(-1)
        said = (self.gram_rows(grams) * there).sum(1) / there.sum(1).clamp(min=1).sqrt()
        mixed = torch.tanh(self.mix(self.drop(torch.cat([seen, said, features], dim=-1))))
        return tuple(head(self.drop(mixed)) for head in self.heads)

    def from_cache(self, states, mask, grams, features):
        return self.judge(self.minilm.upper(states, mask, FROZEN, LAYERS), mask, grams, features)

    def forward(self, ids, mask, grams, features):
        return self.judge(self.minilm(ids, mask), mask, grams, features)


class Exported(nn.Module):
    """The same with tables in 8 bits, and probabilities as calibrated."""

    def __init__(self, router: Router, temperatures: list[float]):
        super().__init__()
        self.router = router
        self.words = SmallWords(router.minilm.words)
        self.gram_table = SmallWords(router.grams)
        self.temperatures = temperatures
        router.minilm.embed = self.words.forward
        router.gram_rows = self.gram_table.forward

    def forward(self, ids, mask, grams, features):
        logits = self.router(ids, mask, grams, features)
        return tuple((row / t).softmax(-1) for row, t in zip(logits, self.temperatures))
