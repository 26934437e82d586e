"""A tagger of words: numbers of a word and of its parts, what lists know of it, and its neighbours."""

import torch
from torch import nn

from common.words import BUCKETS, KINDS

WIDTHS = {"word": 48, "prefix": 24, "suffix3": 24, "suffix2": 16, "shape": 16}
LIST_BITS = 6
GAPS = 3
WIDTH = 128
DILATIONS = (1, 2, 4, 1)


class Tagger(nn.Module):
    """numbers [B,T,5], lists [B,T,6] of 0 and 1, gaps [B,T], mask [B,T] of 0 and 1 -> logits [B,T,tags]."""

    def __init__(self, tags: int):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(BUCKETS[kind], WIDTHS[kind], padding_idx=0) for kind in KINDS)
        self.gaps = nn.Embedding(GAPS, 8)
        self.entry = nn.Linear(sum(WIDTHS.values()) + 8 + LIST_BITS, WIDTH)
        self.layers = nn.ModuleList(
            nn.Conv1d(WIDTH, 2 * WIDTH, 3, padding=dilation, dilation=dilation) for dilation in DILATIONS
        )
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in DILATIONS)
        self.exit = nn.Linear(WIDTH, tags)
        self.drop = nn.Dropout(0.3)
        for table in self.tables:
            nn.init.normal_(table.weight, std=0.1)

    def embed(self, numbers: torch.Tensor) -> torch.Tensor:
        return torch.cat([table(numbers[:, :, i]) for i, table in enumerate(self.tables)], dim=-1)

    def forward(self, numbers, lists, gaps, mask):
        seen = torch.cat([self.embed(numbers), self.gaps(gaps), lists], dim=-1)
        kept = mask.unsqueeze(-1)
        state = torch.relu(self.entry(self.drop(seen))) * kept
        for layer, norm in zip(self.layers, self.norms):
            value, gate = layer(state.transpose(1, 2)).transpose(1, 2).chunk(2, dim=-1)
            state = norm(state + self.drop(value) * torch.sigmoid(gate)) * kept
        return self.exit(self.drop(state))


class Small(nn.Module):
    """The same with tables in 8 bits: most of the weight is there."""

    def __init__(self, full: Tagger):
        super().__init__()
        self.full = full
        for i, table in enumerate(full.tables):
            scale = table.weight.detach().abs().amax(dim=1, keepdim=True).clamp(min=1e-8) / 127
            self.register_buffer(f"table{i}", (table.weight.detach() / scale).round().to(torch.int8))
            self.register_buffer(f"scale{i}", scale)

    def embed(self, numbers: torch.Tensor) -> torch.Tensor:
        parts = []
        for i in range(len(KINDS)):
            at = numbers[:, :, i]
            parts.append(getattr(self, f"table{i}")[at].float() * getattr(self, f"scale{i}")[at])
        return torch.cat(parts, dim=-1)

    def forward(self, numbers, lists, gaps, mask):
        self.full.embed = self.embed
        return self.full(numbers, lists, gaps, mask)
