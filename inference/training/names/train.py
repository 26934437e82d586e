"""Trains the tagger of names and writes inference/models/names. See README.md beside the folder."""

import argparse
import json
import random
import subprocess
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

from common.folder import sha256_of, write_manifest
from common.words import folded, hash_of, numbers_of
from names.data import LABELS, TAGS, Item, Varied, read_marked, read_spans, tags_of, training_items
from names.model import LIST_BITS, Small, Tagger
from names.plain import Plain, unjudged_items

HERE = Path(__file__).parent
LIST_NAMES = ("given", "surname", "city", "country", "street")
BATCH_WORDS = 3000
SEED = 20261121


def list_bits(lists: dict) -> dict[int, int]:
    """Hash of a word -> bits: in lists of given names, surnames, cities, countries, streets; part of a longer city's name."""
    bits: dict[int, int] = {}
    for locale in lists.values():
        for bit, name in enumerate(LIST_NAMES):
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


def allowed() -> np.ndarray:
    """allowed[a, b]: tag b may follow tag a. What is inside a name follows its beginning or inside."""
    size = len(TAGS)
    table = np.ones((size, size), bool)
    for tag in range(2, size, 2):
        table[:, tag] = False
        table[tag - 1, tag] = table[tag, tag] = True
    return table


def decode(scores: np.ndarray) -> list[int]:
    """The likeliest tags that may follow one another (Viterbi over log probabilities)."""
    if len(scores) == 0:
        return []
    block = np.where(allowed(), 0.0, -1e9)
    first = np.where([tag > 0 and tag % 2 == 0 for tag in range(scores.shape[1])], -1e9, 0.0)
    best = scores[0] + first
    back = []
    for row in scores[1:]:
        paths = best[:, None] + block
        back.append(paths.argmax(0))
        best = paths.max(0) + row
    tags = [int(best.argmax())]
    for pointers in reversed(back):
        tags.append(int(pointers[tags[-1]]))
    return tags[::-1]


def spans_of(words, tags) -> list[tuple[int, int, str]]:
    spans, open_ = [], None
    for (start, end, _), tag in zip(words, tags):
        label = LABELS[(tag - 1) // 2] if tag else None
        if tag and tag % 2 == 0 and open_ and open_[2] == label:
            open_[1] = end
            continue
        if open_:
            spans.append(tuple(open_))
        open_ = [start, end, label] if tag else None
    if open_:
        spans.append(tuple(open_))
    return spans


def measure(model: nn.Module, seen: Seen, items: list[Item]) -> dict:
    """F1 of exact spans, by label and by language."""
    encoded = [seen.encode(item) for item in items]
    counts: dict[str, list[int]] = {}
    model.eval()
    with torch.no_grad():
        for group, numbers, bits, gaps, mask, _ in batches(encoded, random.Random(0), False):
            logits = model(*tensors(numbers, bits, gaps, mask)).log_softmax(-1).numpy()
            for row, i in enumerate(group):
                words = encoded[i][4]
                found = set(spans_of(words, decode(logits[row, : len(words)])))
                true = set(spans_of(words, encoded[i][3]))
                for label in LABELS:
                    f = {s for s in found if s[2] == label}
                    t = {s for s in true if s[2] == label}
                    for key in (label, f"{label} {items[i].lang}"):
                        c = counts.setdefault(key, [0, 0, 0])
                        c[0] += len(f & t)
                        c[1] += len(f)
                        c[2] += len(t)
    return {key: round(2 * h / (f + t), 3) for key, (h, f, t) in sorted(counts.items()) if t}


def tensors(numbers, bits, gaps, mask):
    return torch.from_numpy(numbers), torch.from_numpy(unpack(bits)), torch.from_numpy(gaps), torch.from_numpy(mask)


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
            print("  ", name, json.dumps(measure(model, seen, part)), flush=True)
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
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--smoke", action="store_true")
    args = parser.parse_args()
    made = subprocess.run(["node", HERE / "lists.mjs", args.tools], capture_output=True, check=True)
    lists = json.loads(made.stdout)
    bits = list_bits(lists)
    seen = Seen(bits)
    own = HERE.parent / "data"
    chance = random.Random(SEED)
    varied = Varied(lists, chance)
    plain = Plain(own, varied, chance)
    items = training_items(args.data, own) + unjudged_items(args.data, own, lists, plain)
    if args.smoke:
        items = random.Random(1).sample(items, 600)
    dev = {
        "own": [i for p in sorted(own.glob("names.*.jsonl")) for i in read_marked(p, True)],
        "synth_eu": read_spans(args.data / "pii" / "synth_eu.dev.jsonl.gz", "synth_eu"),
        "germeval": read_spans(args.data / "ner" / "germeval2014.de.dev.jsonl.gz", "germeval"),
        "wikiann": [i for p in sorted((args.data / "ner").glob("wikiann.*.dev.jsonl.gz")) for i in read_spans(p, "wikiann")][::5],
    }
    if args.smoke:
        dev = {name: part[:50] for name, part in dev.items()}
    model = train(items, seen, varied, plain, 1 if args.smoke else args.epochs, dev)
    args.out.mkdir(parents=True, exist_ok=True)
    difference = export(model, args.out / "model.onnx")
    write_lists(bits, args.out / "lists.bin")
    print(f"exported; tables in 8 bits move no probability by more than {difference:.4f}")
    torch.save(model.state_dict(), args.tools / "names.pt")
    write_manifest(args.out, "names", {
        "name": "gatewarden-names",
        "licence": "Apache-2.0",
        "languages": ["en", "de", "fr", "es", "it", "nl", "pl", "pt"],
        "limits": {"tokens": 4096},
        "tokenizer": {"type": "hashed-words", "lists": "lists.bin"},
        "labels": list(TAGS),
        "training": {"command": "make train-names", "seed": SEED, "items": len(items)},
        "metrics": {name: measure(model, seen, part) for name, part in dev.items()} if not args.smoke else {},
    })


if __name__ == "__main__":
    main()
