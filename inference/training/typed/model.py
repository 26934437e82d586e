"""Answers questions about a state in one pass. Questions do not see each other, and options have no order."""

import math

import torch
from torch import nn

from common.minilm import WIDTH, SmallWords, load_minilm

HEADS = 6
INNER = 768
FEATURES = 3
FUSED = 2


class Cross(nn.Module):
    """What is asked reads what is known: query [B,T,384], known [B,S,384], block [B,1,1,S] -> [B,T,384]."""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.norm = nn.LayerNorm(WIDTH)
        self.drop = nn.Dropout(0.1)

    def forward(self, asked, known, block):
        split = lambda x: x.view(x.shape[0], x.shape[1], HEADS, WIDTH // HEADS).transpose(1, 2)
        scores = split(self.query(asked)) @ split(self.key(known)).transpose(2, 3) / math.sqrt(WIDTH // HEADS) + block
        read = (scores.softmax(-1) @ split(self.value(known))).transpose(1, 2).reshape(asked.shape)
        return self.norm(asked + self.drop(self.out(read)))


class Feed(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down, self.norm = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH), nn.LayerNorm(WIDTH)
        self.drop = nn.Dropout(0.1)

    def forward(self, state):
        return self.norm(state + self.drop(self.down(nn.functional.gelu(self.up(state)))))


class Fusion(nn.Module):
    """An option's words read the question's words and the state's, twice."""

    def __init__(self):
        super().__init__()
        self.question = nn.ModuleList(Cross() for _ in range(FUSED))
        self.state = nn.ModuleList(Cross() for _ in range(FUSED))
        self.feed = nn.ModuleList(Feed() for _ in range(FUSED))
        self.exit = nn.Sequential(nn.Linear(4 * WIDTH + FEATURES, 256), nn.GELU(), nn.Dropout(0.1), nn.Linear(256, 1))
        self.match = nn.Parameter(torch.tensor(4.0))

    def forward(self, option, option_mask, question, question_mask, state, state_mask, features):
        """Rows are options: each with its question's and its state's words. -> a logit a row."""
        pool = lambda x, m: (x * m.unsqueeze(-1)).sum(1) / m.sum(1, keepdim=True).clamp(min=1)
        block = lambda m: (1.0 - m)[:, None, None, :] * -10000.0
        said, known, wanted = pool(option, option_mask), pool(state, state_mask), pool(question, question_mask)
        row = option
        for ask, look, feed in zip(self.question, self.state, self.feed):
            row = ask(row, question, block(question_mask))
            row = feed(look(row, state, block(state_mask)))
        seen = pool(row, option_mask)
        near = nn.functional.cosine_similarity(said, known, dim=-1, eps=1e-6)
        facts = torch.cat([seen, said * known, wanted * known, said - known, features], dim=-1)
        return self.exit(facts).squeeze(-1) + self.match * near


class Typed(nn.Module):
    """
    state [1,S]; questions [Q,I]; options [R,O] with the question of each [R]; features [R,3] -> logits [R].
    Masks are where a number is not 0.
    """

    def __init__(self):
        super().__init__()
        self.minilm = load_minilm()
        self.fusion = Fusion()

    def forward(self, state, questions, options, owner, features):
        mask = lambda ids: (ids > 0).float()
        known = self.minilm(state, mask(state))
        wanted = self.minilm(questions, mask(questions))
        said = self.minilm(options, mask(options))
        rows = options.shape[0]
        return self.fusion(
            said, mask(options), wanted[owner], mask(questions)[owner],
            known.expand(rows, -1, -1), mask(state).expand(rows, -1), features,
        )


class Exported(nn.Module):
    def __init__(self, typed: Typed):
        super().__init__()
        self.typed = typed
        self.words = SmallWords(typed.minilm.words)
        typed.minilm.embed = self.words.forward

    def forward(self, state, questions, options, owner, features):
        return self.typed(state, questions, options, owner, features)
