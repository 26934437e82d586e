"""How far probabilities are to be believed."""

import numpy as np


def softmax(logits: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    shifted = logits / temperature
    shifted = shifted - shifted.max(-1, keepdims=True)
    raised = np.exp(shifted)
    return raised / raised.sum(-1, keepdims=True)


def temperature_of(logits: np.ndarray, truth: np.ndarray) -> float:
    """The one that makes the truth likeliest (NLL), between 0.3 and 5."""
    tried = np.exp(np.linspace(np.log(0.3), np.log(5), 120))
    rows = np.arange(len(truth))
    return float(min(tried, key=lambda t: -np.log(softmax(logits, t)[rows, truth] + 1e-12).mean()))


def report(probabilities: np.ndarray, truth: np.ndarray) -> dict:
    """Accuracy, ECE (10 bins of equal width, top label), Brier (sum over labels), NLL, and of two labels AUC."""
    rows = np.arange(len(truth))
    top = probabilities.argmax(-1)
    sure = probabilities.max(-1)
    right = (top == truth).astype(float)
    bins = np.minimum(9, (sure * 10).astype(int))
    ece = sum(abs(right[bins == b].mean() - sure[bins == b].mean()) * (bins == b).mean() for b in range(10) if (bins == b).any())
    wanted = np.zeros_like(probabilities)
    wanted[rows, truth] = 1
    result = {
        "accuracy": right.mean(),
        "ece": ece,
        "brier": ((probabilities - wanted) ** 2).sum(-1).mean(),
        "nll": -np.log(probabilities[rows, truth] + 1e-12).mean(),
    }
    if probabilities.shape[1] == 2 and 0 < truth.mean() < 1:
        order = probabilities[:, 1].argsort().argsort() + 1
        positive = truth == 1
        n = positive.sum()
        result["auc"] = (order[positive].sum() - n * (n + 1) / 2) / (n * (len(truth) - n))
    return {name: round(float(value), 4) for name, value in result.items()}
