"""Trains the router and writes inference/models/router. See README.md beside the folder."""

import argparse
import json
import random
import shutil
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

from common.calibration import report, softmax, temperature_of
from common.glossary import FILE as GLOSSARY, glossary_of
from common.folder import write_manifest
from common.minilm import model_folder, open_tokenizer
from router.data import LIMITS, TASKS, numbers_of, part_of, read
from router.model import FROZEN, Exported, Router

HERE = Path(__file__).parent
SEED = 20261121
BATCH_PIECES = 1600
NAMES = ("task", "reasoning", "complexity")
SOURCES = (
    ("own", "prompts", "of this repository"),
    ("gold", "router_gold", "texts Apache-2.0, labels CC0"),
    ("weak", "router_weak", "CC BY 3.0, CC BY 4.0, CC BY-SA 4.0, MIT and CC0, by source"),
)


class Encoded:
    """A prompt as numbers; `lower`: what the frozen layers make of it, once worked out."""

    def __init__(self, prompt, tokenizer, glossary):
        self.ids, self.grams, self.features = numbers_of(prompt.state, tokenizer, glossary)
        self.truth = (prompt.task, prompt.reasoning, prompt.complexity)
        self.prompt = prompt
        self.lower: torch.Tensor | None = None


def groups_of(items: list[Encoded], chance: random.Random | None) -> list[list[Encoded]]:
    order = sorted(items, key=lambda e: len(e.ids) + (chance.random() * 6 if chance else 0))
    groups: list[list[Encoded]] = [[]]
    for item in order:
        if groups[-1] and (len(groups[-1]) + 1) * len(item.ids) > BATCH_PIECES:
            groups.append([])
        groups[-1].append(item)
    if chance:
        chance.shuffle(groups)
    return groups


def tensors(group: list[Encoded]):
    longest = max(len(e.ids) for e in group)
    most = max(1, max(len(e.grams) for e in group))
    ids, mask = torch.zeros(len(group), longest, dtype=torch.int64), torch.zeros(len(group), longest)
    grams = torch.zeros(len(group), most, dtype=torch.int64)
    for row, item in enumerate(group):
        ids[row, : len(item.ids)] = torch.tensor(item.ids)
        mask[row, : len(item.ids)] = 1
        if item.grams:
            grams[row, : len(item.grams)] = torch.tensor(item.grams)
    return ids, mask, grams, torch.tensor([e.features for e in group])


def cached(group: list[Encoded], mask: torch.Tensor) -> torch.Tensor:
    states = torch.zeros(len(group), mask.shape[1], 384)
    for row, item in enumerate(group):
        states[row, : len(item.ids)] = item.lower.float()
    return states


def fill_cache(model: Router, items: list[Encoded]) -> None:
    model.eval()
    with torch.no_grad():
        for group in groups_of(items, None):
            ids, mask, _, _ = tensors(group)
            states = model.minilm.lower(ids, mask, FROZEN)
            for row, item in enumerate(group):
                item.lower = states[row, : len(item.ids)].half()


def logits_of(model: Router, items: list[Encoded]):
    """By head; and the items in the order of the rows."""
    rows, order = [[], [], []], []
    model.eval()
    with torch.no_grad():
        for group in groups_of(items, None):
            ids, mask, grams, features = tensors(group)
            for head, logits in enumerate(model.from_cache(cached(group, mask), mask, grams, features)):
                rows[head].append(logits.numpy())
            order += group
    return [np.concatenate(r) for r in rows], order


def measure(model: Router, items: list[Encoded], temperatures=(1.0, 1.0, 1.0)) -> dict:
    logits, order = logits_of(model, items)
    result = {}
    for head, name in enumerate(NAMES):
        truth = np.array([e.truth[head] for e in order])
        probabilities = softmax(logits[head], temperatures[head])
        result[name] = report(probabilities, truth)
        if name == "complexity":
            off = np.abs(probabilities.argmax(-1) - truth)
            result[name] |= {"mae": round(float(off.mean()), 4), "within_one": round(float((off <= 1).mean()), 4)}
        if name == "task":
            right = probabilities.argmax(-1) == truth
            langs = np.array([e.prompt.lang for e in order])
            result[name]["by_language"] = {l: round(float(right[langs == l].mean()), 3) for l in sorted(set(langs))}
    return result


def train(model: Router, items: list[Encoded], epochs: int, test: list[Encoded]) -> None:
    chance = random.Random(SEED)
    upper = [p for layer in model.minilm.layers[FROZEN:] for p in layer.parameters()]
    heads = [p for part in (model.grams, model.mix, model.heads) for p in part.parameters()]
    optimizer = torch.optim.AdamW([{"params": upper, "most": 1e-4}, {"params": heads, "most": 2e-3}], weight_decay=0.01)
    losses_of = [nn.CrossEntropyLoss(label_smoothing=0.05) for _ in NAMES]
    began, steps, total = time.time(), 0, None
    for epoch in range(epochs):
        chosen = [e for e in items for _ in range(int(e.prompt.weight) + (chance.random() < e.prompt.weight % 1))]
        groups = groups_of(chosen, chance)
        total = total or len(groups) * epochs
        model.train()
        seen = []
        for group in groups:
            for g in optimizer.param_groups:
                g["lr"] = g["most"] * min(1, (steps + 1) / 100) * max(0.03, 1 - steps / total)
            _, mask, grams, features = tensors(group)
            # Parts of the view are hidden now and then, so that no head leans on one of them alone.
            grams = grams * (torch.rand(grams.shape) > 0.3)
            logits = model.from_cache(cached(group, mask), mask, grams, features)
            truth = torch.tensor([e.truth for e in group])
            loss = sum(of(row, truth[:, head]) for head, (of, row) in enumerate(zip(losses_of, logits)))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(upper + heads, 1.0)
            optimizer.step()
            seen.append(loss.item())
            steps += 1
            if steps % 200 == 0:
                print(f"  step {steps} of {total}: {np.mean(seen[-200:]):.3f}, {time.time() - began:.0f} s", flush=True)
        print(f"epoch {epoch + 1}: loss {np.mean(seen):.4f}, {time.time() - began:.0f} s", json.dumps(measure(model, test)), flush=True)


def export(model: Router, temperatures: list[float], out: Path, sample: list[Encoded]) -> float:
    """Writes the graph in 8 bits; the largest difference of a probability to the model as trained, over a sample."""
    import onnxruntime
    from onnxruntime.quantization import QuantType, quantize_dynamic

    exact = {}
    model.eval()
    with torch.no_grad():
        for item in sample:
            exact[id(item)] = [(l / t).softmax(-1).numpy() for l, t in zip(model(*tensors([item])), temperatures)]
    small = Exported(model, temperatures).eval()
    full = out / "full.onnx"
    axes = {"ids": {0: "b", 1: "t"}, "mask": {0: "b", 1: "t"}, "grams": {0: "b", 1: "g"}, "features": {0: "b"}}
    torch.onnx.export(small, tensors(sample[:1]), str(full), opset_version=14, input_names=list(axes), output_names=list(NAMES),
                      dynamic_axes=axes | {name: {0: "b"} for name in NAMES})
    quantize_dynamic(str(full), str(out / "model.onnx"), weight_type=QuantType.QInt8, op_types_to_quantize=["MatMul"], per_channel=True,
                     # Processors without instructions for it would add up 8 bits wrongly.
                     reduce_range=True)
    full.unlink()
    session = onnxruntime.InferenceSession(str(out / "model.onnx"))
    worst = 0.0
    for item in sample:
        given = dict(zip(axes, (t.numpy() for t in tensors([item]))))
        found = session.run(None, given)
        worst = max(worst, *(float(np.abs(a - b).max()) for a, b in zip(found, exact[id(item)])))
    return worst


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=HERE.parents[3] / "shared" / "data")
    parser.add_argument("--out", type=Path, default=HERE.parents[1] / "models" / "router")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--smoke", action="store_true", help="a minute on a few of our own prompts, to see that it runs")
    args = parser.parse_args()
    torch.manual_seed(SEED)
    tokenizer = open_tokenizer()
    prompts = []
    if not args.smoke:
        # By rule, not by judgement, and many alike: a quarter of them tells as much.
        prompts += read(args.data / "router" / "router_weak.jsonl.gz", "weak", 0.7)[::4]
        prompts += read(args.data / "router" / "router_gold.jsonl.gz", "gold", 3.0)
    own = HERE.parent / "data"
    glossary = glossary_of(own)
    for path in sorted(own.glob("prompts.*.jsonl")):
        prompts += read(path, "own", 1.5)
    if args.smoke:
        prompts = random.Random(SEED).sample(prompts, 60)
    parts: dict[str, list[Encoded]] = {"train": [], "calibrate": [], "test": []}
    for prompt in prompts:
        parts[part_of(prompt)].append(Encoded(prompt, tokenizer, glossary))
    print({name: len(part) for name, part in parts.items()}, flush=True)
    model = Router()
    began = time.time()
    for part in parts.values():
        fill_cache(model, part)
    print(f"lower layers: {time.time() - began:.0f} s", flush=True)
    train(model, parts["train"], 1 if args.smoke else args.epochs, parts["test"])
    logits, order = logits_of(model, parts["calibrate"])
    temperatures = [temperature_of(logits[h], np.array([e.truth[h] for e in order])) for h in range(3)]
    args.out.mkdir(parents=True, exist_ok=True)
    metrics = measure(model, parts["test"], temperatures)
    worst = export(model, temperatures, args.out, parts["test"][: 3 if args.smoke else 60])
    print(f"exported; 8 bits move no probability by more than {worst:.4f}; {json.dumps(metrics)}")
    shutil.copy(model_folder() / "tokenizer.json", args.out / "tokenizer.json")
    (args.out / GLOSSARY).write_text(glossary.text, "utf8")
    write_manifest(args.out, "router", {
        "name": "gatewarden-router",
        "licence": "Apache-2.0",
        "languages": ["en", "de", "fr", "es", "it", "nl", "pl", "pt"],
        "tokenizer": {"type": "huggingface", "file": "tokenizer.json", "glossary": GLOSSARY},
        "labels": list(TASKS),
        "limits": LIMITS,
        "calibration": {name: round(t, 4) for name, t in zip(NAMES, temperatures)},
        "training": {"command": "make train-router", "seed": SEED, "prompts": {name: len(part) for name, part in parts.items()},
                     "data": [{"name": name, "rows": sum(p.source == source for p in prompts), "licence": licence}
                              for source, name, licence in SOURCES],
                     "base": "all-MiniLM-L6-v2, Apache-2.0"},
        "metrics": metrics | {"largest_difference_in_8_bits": round(worst, 4)},
    })


if __name__ == "__main__":
    main()
