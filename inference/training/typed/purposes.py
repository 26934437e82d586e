"""Requests beside the stated purpose of a workload, as the scope guard asks about them."""

import json
from dataclasses import replace
from pathlib import Path

from typed.data import ABOUT, Item, Question, roll
from typed.input import GONE, state_text

BY_DOMAIN = {"banking": "money", "credit cards": "money", "kitchen and dining": "kitchen", "travel": "travel", "auto and commute": "car", "work": "staff", "small talk": "chat"}
BY_SCENARIO = {
    "cooking": "kitchen", "takeaway": "kitchen", "music": "music", "play": "music", "iot": "house", "weather": "weather", "email": "mail",
    "calendar": "calendar", "alarm": "calendar", "news": "news",
}
BY_TASK = {"code": "code", "programming": "code", "translation": "translation", "writing": "writing", "document": "document", "smalltalk": "chat", "small": "chat", "action": "action", "an": "action", "extraction": "extraction"}
TOPICS = (
    "login or access problem", "data deletion request", "delivery problem", "defective product", "cancellation", "complaint about staff", "billing problem",
    "feature request", "price inquiry", "how-to question", "job application", "security incident",
)
"""Of tickets: each a theme of its own name, within that of customers."""
TASKS = ("code", "translation", "writing", "document")
CLOSE = {
    "travel": {"car"}, "car": {"travel"}, "music": {"house"}, "house": {"music", "weather"}, "mail": {"staff", "customers", "writing", "calendar"},
    "staff": {"mail", "calendar", "job application"}, "customers": {"money", "travel"}, "money": {"customers", "billing problem", "login or access problem", "security incident"},
    "calendar": {"staff", "mail"}, "chat": {"news"}, "kitchen": {"delivery problem"},
    "writing": {"mail", "translation"}, "document": {"translation", "writing"}, "action": {"mail", "calendar", "house", "travel", "writing"}, "extraction": {"document"},
    "billing problem": {"money", "price inquiry", "cancellation"}, "price inquiry": {"billing problem"}, "login or access problem": {"security incident", "how-to question"},
    "security incident": {"login or access problem"}, "data deletion request": {"cancellation"}, "cancellation": {"data deletion request", "billing problem"},
    "feature request": {"how-to question"}, "how-to question": {"feature request", "login or access problem"}, "job application": {"staff"}, "complaint about staff": {"staff"},
}
"""Themes that a request may have beside its own: nothing is said of those."""
ASKED = (ABOUT + "{}",) * 3 + ("The request belongs to this purpose: {}", "This is about: {}")


def themes_of(folder: Path) -> dict[str, list[str]]:
    """Purposes of each theme, in eight languages."""
    return json.loads((folder / "purposes.json").read_text("utf8"))


def theme_of(item: Item) -> str | None:
    by = {q.name: q for q in item.questions}
    told = lambda name: by[name].texts[by[name].answer] if name in by else ""
    if item.source == "synth_support":
        return told("topic") or "customers"
    if item.source == "prompts":
        return BY_TASK.get(told("task").split(" ")[0].rstrip(":"))
    if item.source == "hwu64":
        return BY_SCENARIO.get(told("intent").split(" ")[0])
    return BY_DOMAIN.get(told("domain"))


def far_from(theme: str | None, source: str, themes: dict[str, list[str]]) -> list[str]:
    """Themes that a request of this one surely does not have. Whatever is asked of an assistant may have any topic, but one task."""
    if source == "prompts":
        return [name for name in TASKS if name != theme and name not in CLOSE.get(theme or "", ())]
    others = TOPICS if theme in TOPICS else [name for name in themes if name not in TOPICS]
    near = {theme, *CLOSE.get(theme or "", ()), *(("customers",) if theme in TOPICS else ("action", "writing"))}
    return [name for name in [*others, *(TASKS if theme in TOPICS else ())] if name not in near]


def purposes(items: list[Item], folder: Path) -> list[Item]:
    """For some items whether they are within a purpose: their own, or one that is far from it."""
    themes = themes_of(folder)
    made = []
    for item in items:
        if item.source not in ("clinc150", "hwu64", "prompts", "synth_support"):
            continue
        theme = theme_of(item)
        if theme is None and item.source != "prompts":
            continue
        at = roll(f"purpose {item.state}")
        holds = theme in themes and at % 2 == 0
        far = far_from(theme, item.source, themes)
        asked_of = far[roll(f"far {item.state}") % len(far)]
        if holds:
            asked_of = "customers" if theme in TOPICS and at % 8 == 0 else theme
        texts = themes[asked_of]
        asked = ASKED[at % len(ASKED)].format(texts[roll(f"text {item.state}") % len(texts)]).translate(GONE)
        is_told = item.source == "synth_support" or item.state.startswith("request: ")
        state = item.state if at % 3 == 0 or is_told else state_text({"request": item.state})
        made.append(replace(item, source="purposes", state=state, questions=(Question("noul", asked_of, asked, (), int(holds)),)))
    return made
