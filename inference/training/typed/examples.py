"""Prints states and questions with their numbers, as input.py makes them: what inference/decide/typed-input.test.ts is held to.

    PYTHONPATH=inference/training python -m typed.examples > inference/decide/typed-examples.json
"""

import json
from pathlib import Path

from common.glossary import glossary_of
from common.minilm import open_tokenizer
from typed.input import ASKED, OFFERED, Words, option_text, question_text, row_of, state_text, windows_of

NOUL = {"type": "noul", "instructions": "The customer wants 2 refunds, not 12."}
CHOICE = {"type": "choice", "instructions": "Worum geht es?", "options": [("Rechnung", ""), ("Lieferung", "kam zu spät oder gar nicht"), ("42", "")]}
SCORE = {"type": "score", "instructions": "Quelle est l’urgence ?", "options": [("aucune", ""), ("très élevée", "")]}
CASES = [
    ("", NOUL),
    (" \n\t ", SCORE),
    ("Die Rechnung über 42,00 € ist falsch; bitte 2 Stück zurücknehmen. Grüße aus Łódź", CHOICE),
    ({"ticket": {"id": 12, "tags": ["refund", "zwei"], "open": True, "note": None, "price": 3.5, "share": 1.0}, "message": "Two lines\nof text"}, NOUL),
    ([{"role": "user", "text": "İstanbul ΟΔΥΣΣΕΥΣ straße e\u0301te\u0301 \u200b\ufeff\u00ad"}, ["a", []], -7, False], SCORE),
    ("日本語の文章 😀👩‍👩‍👧 𝒳𝓎 ǅ Ⅻ ½ \u00a0x\u2028y\u3000z", {"type": "noul", "instructions": "𝒳𝓎 Ⅻ?", "options": [("true", "ja, 日本"), ("false", "")]}),
    ("word " * 400 + "end", {"type": "choice", "instructions": "x" * 300, "options": [("word", ""), ("end", "of it " * 45)]}),
    ("supercalifragilistic-expialidocious " * 384, {"type": "noul", "instructions": "why not " * 120, "options": [("true", "yes"), ("false", "no")]}),
    ("[CLS] [SEP] [MASK] ##ing <|endoftext|> \x00\x01\x7f\x1c\x85end", {"type": "score", "instructions": "[P] a [L]", "options": [("[SEP]", ""), ("##s", "")]}),
]


def rows_of(question: dict, state: str, tokenizer, glossary) -> list[dict]:
    kind, options = question["type"], question.get("options", [("true", ""), ("false", "")])
    words = Words(state)
    texts = [question_text(kind, question["instructions"], options)]
    if kind != "noul":
        texts += [option_text(*option) for option in options]
    asked, *offered = glossary.read_apart(texts)
    rows = [row_of(asked, ASKED, tokenizer, words), *(row_of(text, OFFERED, tokenizer, words) for text in offered)]
    return [{"ids": row.ids, "features": row.features} for row in rows]


def main() -> None:
    tokenizer = open_tokenizer()
    glossary = glossary_of(Path(__file__).parents[1] / "data")
    examples = []
    for given, question in CASES:
        (state,), _ = glossary.read([state_text(given)])
        options = [{"name": name, **({"description": said} if said else {})} for name, said in question.get("options", [("true", ""), ("false", "")])]
        asked = {"type": question["type"], "instructions": question["instructions"], "options": options}
        examples.append({"state": given, "question": asked, "windows": windows_of(state, tokenizer), "rows": rows_of(question, state, tokenizer, glossary)})
    print("[\n" + ",\n".join(json.dumps(each, separators=(",", ":")) for each in examples) + "\n]")


if __name__ == "__main__":
    main()
