"""Words of what companies talk about, each in eight languages: requests and purposes made of them, so that languages are read beside one another."""

import random
from pathlib import Path

from typed.data import ABOUT, LANGUAGES, Item, Question
from typed.input import GONE, state_text

NEAR = (
    {"bookkeeping", "tax", "pay", "sales", "bank", "shop"}, {"pay", "leave", "recruiting", "tax"}, {"computers", "security", "code", "telecom"},
    {"building", "renting", "energy", "events"}, {"bank", "investing", "insurance", "renting"}, {"insurance", "cars", "law", "building"}, {"law", "renting", "public office", "tax"},
    {"delivery", "shop", "sales", "factory", "cars"}, {"marketing", "sales", "code", "language work", "events"}, {"travel", "food", "events", "fun", "public office"},
    {"health", "animals", "leave", "safety"}, {"animals", "farming"}, {"school", "research", "language work", "fun", "leave"}, {"factory", "safety", "cars", "energy"},
    {"shop", "telecom", "food"}, {"public office", "pay", "leave"}, {"research", "code", "sales", "health", "marketing", "bookkeeping"}, {"security", "building", "bank"}, {"leave", "events"},
)
"""Themes that share words or matters: nothing is said of one beside another."""
SAID = {
    "en": ("{}", "I have a question about {}.", "{}: how does that work?", "Can you help me with {}?", "problem with {}", "What about {}?"),
    "de": ("{}", "Ich habe eine Frage zu {}.", "{}: wie geht das?", "Kannst du mir bei {} helfen?", "Problem mit {}", "Was ist mit {}?"),
    "fr": ("{}", "J'ai une question : {}.", "{} : comment faire ?", "Peux-tu m'aider ? Il s'agit de {}.", "problème : {}", "Et pour {} ?"),
    "es": ("{}", "Tengo una duda sobre {}.", "{}: ¿cómo se hace?", "¿Me ayudas con {}?", "problema con {}", "¿Qué pasa con {}?"),
    "it": ("{}", "Ho una domanda su {}.", "{}: come si fa?", "Mi aiuti con {}?", "problema con {}", "E per {}?"),
    "nl": ("{}", "Ik heb een vraag over {}.", "{}: hoe werkt dat?", "Kun je me helpen met {}?", "probleem met {}", "Hoe zit het met {}?"),
    "pl": ("{}", "Mam pytanie: {}.", "{}: jak to zrobić?", "Pomożesz mi? Chodzi o {}.", "problem: {}", "A co z tym: {}?"),
    "pt": ("{}", "Tenho uma dúvida sobre {}.", "{}: como se faz?", "Podes ajudar-me com {}?", "problema com {}", "E quanto a {}?"),
}
MEANT = {
    "en": ("{}", "Questions about {}.", "Help desk: {}", "Only {}."), "de": ("{}", "Fragen zu {}.", "Auskunft: {}", "Nur {}."),
    "fr": ("{}", "Questions sur {}.", "Assistance : {}", "Uniquement {}."), "es": ("{}", "Consultas sobre {}.", "Ayuda: {}", "Solo {}."),
    "it": ("{}", "Domande su {}.", "Assistenza: {}", "Solo {}."), "nl": ("{}", "Vragen over {}.", "Hulp: {}", "Alleen {}."),
    "pl": ("{}", "Pytania: {}.", "Pomoc: {}", "Tylko {}."), "pt": ("{}", "Perguntas sobre {}.", "Apoio: {}", "Só {}."),
}


def words_of_themes(folder: Path) -> dict[str, list[list[str]]]:
    """Of each theme its words, each in all languages."""
    themes: dict[str, list[list[str]]] = {}
    for line in (folder / "concepts.txt").read_text("utf8").splitlines():
        if line.startswith("# "):
            theme = themes.setdefault(line[2:], [])
        else:
            theme.append(line.split("|"))
    return themes


def concepts(folder: Path, seed: int, count: int) -> list[Item]:
    """So many requests, and of each whether it is about words of its own theme, in another language or the same one, and about another's."""
    chance = random.Random(seed)
    themes = words_of_themes(folder)
    made = []
    for _ in range(count):
        theme = chance.choice(list(themes))
        near = {theme}.union(*(group for group in NEAR if theme in group))
        other = chance.choice([name for name in themes if name not in near])
        lang = chance.choice(LANGUAGES)
        said = chance.sample(themes[theme], chance.randint(1, 3))
        # Half of the purposes have a word of the request.
        meant = chance.sample(themes[theme], chance.randint(1, 3)) + ([chance.choice(said)] if chance.random() < 0.5 else [])
        chance.shuffle(meant)
        questions = (asked(meant, 1, chance), asked(chance.sample(themes[other], chance.randint(1, 4)), 0, chance))
        request = chance.choice(SAID[lang]).format(", ".join(word[LANGUAGES.index(lang)] for word in said))
        made.append(Item(lang, "concepts", state_text({"request": request}), questions, "train"))
    return made


def asked(words: list[list[str]], answer: int, chance: random.Random) -> Question:
    lang = chance.choice(LANGUAGES)
    told = list(dict.fromkeys(word[LANGUAGES.index(lang)] for word in words))
    text = ABOUT + chance.choice(MEANT[lang]).format(", ".join(told))
    return Question("noul", "concepts", text.translate(GONE), (), answer)
