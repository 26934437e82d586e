"""Prints prompts with their numbers, as data.py makes them: what inference/decide/router-input.test.ts is held to.

    PYTHONPATH=inference/training python -m router.examples > inference/decide/router-examples.json
"""

import json
from pathlib import Path

from tokenizers import Tokenizer

from common.glossary import glossary_of
from router.data import numbers_of

FOLDER = Path(__file__).parents[2] / "models" / "router"
LONG = "Die Straße führt über Ærøskøbing nach Łódź; dort ist es schön. " * 200
STATES = [
    {"request": "hi"},
    {"request": ""},
    {"request": "   \n\t "},
    {"request": "Schreib mir bitte eine freundliche Absage an Herrn Müller-Lüdenscheidt, max. 80 Wörter!"},
    {"request": "def f(x):\n    return {k: v for k, v in x.items() if v > 10}\n```\nwhy is this slow?"},
    {"request": "and in dutch?", "previous": "Assistant: In German you would write \"Bitte nicht stürzen\" on the crate."},
    {"request": "tl;dr please", "attachments": ["board_minutes_2024-11.pdf (application/pdf)", "b.txt (text/plain)"]},
    {"request": "check this", "attachments": "payslip_45.pdf (application/pdf)", "system": "You are a payroll clerk. Answer in French."},
    {"request": "Résumé: l’été «très» chaud — 38,5 °C… ¿Qué? “Yes” „Ja“", "previous": "", "system": ""},
    {"request": "日本語の文章を英語に翻訳してください。ありがとう！ 😀👩‍👩‍👧 𝒳𝓎 ǅ ﬁ Ⅻ ½"},
    {"request": "İstanbul ΟΔΥΣΣΕΥΣ straße STRASSE naïve e\u0301te\u0301 A\u030a \u200b\ufeff\u00ad\u2028x\u0085y"},
    {"request": LONG},
    {"request": "word " * 1200 + "😀" * 300 + "end of it"},
    {"request": "😀" * 2600},
    {"request": "a" * 300 + " " + "supercalifragilisticexpialidocious" * 3},
    {"request": "x" * 25000 + " the end"},
    {"request": "Why is that so? " * 1500 + "the end", "previous": "Assistant: " + "so much was said " * 300,
     "system": "Be brief. " * 400, "attachments": [f"{n}.pdf (application/pdf)" for n in range(40)]},
    {"request": "[CLS] [SEP] [MASK] [UNK] ##ing <|endoftext|> \x00\x01\x7f end"},
]


def main() -> None:
    tokenizer = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    glossary = glossary_of(FOLDER.parents[1] / "training" / "data")
    rows = []
    for state in STATES:
        ids, grams, features = numbers_of(state, tokenizer, glossary)
        rows.append({"state": state, "ids": ids, "grams": grams, "features": [round(f, 9) for f in features]})
    print("[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + "\n]")


if __name__ == "__main__":
    main()
