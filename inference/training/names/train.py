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
from common.words import folded, hash_of, numbers_of
from names.data import LABELS, TAGS, Item, Varied, own_items, read_spans, shared_items, tags_of
from names.model import LIST_BITS, Small, Tagger
from names.plain import Plain, unjudged_items

HERE = Path(__file__).parent
LIST_NAMES = ("given", "surname", "city", "country", "street")
KINDS = {"PER": "PERSON_NAME", "LOC": "LOCATION", "ORG": "ORGANIZATION", "ADDRESS": "ADDRESS"}
LICENCES = {
    "meddocan": "CC BY 4.0",
    "own": "of this repository",
    "plain": "of this repository; tickets CC0",
    "synth_eu": "CC0",
    "wikiann": "CC BY-SA 3.0",
    "wnut17": "CC BY 4.0",
}
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


def found_in(model: nn.Module, seen: Seen, items: list[Item]):
    """Of each item: the spans that are found, with the least probability of their tags, as the runtime has it; and the true ones."""
    encoded = [seen.encode(item) for item in items]
    model.eval()
    with torch.no_grad():
        for group, numbers, bits, gaps, mask, _ in batches(encoded, random.Random(0), False):
            logits = model(*tensors(numbers, bits, gaps, mask)).log_softmax(-1).numpy()
            for row, i in enumerate(group):
                words = encoded[i][4]
                tags = decode(logits[row, : len(words)])
                sure = {word[0]: logits[row, at, tag] for at, (word, tag) in enumerate(zip(words, tags))}
                found = {
                    span: float(np.exp(min(p for start, p in sure.items() if span[0] <= start < span[1])))
                    for span in spans_of(words, tags)
                }
                yield items[i], found, set(spans_of(words, encoded[i][3]))


def measure(model: nn.Module, seen: Seen, items: list[Item], least: dict[str, float]) -> dict:
    """F1 of exact spans, by label and by language."""
    counts: dict[str, list[int]] = {}
    for item, scored, true in found_in(model, seen, items):
        for label in LABELS:
            f = {s for s, score in scored.items() if s[2] == label and score >= least.get(label, 0)}
            t = {s for s in true if s[2] == label}
            for key in (label, f"{label} {item.lang}"):
                c = counts.setdefault(key, [0, 0, 0])
                c[0] += len(f & t)
                c[1] += len(f)
                c[2] += len(t)
    return {key: round(2 * h / (f + t), 3) for key, (h, f, t) in sorted(counts.items()) if t}


def bounds(model: nn.Module, seen: Seen, texts: list[list[Item]]) -> dict[str, float]:
    """
    By label: how sure to be of a name for it to be told. The bound with the best F on the sets of texts, on average; for
    places and firms wrong ones weigh twice, since they are many and a text without them is hard to read.
    """
    best: dict[str, tuple[float, float]] = {}
    judged = [list(found_in(model, seen, items)) for items in texts]
    for label in LABELS:
        weigh = 0.25 if label in ("LOC", "ORG") else 1.0
        for bound in np.arange(0.3, 0.9, 0.02):
            scores = []
            for rows in judged:
                hits = sum(s in true for _, found, true in rows for s, p in found.items() if s[2] == label and p >= bound)
                said = sum(s[2] == label and p >= bound for _, found, _ in rows for s, p in found.items())
                there = sum(s[2] == label for _, _, true in rows for s in true)
                if there:
                    scores.append((1 + weigh) * hits / (said + weigh * there))
            best[label] = max(best.get(label, (0.0, 0.0)), (float(np.mean(scores)), round(float(bound), 2)))
    return {label: bound for label, (_, bound) in best.items()}


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
    parser.add_argument("--epochs", type=int, default=4)
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
    items = own_items(own, False, 1.0 if args.smoke else 10.0) + unjudged_items(data, own, lists, plain)
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
