"""Requests beside the stated purpose of a workload, as the scope guard asks about them."""

from dataclasses import replace

from typed.data import Item, Question, roll
from typed.input import GONE, state_text

THEMES = {
    "money": ("Questions of a bank's customers about accounts, transfers and cards.", "banking and payments", "Fragen zu Konten, Karten und Überweisungen einer Bank.",
              "Les comptes, cartes et virements des clients d'une banque.", "Consultas sobre cuentas bancarias y tarjetas.", "Pytania o konta i karty bankowe."),
    "kitchen": ("Cooking, recipes, food and restaurants.", "a cookery site's assistant: ingredients, meals, nutrition", "Kochen, Rezepte und Restaurants.",
                "La cuisine, les recettes et les restaurants.", "Ricette, cucina e ristoranti.", "Koken, recepten en restaurants."),
    "travel": ("Planning trips: flights, hotels, visas and luggage.", "travel bookings", "Reisen buchen: Flüge, Hotels, Gepäck.", "Reservas de viajes, vuelos y hoteles.", "Viagens, voos e hotéis."),
    "car": ("Cars: driving, fuel, tyres, maintenance and traffic.", "a garage's help for drivers", "Auto, Werkstatt und Verkehr.", "La voiture et son entretien."),
    "staff": ("Questions of employees about leave, pay and meetings.", "a personnel department's assistant: holidays, salary, insurance", "Urlaub, Gehalt und Arbeitszeit der Beschäftigten.",
              "Les congés et la paie des salariés.", "Ferie, permessi e stipendio dei dipendenti."),
    "music": ("Playing music, radio, podcasts and audio books.", "a music player", "Musik, Radio und Hörbücher abspielen."),
    "house": ("Controlling lights, plugs and machines at home.", "smart home devices", "Licht und Geräte im Haus steuern."),
    "weather": ("The weather and its forecast.", "Wetter und Vorhersage."),
    "mail": ("Reading and writing e-mail and keeping contacts.", "E-Mails lesen und schreiben.", "Courriel et contacts."),
    "code": ("Help for software developers: writing, explaining and repairing code.", "programming", "Hilfe beim Programmieren.", "Aide à la programmation.", "Ayuda con código y programación.",
             "Pomoc w programowaniu.", "Hulp bij programmeren.", "Aiuto nella programmazione.", "Ajuda com programação."),
    "customers": ("Customer service of an online shop: orders, deliveries, invoices, complaints and returns.", "support for customers of a software product", "Kundendienst: Bestellungen, Rechnungen, Beschwerden.",
                  "Le service client: commandes, factures, réclamations.", "Atención al cliente: pedidos, facturas y quejas."),
    "chat": ("Small talk with the assistant about itself.", "Plauderei über den Assistenten selbst."),
}
BY_DOMAIN = {"banking": "money", "credit cards": "money", "kitchen and dining": "kitchen", "travel": "travel", "auto and commute": "car", "work": "staff", "small talk": "chat"}
BY_SCENARIO = {"cooking": "kitchen", "takeaway": "kitchen", "music": "music", "play": "music", "iot": "house", "weather": "weather", "email": "mail"}
CLOSE = {"travel": {"car"}, "car": {"travel"}, "chat": set(), "music": {"house"}, "house": {"music"}, "mail": {"staff", "customers"}, "staff": {"mail"}, "customers": {"money", "travel"},
         "money": {"customers"}}
"""Themes that a request may have beside its own: nothing is said of those."""
ASKED = ("The request is about this: {}",) * 3 + ("The request belongs to this purpose: {}", "This is about: {}")


def theme_of(item: Item) -> str | None:
    by = {q.name: q for q in item.questions}
    told = lambda name: by[name].texts[by[name].answer] if name in by else ""
    if item.source == "synth_support":
        return "customers"
    if item.source == "prompts":
        return "code" if told("task").startswith(("programming", "code")) else None
    if item.source == "hwu64":
        return BY_SCENARIO.get(told("intent").split(" ")[0])
    return BY_DOMAIN.get(told("domain"))


def purposes(items: list[Item]) -> list[Item]:
    """For some items whether they are within a purpose: their own, or one that is far from it."""
    made = []
    for item in items:
        if item.source not in ("clinc150", "hwu64", "prompts", "synth_support"):
            continue
        theme = theme_of(item)
        if theme is None and item.source != "prompts":
            continue
        at = roll(f"purpose {item.state}")
        holds = theme is not None and at % 2 == 0
        far = [name for name in THEMES if name != theme and name not in CLOSE.get(theme or "", ())]
        asked_of = theme if holds else "code" if item.source == "prompts" and theme is None else far[roll(f"far {item.state}") % len(far)]
        texts = THEMES[asked_of]
        asked = ASKED[at % len(ASKED)].format(texts[roll(f"text {item.state}") % len(texts)]).translate(GONE)
        state = item.state if at % 3 == 0 or item.source == "synth_support" else state_text({"request": item.state})
        made.append(replace(item, source="purposes", state=state, questions=(Question("noul", asked_of, asked, (), int(holds)),)))
    return made
