"""Trains the tagger of names and writes inference/models/names. See README.md beside the folder."""

import argparse
import json
import random
import subprocess
import time
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from torch import nn

from common.folder import write_manifest
from names.batches import Seen, batches, list_bits, tensors
from names.data import TAGS, Item, Varied, own_items, read_spans, shared_items
from names.judge import bounds, measure
from names.model import LIST_BITS, Small, Tagger
from names.plain import Plain, unjudged_items

HERE = Path(__file__).parent
KINDS = {"PER": "PERSON_NAME", "LOC": "LOCATION", "ORG": "ORGANIZATION", "ADDRESS": "ADDRESS"}
LICENCES = {
    "meddocan": "CC BY 4.0",
    "own": "of this repository",
    "plain": "of this repository; tickets CC0",
    "synth_eu": "CC0",
    "wikiann": "CC BY-SA 3.0",
    "wnut17": "CC BY 4.0",
}
SEED = 20261121


def epoch_items(items: list[Item], varied: Varied, chance: random.Random) -> list[Item]:
    chosen = []
    for item in items:
        times = int(item.weight) + (chance.random() < item.weight % 1)
        chosen += [varied.vary(item) for _ in range(times)]
    return chosen


def train(items: list[Item], seen: Seen, varied: Varied, plain: Plain, epochs: int, dev) -> Tagger:
    chance = varied.chance
    torch.manual_seed(SEED)
    model = Tagger(len(TAGS))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
    loss_of = nn.CrossEntropyLoss(ignore_index=-100, label_smoothing=0.05)
    steps, began = 0, time.time()
    total = None
    for epoch in range(epochs):
        encoded = [seen.encode(item) for item in epoch_items(items, varied, chance) + plain.sentences()]
        model.train()
        losses = []
        made = list(batches(encoded, chance, True))
        total = total or len(made) * epochs
        for _, numbers, bits, gaps, mask, tags in made:
            # Lists know every name that was made up here, and not all of those out there.
            hidden = np.array([chance.random() < 0.4 for _ in range(len(bits))])
            bits = np.where(hidden[:, None], 0, bits)
            # A word that nobody has seen is told by its parts and its neighbours.
            unknown = np.random.RandomState(steps).rand(*numbers.shape[:2]) < 0.15
            numbers[:, :, 0] = np.where(unknown, 0, numbers[:, :, 0])
            rate = 2e-3 * min(1, (steps + 1) / 200) * max(0.02, 1 - steps / total)
            for group in optimizer.param_groups:
                group["lr"] = rate
            logits = model(*tensors(numbers, bits, gaps, mask))
            loss = loss_of(logits.reshape(-1, len(TAGS)), torch.from_numpy(tags).reshape(-1))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
            steps += 1
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}, {time.time() - began:.0f} s", flush=True)
        for name, part in dev.items():
            print("  ", name, json.dumps(measure(model, seen, part, {})), flush=True)
    return model


def write_lists(bits: dict[int, int], path: Path) -> None:
    """Hashes in ascending order, 4 bytes each, little endian; then the bits of each, a byte each."""
    keys = sorted(bits)
    path.write_bytes(np.array(keys, "<u4").tobytes() + bytes(bits[key] for key in keys))


def export(model: Tagger, path: Path) -> float:
    """Writes the graph with tables in 8 bits. The largest difference of a probability to the model as trained."""
    model.eval()
    small = Small(model).eval()
    example = (
        torch.randint(1, 1000, (1, 7, 5)),
        torch.zeros(1, 7, LIST_BITS),
        torch.zeros(1, 7, dtype=torch.int64),
        torch.ones(1, 7),
    )
    with torch.no_grad():
        model.__dict__.pop("embed", None)
        exact = model(*example).softmax(-1)
        near = small(*example).softmax(-1)
    axes = {name: {0: "texts", 1: "words"} for name in ("numbers", "lists", "gaps", "mask", "logits")}
    torch.onnx.export(
        small, example, str(path), opset_version=14, input_names=["numbers", "lists", "gaps", "mask"],
        output_names=["logits"], dynamic_axes=axes,
    )
    return float((exact - near).abs().max())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=HERE.parents[3] / "shared" / "data")
    parser.add_argument("--tools", type=Path, default=HERE.parents[2] / ".tools" / "names")
    parser.add_argument("--out", type=Path, default=HERE.parents[1] / "models" / "names")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--smoke", action="store_true", help="a minute on a few of our own texts, to see that it runs")
    args = parser.parse_args()
    made = subprocess.run(["node", HERE / "lists.mjs", args.tools], capture_output=True, check=True)
    lists = json.loads(made.stdout)
    bits = list_bits(lists)
    seen = Seen(bits)
    own = HERE.parent / "data"
    chance = random.Random(SEED)
    varied = Varied(lists, chance)
    plain = Plain(own, varied, chance)
    data = None if args.smoke else args.data
    items = own_items(own, False, 1.0 if args.smoke else 8.0) + unjudged_items(data, own, lists, plain)
    dev = {"own": own_items(own, True)}
    if args.smoke:
        items = random.Random(SEED).sample(items, 600)
        plain.most = 100
    else:
        items = shared_items(data) + items
        dev |= held_out_sets(data)
    model = train(items, seen, varied, plain, 1 if args.smoke else args.epochs, dev)
    finish(model, seen, items, dev, args)


def held_out_sets(data: Path) -> dict[str, list[Item]]:
    """What others labelled and nothing is learned from."""
    return {
        "synth_eu": read_spans(data / "pii" / "synth_eu.dev.jsonl.gz", "synth_eu"),
        "germeval": read_spans(data / "ner" / "germeval2014.de.dev.jsonl.gz", "germeval"),
        "wikiann": [i for p in sorted((data / "ner").glob("wikiann.*.dev.jsonl.gz")) for i in read_spans(p, "wikiann")][::5],
    }


def finish(model: Tagger, seen: Seen, items: list[Item], dev: dict[str, list[Item]], args) -> None:
    """Writes the folder."""
    args.out.mkdir(parents=True, exist_ok=True)
    difference = export(model, args.out / "model.onnx")
    write_lists(seen.bits, args.out / "lists.bin")
    print(f"exported; tables in 8 bits move no probability by more than {difference:.4f}")
    least = bounds(model, seen, [dev[name] for name in ("own", "germeval") if name in dev])
    sources = Counter(item.source for item in items)
    write_manifest(args.out, "names", {
        "name": "gatewarden-names",
        "licence": "Apache-2.0",
        "languages": ["en", "de", "fr", "es", "it", "nl", "pl", "pt"],
        "limits": {"tokens": 4096},
        "tokenizer": {"type": "hashed-words", "lists": "lists.bin"},
        "labels": list(TAGS),
        "least": {KINDS[label]: bound for label, bound in least.items()},
        "training": {
            "command": "make train-names",
            "seed": SEED,
            "data": [{"name": name, "rows": rows, "licence": LICENCES[name]} for name, rows in sorted(sources.items())],
            "lists": "names of people and places: @faker-js/faker 10.6.0, MIT",
        },
        "metrics": {} if args.smoke else {name: measure(model, seen, part, least) for name, part in dev.items()},
    })


if __name__ == "__main__":
    main()
