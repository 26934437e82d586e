"""Prints texts in other words: what inference/decide/glossary.test.ts is held to.

    PYTHONPATH=inference/training python -m common.glossary_examples > inference/decide/glossary-examples.json
"""

import json
from pathlib import Path

from common.glossary import glossary_of

TEXTS = [
    [""],
    ["Please cancel my subscription; I want my money back."],
    ["Ich möchte mein Geld zurück, die Rechnung vom 3. Mai ist falsch!", "Rechnung", "Lieferung", "none of these"],
    ["Kfz-Versicherungsnummern, Kundendienstrechnungen und Fußbodenheizungsmonteure", "STRASSENBAHNHALTESTELLE"],
    ["Übersetze bitte ins Englische:\nNous n'avons pas reçu l'acompte. Qu'est-ce qu'on fait ?\nThanks!"],
    ["¿Por qué no funciona la calefacción? No entiendo nada, gracias"],
    ["l'appartamento dell'inquilino è già stato consegnato: quand'è che pagano?"],
    ["Waarom is mijn zorgverzekering duurder geworden dan vorig jaar?"],
    ["Prosze o fakture za zeszly miesiac, dziekuje", "Proszę o fakturę za zeszły miesiąc, dziękuję"],
    ["Não recebi o pagamento; podem verificar, por favor?"],
    ["Typ 6d5f9-x2k für 3Tage, 2 m², pro Stück4 und 𝟛die 4 die"],
    ["Die Lieferung war fehlerlos und kam papierlos", "arbeitslos", "een zorgeloze en werkloze", "TENNISSE\U0001d41a"],
    ["die", "der", "hotel", "fall", "x"],
    ["SELECT name FROM kunden WHERE betrag > 100 -- alle offenen Rechnungen"],
    ["日本語の文章 😀👩‍👩‍👧 𝒳𝓎 ǅ Ⅻ ½ \u00a0x\u2028y\u3000z İstanbul ΟΔΥΣΣΕΥΣ e\u0301te\u0301 \u0301"],
    ["ß", "ł", "a" * 40, "rechnung" * 12, "()", "...!?", "\u201eJa\u201c \u00abnon\u00bb"],
]


def main() -> None:
    glossary = glossary_of(Path(__file__).parents[1] / "data")
    rows = []
    for texts in TEXTS:
        said, languages = glossary.read(texts)
        rows.append({"texts": texts, "said": said, "languages": languages})
    print("[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + "\n]")


if __name__ == "__main__":
    main()
