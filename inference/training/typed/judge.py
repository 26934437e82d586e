"""How far answers are to be believed, and how good they are on parts that were not trained on."""

import math
from collections import defaultdict

import numpy as np
import torch

from common.calibration import report, softmax
from typed.input import KINDS

SURE = (0.5, 0.8, 0.9)


def temperatures_of(found) -> dict[str, float]:
    """For each kind of question the one that makes the answers likeliest (NLL), between 0.3 and 5."""
    tried = np.exp(np.linspace(np.log(0.3), np.log(5), 120))
    result = {}
    for kind in KINDS:
        rows = [(logits, q.answer) for _, q, logits in found if q.kind == kind]
        loss = lambda t: -sum(np.log(softmax(logits, t)[answer] + 1e-12) for logits, answer in rows)
        result[kind] = round(float(min(tried, key=loss)), 4) if rows else 1.0
    return result


def facts_of(probabilities: np.ndarray) -> tuple[float, float, float]:
    """Of the likeliest answer: its log odds, how far ahead of the next it is, and among how many (log)."""
    most, next_ = sorted(probabilities, reverse=True)[:2]
    most = min(most, 1 - 1e-4)
    return math.log(most / (1 - most)), float(most - next_), math.log(len(probabilities))


def confidence_of(found, temperatures: dict[str, float]) -> dict[str, list[float]]:
    """For each kind the weights of `facts_of`, and what is added, of the log odds that the likeliest answer is right."""
    result = {}
    for kind in KINDS:
        facts, right = [], []
        for _, q, logits in found:
            if q.kind == kind:
                p = softmax(logits, temperatures[kind])
                facts.append([*facts_of(p), 1.0])
                right.append(float(p.argmax() == q.answer))
        weights = torch.tensor([1.0, 0.0, 0.0, 0.0], requires_grad=True)
        x, y = torch.tensor(facts or [[0.0] * 4]), torch.tensor(right or [0.5])
        optimizer = torch.optim.LBFGS([weights], max_iter=200, line_search_fn="strong_wolfe")

        def loss():
            optimizer.zero_grad()
            value = torch.nn.functional.binary_cross_entropy_with_logits(x @ weights, y) + 0.002 * (weights**2).sum()
            value.backward()
            return value

        optimizer.step(loss)
        result[kind] = [round(w, 4) for w in weights.tolist()]
    return result


def confidence(kind: str, probabilities: np.ndarray, weights: dict[str, list[float]]) -> float:
    sum_ = float(np.dot([*facts_of(probabilities), 1.0], weights[kind]))
    return 1 / (1 + math.exp(-sum_))


def measure(found, temperatures: dict[str, float], weights: dict[str, list[float]]) -> dict:
    """By source and kind: accuracy beside that of the most frequent answer, ECE, Brier, AUC; by confidence how many, and how right."""
    by = defaultdict(list)
    for e, q, logits in found:
        p = softmax(logits, temperatures[q.kind])
        by[f"{e.item.source} {q.kind}"].append((p, q.answer, confidence(q.kind, p, weights)))
        if e.item.source == "own":
            by[f"own {e.item.lang}"].append((p, q.answer, confidence(q.kind, p, weights)))
    return {name: told(rows) | {"questions": len(rows)} for name, rows in sorted(by.items())}


def told(rows) -> dict:
    most = max(len(p) for p, _, _ in rows)
    table = np.zeros((len(rows), most))
    for i, (p, _, _) in enumerate(rows):
        table[i, : len(p)] = p
    truth = np.array([answer for _, answer, _ in rows])
    right = table.argmax(-1) == truth
    sure = np.array([c for _, _, c in rows])
    result = report(table, truth)
    result["by_chance"] = round(float(np.mean([1 / len(p) for p, _, _ in rows])), 3)
    for level in SURE:
        kept = sure >= level
        result[f"above_{level}"] = [round(float(kept.mean()), 3), round(float(right[kept].mean()), 3) if kept.any() else None]
    return result
