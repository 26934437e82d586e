"""What MiniLM makes of every text, worked out once; and items as tensors for the part that is trained."""

import random
from dataclasses import dataclass

import numpy as np
import onnxruntime
import torch

from common.glossary import Glossary
from common.minilm import WIDTH
from typed.data import Item, Question
from typed.input import ASKED, KINDS, OFFERED, Row, Words, row_of, windows_of
from typed.model import AGAIN

CACHE_PIECES = 2048
BATCH_PIECES = 1100


@dataclass
class Encoded:
    """An item as numbers: windows of its state; rows of each question, itself first."""

    item: Item
    state: list[tuple[int, ...]]
    questions: list[tuple[Question, list[Row]]]


def encode(item: Item, tokenizer, glossary: Glossary) -> Encoded:
    (state,), _ = glossary.read([item.state])
    words = Words(state)
    questions = []
    for q in item.questions:
        asked, *texts = glossary.read_apart([q.asked, *q.texts])
        rows = [row_of(asked, ASKED, tokenizer, words), *(row_of(text, OFFERED, tokenizer, words) for text in texts)]
        questions.append((q, rows))
    return Encoded(item, [tuple(ids) for ids in windows_of(state, tokenizer)], questions)


class Frozen:
    """Keeps, for each row of pieces, what MiniLM makes of it: of a state's before every layer that reads again and in the end."""

    def __init__(self, graph: bytes):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(graph, options)
        self.states: dict[tuple[int, ...], np.ndarray] = {}
        self.rows: dict[tuple[int, ...], np.ndarray] = {}

    def fill(self, encoded: list[Encoded]) -> None:
        states = {ids for e in encoded for ids in e.state} - self.states.keys()
        rows = {row.ids for e in encoded for _, rows in e.questions for row in rows} - self.rows.keys()
        self.work_out(states, self.states, range(AGAIN + 1))
        self.work_out(rows, self.rows, (0, AGAIN))

    def work_out(self, texts: set[tuple[int, ...]], kept: dict, layers) -> None:
        order = sorted(texts, key=lambda ids: (len(ids), ids))
        at = 0
        while at < len(order):
            count = max(1, CACHE_PIECES // len(order[at]))
            group = order[at : at + count]
            at += count
            ids = np.zeros((len(group), max(map(len, group))), np.int64)
            for row, text in enumerate(group):
                ids[row, : len(text)] = text
            found = self.session.run(None, {"ids": ids})
            for row, text in enumerate(group):
                kept[text] = np.stack([found[layer][row, : len(text)] for layer in layers]).astype(np.float16)


def groups_of(items: list[Encoded], chance: random.Random | None) -> list[list[Encoded]]:
    size = lambda e: (sum(len(row.ids) for _, rows in e.questions for row in rows), sum(map(len, e.state)))
    known = {id(e): size(e) for e in items}
    # Alike in their rows, which cost most, and then in their states.
    order = sorted(items, key=lambda e: (known[id(e)][0] // 6, known[id(e)][1] + (chance.random() * 8 if chance else 0)))
    groups, current, most = [], [], (0, 0)
    for item in order:
        grown = tuple(map(max, most, known[id(item)]))
        if current and (len(current) + 1) * sum(grown) > BATCH_PIECES:
            groups.append(current)
            current, grown = [], known[id(item)]
        current.append(item)
        most = grown
    if current:
        groups.append(current)
    if chance:
        chance.shuffle(groups)
    return groups


@dataclass
class Batch:
    row: torch.Tensor
    sees: torch.Tensor
    part: torch.Tensor
    pool: torch.Tensor
    states: list[torch.Tensor]
    sees_state: torch.Tensor
    lone_row: torch.Tensor
    lone_state: torch.Tensor
    features: torch.Tensor
    places: list[tuple[Encoded, Question, list[int]]]
    """Of each question: the numbers of its rows among all B x R."""


def part_of_row(kind: str, at: int) -> int:
    return KINDS.index(kind) if at == 0 else 2 + KINDS.index(kind)


def batch_of(group: list[Encoded], frozen: Frozen) -> Batch:
    flat = [[(q, at, row, number) for number, (q, rows) in enumerate(e.questions) for at, row in enumerate(rows)] for e in group]
    b, r = len(group), max(map(len, flat))
    t = max(sum(len(row.ids) for _, _, row, _ in rows) for rows in flat)
    s = max(sum(map(len, e.state)) for e in group)
    states = torch.zeros(AGAIN + 1, b, s, WIDTH)
    lone, row_in = torch.zeros(b, t, WIDTH), torch.zeros(b, t, WIDTH)
    sees, part = np.zeros((b, t, t), np.float32), np.zeros((b, t), np.int64)
    pool = np.zeros((b, r, t), np.float32)
    sees_state, features = np.zeros((b, s), np.float32), np.zeros((b, r, 4), np.float32)
    places = []
    for i, e in enumerate(group):
        known = np.concatenate([frozen.states[ids] for ids in e.state], 1)
        states[:, i, : known.shape[1]] = torch.from_numpy(known).float()
        sees_state[i, : known.shape[1]] = 1
        at, asked = 0, (0, 0)
        for number, (q, place, row, _) in enumerate(flat[i]):
            end = at + len(row.ids)
            made = torch.from_numpy(frozen.rows[row.ids]).float()
            row_in[i, at:end], lone[i, at:end] = made[0], made[1]
            if place == 0:
                asked = (at, end)
            sees[i, at:end, at:end] = 1
            sees[i, at:end, asked[0] : asked[1]] = 1
            part[i, at:end] = part_of_row(q.kind, place)
            pool[i, number, at:end] = 1 / len(row.ids)
            features[i, number] = row.features
            at = end
        numbers: dict[int, list[int]] = {}
        for number, (_, _, _, which) in enumerate(flat[i]):
            numbers.setdefault(which, []).append(i * r + number)
        places += [(e, q, numbers[which]) for which, (q, _) in enumerate(e.questions)]
    torched = lambda x: torch.from_numpy(x)
    return Batch(row_in, torched(sees), torched(part), torched(pool), list(states[:-1]), torched(sees_state),
                 lone, states[-1], torched(features), places)


def scores_of(logits: torch.Tensor, places) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits of each question's options, the answers' place among them; of a noul [that it does not hold, that it holds]."""
    most = max(max(2, len(q.texts)) for _, q, _ in places)
    count = logits.shape[0] * logits.shape[1] * len(KINDS)
    flat = torch.cat([logits.reshape(-1), torch.tensor([0.0, -30000.0])])
    index = torch.full((len(places), most), count + 1, dtype=torch.int64)
    answers = torch.zeros(len(places), dtype=torch.int64)
    for i, (_, q, rows) in enumerate(places):
        kind = KINDS.index(q.kind)
        if q.kind == "noul":
            index[i, 0], index[i, 1] = count, rows[0] * len(KINDS)
        else:
            index[i, : len(q.texts)] = torch.tensor([row * len(KINDS) + kind for row in rows[1:]])
        answers[i] = q.answer
    return flat[index], answers
