"""
Answers a question about a state. MiniLM as published reads the state, the question and every option, each by itself; its
upper layers, a little changed, then read question and options again, with the state before their eyes. A question does not
see another one, an option no other option.
"""

import math

import torch
from torch import nn

from common.minilm import HEADS, LAYERS, WIDTH, Layer, SmallWords, load_minilm
from typed.input import ASKED, FEATURES, KINDS

FIRST = 3
"""The first layer that reads rows again; those before it are as published."""
AGAIN = LAYERS - FIRST
RANK = 48
PARTS = 5
"""What a row can be: a question of a kind, an option, a level."""
EXIT = 256
NEAR = FEATURES + 2


class Low(nn.Module):
    """A change to a product: small, and nothing at first."""

    def __init__(self, inside: int, outside: int):
        super().__init__()
        self.down, self.up = nn.Linear(inside, RANK, bias=False), nn.Linear(RANK, outside)
        nn.init.normal_(self.down.weight, std=1 / math.sqrt(inside))
        nn.init.zeros_(self.up.weight)
        nn.init.zeros_(self.up.bias)

    def forward(self, x):
        return self.up(self.down(x))


class Again(nn.Module):
    """A layer of MiniLM that reads rows beside a state. `layer`: as published, and kept so."""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = (Low(WIDTH, WIDTH) for _ in range(4))
        self.state_key, self.state_value = Low(WIDTH, WIDTH), Low(WIDTH, WIDTH)
        self.up, self.down = Low(WIDTH, 4 * WIDTH), Low(4 * WIDTH, WIDTH)
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH, eps=1e-12), nn.LayerNorm(WIDTH, eps=1e-12)
        self.drop = nn.Dropout(0.1)

    def known(self, state, layer: Layer):
        return layer.key(state) + self.state_key(state), layer.value(state) + self.state_value(state)

    def forward(self, row, reading, layer: Layer, keys, values, block):
        """`reading`: those of the rows' pieces, or of their mixtures, that read on; block [B,1,of them,S+T]."""
        split = lambda x: x.view(x.shape[0], x.shape[1], HEADS, WIDTH // HEADS).transpose(1, 2)
        keys = torch.cat([keys, layer.key(row) + self.key(row)], 1)
        values = torch.cat([values, layer.value(row) + self.value(row)], 1)
        scores = split(layer.query(reading) + self.query(reading)) @ split(keys).transpose(2, 3) / math.sqrt(WIDTH // HEADS) + block
        read = (scores.softmax(-1) @ split(values)).transpose(1, 2).reshape(reading.shape)
        reading = self.norm1(reading + self.drop(layer.out(read) + self.out(read)))
        raised = nn.functional.gelu(layer.up(reading) + self.up(reading))
        return self.norm2(reading + self.drop(layer.down(raised) + self.down(raised)))


class Reader(nn.Module):
    """The part that is trained. A batch B of questions, T pieces of their rows, R rows, S pieces of the states."""

    def __init__(self, layers):
        super().__init__()
        self.again = nn.ModuleList(Again() for _ in range(AGAIN))
        for again, layer in zip(self.again, layers):
            again.norm1.load_state_dict(layer.norm1.state_dict())
            again.norm2.load_state_dict(layer.norm2.state_dict())
        self.parts = nn.Embedding(PARTS, WIDTH)
        nn.init.normal_(self.parts.weight, std=0.02)
        self.exit = nn.Sequential(nn.Linear(3 * WIDTH + NEAR, EXIT), nn.GELU(), nn.Dropout(0.1), nn.Linear(EXIT, len(KINDS)))
        self.plain = nn.Linear(NEAR, len(KINDS))
        with torch.no_grad():
            self.plain.weight.zero_()
            self.plain.weight[:, FEATURES:] = torch.tensor([[0.3], [0.6], [0.6]])

    def known(self, states, layers):
        """What rows read of a state: keys and values by layer. `states`: what MiniLM made of it before each of the layers."""
        pairs = [again.known(state, layer) for again, layer, state in zip(self.again, layers, states)]
        return [x for pair in pairs for x in pair]

    def forward(self, layers, row, sees, part, pool, known, sees_state, lone_row, lone_state, features):
        """
        row [B,T,384]: what MiniLM made of rows before the first layer. sees [B,T,T]: 1 where a piece sees another; part [B,T].
        pool [B,R,T]: a row's pieces, in shares. known: 2 a layer [B,S,384]; sees_state [B,S].
        lone_row [B,T,384], lone_state [B,S,384]: what MiniLM makes of them in the end. features [B,R,4] -> logits [B,R,3].
        """
        block = (1.0 - torch.cat([sees_state[:, None, :].expand(-1, row.shape[1], -1), sees], 2)) * -10000.0
        read = row + self.parts(part)
        for i, (again, layer) in enumerate(zip(self.again, layers)):
            # In the end only each row as a whole reads on: the mean of its pieces.
            is_last = i == AGAIN - 1
            reading, hidden = (pool @ read, pool @ block) if is_last else (read, block)
            read = again(read, reading, layer, known[2 * i], known[2 * i + 1], hidden[:, None])
        share = sees_state / sees_state.sum(1, keepdim=True).clamp(min=1)
        unit = lambda x: x / (x * x).sum(-1, keepdim=True).clamp(min=1e-9).sqrt()
        said, kept = unit(pool @ lone_row), unit(share[:, None, :] @ lone_state)
        close = unit(lone_row) @ unit(lone_state).transpose(1, 2) - (1.0 - sees_state[:, None, :]) * 2
        closest = (pool @ close.max(-1, keepdim=True)[0])[..., 0]
        near = torch.cat([features, 10 * (said * kept).sum(-1, keepdim=True) - 3, 10 * closest.unsqueeze(-1) - 5], -1)
        # Each about as large as what was read.
        facts = torch.cat([read, 200 * said * kept, 15 * (said - kept).abs(), near], -1)
        return self.exit(facts) + self.plain(near)


class Typed(nn.Module):
    def __init__(self):
        super().__init__()
        self.minilm = load_minilm().requires_grad_(False)
        self.layers = list(self.minilm.layers[FIRST:])
        self.reader = Reader(self.layers)


def states_of(minilm, ids):
    """What MiniLM makes of texts, padded with 0: before each layer that reads again, and in the end."""
    mask = (ids > 0).float()
    found = [minilm.lower(ids, mask, FIRST)]
    for at in range(FIRST, LAYERS):
        found.append(minilm.upper(found[-1], mask, at, at + 1))
    return found


class ExportedMiniLM(nn.Module):
    """MiniLM alone, for working out once what it makes of every text."""

    def __init__(self, typed: Typed):
        super().__init__()
        self.minilm = typed.minilm

    def forward(self, ids):
        return tuple(states_of(self.minilm, ids))


class Exported(nn.Module):
    """
    The graph, asked in two ways: with texts in `ids`, for what MiniLM makes of their pieces before the layers that read again
    (`first`), in the end (`lone`), and for what questions read of a state (`known`); and with a question and its options, as
    they were read (`row`, `row_lone`; `rows`: of which row each piece is, `part`), beside a state as it was read.
    """

    def __init__(self, typed: Typed):
        super().__init__()
        self.typed = typed

    def forward(self, ids, row, row_lone, rows, part, features, state, state_lone):
        typed = self.typed
        states = [x.reshape(1, -1, WIDTH) for x in states_of(typed.minilm, ids)]
        known = torch.cat(typed.reader.known(states[:-1], typed.layers), 0)
        same = (rows[:, None] == rows[None, :]).float()
        asked = (rows == 0).float()
        sees = torch.maximum(same, asked[None, :].expand_as(same))[None]
        there = (torch.arange(features.shape[1])[:, None] == rows[None, :]).float()
        pool = there / there.sum(1, keepdim=True).clamp(min=1)
        beside = [state[i : i + 1] for i in range(2 * AGAIN)]
        logits = typed.reader(
            typed.layers, row, sees, part[None], pool[None], beside,
            torch.ones_like(state_lone[:, :, 0]), row_lone, state_lone, features,
        )
        # An output is to be one of its own.
        return logits[0], states[0] + 0, states[-1] + 0, known


def shrink(typed: Typed) -> Typed:
    """Puts MiniLM's words in 8 bits, from here on, and leaves out places that no row reaches."""
    typed.minilm.places = nn.Embedding.from_pretrained(typed.minilm.places.weight[:ASKED])
    small = SmallWords(typed.minilm.words)
    typed.minilm.small = small
    typed.minilm.embed = small.forward
    return typed
