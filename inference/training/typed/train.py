"""Trains the model of typed decisions and writes inference/models/typed. See README.md beside the folder."""

import argparse
import json
import random
import shutil
import time
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnxruntime
import torch
from torch import nn

from common.calibration import softmax
from common.glossary import FILE as GLOSSARY, Glossary, glossary_of
from common.folder import write_manifest
from common.minilm import WIDTH, model_folder, open_tokenizer
from typed.batches import Encoded, Frozen, batch_of, encode, groups_of, part_of_row, scores_of
from typed.concepts import concepts
from typed.data import LANGUAGES, MOST_OFFERED, OWN, PACE, PROPOSED, ROUNDS, SCOPE, Item, all_items, chosen_for, own_items, sources_of
from typed.input import FEATURES, KINDS, LIMITS
from typed.judge import confidence_of, measure, temperatures_of
from typed.model import AGAIN, Exported, ExportedMiniLM, Typed, shrink
from typed.purposes import purposes

HERE = Path(__file__).parent
SEED = 20261121
OPSET = 17
MOST = {"again": 1.5e-3, "parts": 1.5e-3, "exit": 2e-3, "plain": 1e-2}
"""The highest rate of learning of each part."""
TOGETHER = 32
"""How many weights of a column share a scale."""
TESTED = {OWN: 200, SCOPE: 100, "calibrate": 50, "test": 50}
"""How many items of a source are calibrated with and tested on, at most."""


def write_graph(module: nn.Module, given: dict, names: tuple[str, ...], axes: dict, path: Path) -> None:
    import onnx

    torch.onnx.export(module.eval(), tuple(given.values()), str(path), opset_version=OPSET, input_names=list(given),
                      output_names=list(names), dynamic_axes=axes)
    model = onnx.load(str(path))
    share_weights(model.graph)
    onnx.save(model, str(path))


def share_weights(graph) -> None:
    """Weights that two products share are exported as copies of one another."""
    weights = {each.name for each in graph.initializer}
    copies = {node.output[0]: node.input[0] for node in graph.node if node.op_type == "Identity" and node.input[0] in weights}
    kept = [node for node in graph.node if node.output[0] not in copies]
    for node in kept:
        for at, name in enumerate(node.input):
            node.input[at] = copies.get(name, name)
    del graph.node[:]
    graph.node.extend(kept)


def write_small(full: Path, path: Path) -> None:
    """
    MiniLM's weights in 8 bits, a scale for each `TOGETHER` of a column, and what was trained in 16, spread out again when the
    graph is loaded. Products themselves stay in 32: in 8 bits what MiniLM makes of a text moves probabilities by up to a tenth.
    """
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    model = onnx.load(str(full))
    graph = model.graph
    multiplied = {name for node in graph.node if node.op_type == "MatMul" for name in node.input}
    first, kept = [], []
    for each in graph.initializer:
        if each.name not in multiplied or len(each.dims) != 2 or any(size % WIDTH for size in each.dims):
            is_large = each.data_type == TensorProto.FLOAT and np.prod(each.dims) >= WIDTH * WIDTH // 16
            kept.append(numpy_helper.from_array(numpy_helper.to_array(each).astype(np.float16), f"{each.name} half") if is_large else each)
            if is_large:
                first.append(helper.make_node("Cast", [f"{each.name} half"], [each.name], to=TensorProto.FLOAT))
            continue
        values = numpy_helper.to_array(each)
        parts = values.reshape(-1, TOGETHER, values.shape[1])
        scale = np.maximum(np.abs(parts).max(1, keepdims=True) / 127, 1e-8).astype(np.float32)
        kept.append(numpy_helper.from_array(np.round(parts / scale).astype(np.int8), f"{each.name} small"))
        kept.append(numpy_helper.from_array(scale, f"{each.name} scale"))
        kept.append(numpy_helper.from_array(np.array(values.shape, np.int64), f"{each.name} shape"))
        first.append(helper.make_node("Cast", [f"{each.name} small"], [f"{each.name} whole"], to=TensorProto.FLOAT))
        first.append(helper.make_node("Mul", [f"{each.name} whole", f"{each.name} scale"], [f"{each.name} parts"]))
        first.append(helper.make_node("Reshape", [f"{each.name} parts", f"{each.name} shape"], [each.name]))
    nodes = [*first, *graph.node]
    del graph.initializer[:], graph.node[:]
    graph.initializer.extend(kept)
    graph.node.extend(nodes)
    onnx.save(model, str(path))


def graph_of(typed: Typed, is_quick: bool) -> bytes:
    """MiniLM as the runtime has it, or with products in 8 bits: near enough to learn from, and several times as fast."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    names = tuple(f"state{i}" for i in range(AGAIN + 1))
    axes = {name: {0: "rows", 1: "pieces"} for name in ("ids", *names)}
    with TemporaryDirectory() as folder:
        full, path = Path(folder) / "full.onnx", Path(folder) / "minilm.onnx"
        write_graph(ExportedMiniLM(typed), {"ids": torch.tensor([[101, 2023, 102], [101, 102, 0]])}, names, axes, full)
        if is_quick:
            quantize_dynamic(str(full), str(path), weight_type=QuantType.QInt8, op_types_to_quantize=["MatMul"], per_channel=True, reduce_range=True)
        else:
            write_small(full, path)
        return path.read_bytes()


def forward(typed: Typed, batch) -> torch.Tensor:
    known = typed.reader.known(batch.states, typed.layers)
    return typed.reader(typed.layers, batch.row, batch.sees, batch.part, batch.pool, known, batch.sees_state,
                        batch.lone_row, batch.lone_state, batch.features)


def train(typed: Typed, items: list[Item], frozen: Frozen, tokenizer, glossary: Glossary, round_: int) -> None:
    """Once through a round's choice of items, varied anew."""
    chance = random.Random(SEED + round_)
    encoded = [encode(item, tokenizer, glossary) for item in chosen_for(round_, items, chance)]
    began = time.time()
    frozen.fill(encoded)
    print(f"MiniLM read {len(frozen.states)} states and {len(frozen.rows)} rows in {time.time() - began:.0f} s", flush=True)
    groups = groups_of(encoded, chance)
    parameters = list(typed.reader.parameters())
    rates = [{"params": list(getattr(typed.reader, name).parameters()), "most": most * PACE[round_]} for name, most in MOST.items()]
    optimizer = torch.optim.AdamW(rates, weight_decay=0.01)
    loss_of = nn.CrossEntropyLoss(label_smoothing=0.03)
    typed.train()
    began, seen = time.time(), defaultdict(list)
    for step, group in enumerate(groups):
        for part in optimizer.param_groups:
            part["lr"] = part["most"] * min(1, (step + 1) / 30) * max(0.03, 1 - step / len(groups))
        batch = batch_of(group, frozen)
        scores, answers = scores_of(forward(typed, batch), batch.places)
        # Options that a question does not have are left out of the smoothing, too.
        losses = [loss_of(row[row > -20000][None], answer[None]) for row, answer in zip(scores, answers)]
        loss = torch.stack(losses).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        right = (scores.argmax(-1) == answers).tolist()
        for (e, q, _), is_right in zip(batch.places, right):
            seen[f"{e.item.source} {q.kind}"].append(is_right)
        if (step + 1) % 50 == 0 or step + 1 == len(groups):
            told = {name: round(float(np.mean(last[-300:])), 3) for name, last in sorted(seen.items())}
            print(f"step {step + 1} of {len(groups)}: {time.time() - began:.0f} s, {json.dumps(told)}", flush=True)


def logits_of(typed: Typed, items: list[Encoded], frozen: Frozen) -> list[tuple[Encoded, object, np.ndarray]]:
    """Each question with the logits of its options."""
    found = []
    typed.eval()
    with torch.no_grad():
        for group in groups_of(items, None):
            batch = batch_of(group, frozen)
            scores, _ = scores_of(forward(typed, batch), batch.places)
            found += [(e, q, row[row > -20000].numpy()) for (e, q, _), row in zip(batch.places, scores)]
    return found


def export(typed: Typed, full: Path) -> None:
    state = torch.randn(2 * AGAIN, 5, WIDTH)
    given = {
        "ids": torch.tensor([[101, 2023, 102], [101, 102, 0]]), "row": torch.randn(1, 5, WIDTH), "row_lone": torch.randn(1, 5, WIDTH),
        "rows": torch.tensor([0, 0, 0, 1, 1]), "part": torch.tensor([1, 1, 1, 3, 3]), "features": torch.rand(1, 2, 4),
        "state": state, "state_lone": torch.randn(1, 5, WIDTH),
    }
    axes = {
        "ids": {0: "texts", 1: "pieces"}, "row": {1: "asked"}, "row_lone": {1: "asked"}, "rows": {0: "asked"}, "part": {0: "asked"},
        "features": {1: "rows"}, "state": {1: "known"}, "state_lone": {1: "known"}, "logits": {0: "rows"},
        "first": {1: "all"}, "lone": {1: "all"}, "known": {1: "all"},
    }
    write_graph(Exported(typed), given, ("logits", "first", "lone", "known"), axes, full)


class Runtime:
    """The graph as the gateway's runtime asks it: with texts, each read by itself, and then once for each question."""

    def __init__(self, path: Path):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(path), options)

    def read(self, texts: list) -> list[np.ndarray]:
        """What it makes of texts, one after the other: before the layers that read again, in the end, and for questions to read."""
        width = max(map(len, texts))
        padded = np.zeros((len(texts), width), np.int64)
        for i, text in enumerate(texts):
            padded[i, : len(text)] = text
        one, numbers = np.zeros((1, 1, WIDTH), np.float32), np.zeros(1, np.int64)
        given = {
            "ids": padded, "row": one, "row_lone": one, "rows": numbers, "part": numbers, "features": np.zeros((1, 1, FEATURES), np.float32),
            "state": np.zeros((2 * AGAIN, 1, WIDTH), np.float32), "state_lone": one,
        }
        there = [i * width + at for i, text in enumerate(texts) for at in range(len(text))]
        return [said[:, there] for said in self.session.run(["first", "lone", "known"], given)]

    def logits(self, encoded: Encoded) -> list[np.ndarray]:
        _, state_lone, state = self.read(encoded.state)
        found = []
        for q, rows in encoded.questions:
            row, row_lone, _ = self.read([each.ids for each in rows])
            numbers = [i for i, each in enumerate(rows) for _ in each.ids]
            logits = self.session.run(["logits"], {
                "ids": np.array([encoded.state[0][:1]]), "row": row, "row_lone": row_lone, "rows": np.array(numbers),
                "part": np.array([part_of_row(q.kind, i) for i in numbers]), "features": np.array([[each.features for each in rows]], np.float32),
                "state": state, "state_lone": state_lone,
            })[0][:, KINDS.index(q.kind)]
            found.append(np.array([0.0, logits[0]]) if q.kind == "noul" else logits[1:])
        return found


def difference(full: Runtime, small: Runtime, items: list[Encoded], temperatures: dict[str, float]) -> dict:
    """How far probabilities move when weights have 8 bits: the most, and what 99 of 100 stay below."""
    moved = []
    for e in items:
        for (q, _), exact, near in zip(e.questions, full.logits(e), small.logits(e)):
            t = temperatures[q.kind]
            moved.append(float(np.abs(softmax(exact, t) - softmax(near, t)).max()))
    return {"most": round(max(moved), 4), "of_99_percent": round(float(np.quantile(moved, 0.99)), 4)}


def some(items: list[Item], part: str, tokenizer, glossary: Glossary, most: int | None = None) -> list[Encoded]:
    """The items of a part, of each source no more than so many."""
    by = defaultdict(list)
    for item in items:
        if item.part == part:
            by[item.source].append(item)
    chance = random.Random(SEED)
    chosen = []
    for source, found in sorted(by.items()):
        chosen += chance.sample(found, min(len(found), most or TESTED.get(source, TESTED[part])))
    return [encode(item, tokenizer, glossary) for item in chosen]


def schedule(rounds: int) -> str:
    """What so many rounds read, and how fast they learn."""
    return repr((ROUNDS[:rounds], PACE[:rounds], PROPOSED[:rounds], MOST_OFFERED[:rounds]))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=HERE.parents[3] / "shared" / "data")
    parser.add_argument("--out", type=Path, default=HERE.parents[1] / "models" / "typed")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--trained", type=Path, help="a file to keep what was trained in after each round; where there is one, it is taken up")
    args = parser.parse_args()
    torch.manual_seed(SEED)
    tokenizer = open_tokenizer()
    own = HERE.parent / "data"
    glossary = glossary_of(own)
    few = 3 if args.smoke else None
    # A few of what is in the repository show that it runs.
    items = random.Random(SEED).sample(own_items(own), 60) if args.smoke else all_items(args.data, own)
    items += purposes(items, own) + concepts(own, SEED, 30 if args.smoke else 9000)
    typed = shrink(Typed())
    done = 0
    if args.trained and args.trained.exists():
        kept = torch.load(args.trained)
        done = kept["rounds"]
        if kept["schedule"] != schedule(done):
            raise ValueError(f"{args.trained} was trained in other rounds")
        typed.reader.load_state_dict(kept["reader"])
    learned = [item for item in items if item.part == "train"]
    unread = {item.source for item in learned}.difference(*ROUNDS)
    if unread:
        raise ValueError(f"no round reads {unread}")
    quick = graph_of(typed, is_quick=True)
    for round_ in range(done, len(ROUNDS)):
        # In 8 bits a text is read a little differently beside others: anew in each round, which may be the first of a run.
        frozen = Frozen(quick)
        torch.manual_seed(SEED + round_)
        train(typed, learned, frozen, tokenizer, glossary, round_)
        if args.trained:
            kept = {"rounds": round_ + 1, "schedule": schedule(round_ + 1), "reader": typed.reader.state_dict()}
            torch.save(kept, args.trained)
    frozen = Frozen(graph_of(typed, is_quick=False))
    parts = {part: some(items, part, tokenizer, glossary, few) for part in ("calibrate", "test")}
    for part in parts.values():
        frozen.fill(part)
    args.out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder:
        full = Path(folder) / "full.onnx"
        export(typed, full)
        write_small(full, args.out / "model.onnx")
        found = logits_of(typed, parts["calibrate"], frozen)
        temperatures = temperatures_of(found)
        confidence = confidence_of(found, temperatures)
        sample = random.Random(SEED).sample(parts["test"], min(len(parts["test"]), 10 if args.smoke else 50))
        moved = difference(Runtime(full), Runtime(args.out / "model.onnx"), sample, temperatures)
    metrics = measure(logits_of(typed, parts["test"], frozen), temperatures, confidence)
    print(f"weights in 8 bits move probabilities: {json.dumps(moved)}\n{json.dumps(metrics, indent=1)}")
    shutil.copy(model_folder() / "tokenizer.json", args.out / "tokenizer.json")
    (args.out / GLOSSARY).write_text(glossary.text, "utf8")
    write_manifest(args.out, "typed", {
        "name": "gatewarden-typed",
        "licence": "Apache-2.0",
        "languages": list(LANGUAGES),
        "tokenizer": {"type": "huggingface", "file": "tokenizer.json", "glossary": GLOSSARY},
        "labels": list(KINDS),
        "limits": LIMITS,
        "calibration": {"temperatures": temperatures, "confidence": confidence},
        "training": {"command": "make train-typed", "seed": SEED, "data": sources_of(items)},
        "metrics": metrics | {"moved_by_8_bits": moved},
    })


if __name__ == "__main__":
    main()
