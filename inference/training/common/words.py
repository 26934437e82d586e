"""Words of a text and the numbers that stand for them. inference/decide/words.ts does the same to the letter."""

import unicodedata
from functools import lru_cache

BUCKETS = {"word": 32768, "prefix": 8192, "suffix3": 8192, "suffix2": 4096, "shape": 1024}
KINDS = ("word", "prefix", "suffix3", "suffix2", "shape")
LONGEST = 32
"""Letters of a word that are looked at."""


def kind_of(char: str) -> str:
    """`a` letter, `d` digit, ` ` space, `.` anything else."""
    if char in "\t\n\x0b\x0c\r":
        return " "
    major = unicodedata.category(char)[0]
    return {"L": "a", "M": "a", "N": "d", "Z": " "}.get(major, ".")


def words_of(text: str) -> list[tuple[int, int, int]]:
    """(start, end, gap): runs of letters, runs of digits, any other character alone. Gap before: 0 none, 1 space, 2 line."""
    words: list[tuple[int, int, int]] = []
    at, gap = 0, 2
    while at < len(text):
        kind = kind_of(text[at])
        end = at + 1
        if kind == " ":
            gap = 2 if text[at] in "\n\r" else max(gap, 1)
        else:
            while kind != "." and end < len(text) and kind_of(text[end]) == kind:
                end += 1
            words.append((at, end, gap))
            gap = 0
        at = end
    return words


def hash_of(text: str) -> int:
    """FNV-1a, 32 bits, of the UTF-8 bytes."""
    value = 0x811C9DC5
    for byte in text.encode("utf-8", "surrogatepass"):
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return value


def shape_of(word: str) -> str:
    """Upper, lower and other letters, digits and the rest; no more than two of a kind in a row."""
    shape = ""
    for char in word:
        category = unicodedata.category(char)
        if category in ("Lu", "Lt"):
            mark = "X"
        elif category == "Ll":
            mark = "x"
        elif category[0] in "LM":
            mark = "o"
        elif category[0] == "N":
            mark = "d"
        else:
            mark = char
        if shape[-2:] != mark * 2:
            shape += mark
    return shape


def folded(word: str) -> str:
    """As the lists and the word's own number have it: lower case, at most LONGEST characters."""
    return word[:LONGEST].lower()


@lru_cache(maxsize=1_000_000)
def numbers_of(word: str) -> tuple[int, ...]:
    """Of KINDS, in that order; 0 is nobody's."""
    lower = folded(word)
    texts = {
        "word": lower,
        "prefix": "p" + lower[:3],
        "suffix3": "s" + lower[-3:],
        "suffix2": "t" + lower[-2:],
        "shape": shape_of(word[:LONGEST]),
    }
    return tuple(1 + hash_of(texts[kind]) % (BUCKETS[kind] - 1) for kind in KINDS)
