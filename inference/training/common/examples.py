"""Prints texts with their words and the words' numbers: what inference/decide/words.test.ts is held to.

    PYTHONPATH=inference/training python -m common.examples > inference/decide/words-examples.json
"""

import json

from common.words import numbers_of, words_of

TEXTS = [
    "",
    "Herr Dr. Jürgen Müller-Lüdenscheidt\nAm Bäckerberg 12a, 8010 Graz",
    "write to ada@example.com\t(now)!!! 12.500,00 € \u00a0x",
    "İstanbul ΟΔΥΣΣΕΥΣ ǅungla Ⅻ ½ e\u0301te\u0301 日本語 😀👩‍👩‍👧 𝒳𝓎",
    "a" * 40 + " " + "é" * 33 + " " + "𝒳" * 33,
    "\r\n\r\nBegin\u2028here\u0085 there\x0bfeed\x0cform",
]


def main() -> None:
    rows = [
        {"text": text, "words": [[text[s:e], gap, *numbers_of(text[s:e])] for s, e, gap in words_of(text)]} for text in TEXTS
    ]
    print("[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + "\n]")


if __name__ == "__main__":
    main()
