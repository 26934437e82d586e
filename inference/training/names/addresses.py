"""Postal addresses as people write them: of many countries, on one line or several, whole or in part, neat or not."""

import random
import re

LANGUAGES = {
    "en": ("en", "en_US", "en_GB", "en_CA", "en_AU", "en_IE", "en_IN", "en_ZA"),
    "de": ("de", "de_AT", "de_CH"),
    "fr": ("fr", "fr_BE", "fr_CH", "fr_CA"),
    "es": ("es", "es_MX"),
    "it": ("it",),
    "nl": ("nl", "nl_BE"),
    "pl": ("pl",),
    "pt": ("pt_PT", "pt_BR"),
}
TOWNS = {
    "en": ("{c}, {a} {z}",) * 4 + ("{c} {a} {z}", "{c}, {s} {z}", "{c}, {a}"),
    "en_CA": ("{c}, {a} {z}", "{c} {a}  {z}", "{c}, {s} {z}", "{c} ({s}) {z}"),
    "en_AU": ("{c} {a} {z}", "{c}, {a} {z}", "{c} {z}"),
    "en_GB": ("{c} {z}", "{c}, {z}", "{c}|{z}", "{c}"),
    "en_IE": ("{c}, {z}", "{c}, Co. {k} {z}", "{c}"),
    "en_IN": ("{c} {z}", "{c} - {z}", "{c}, {s} {z}", "{c}, {s} - {z}"),
    "it": ("{z} {c}", "{z} {c} ({a})", "{z} {c} {a}", "{c} ({a})"),
    "es": ("{z} {c}", "{z} {c} ({s})", "{c}", "{z}, {c}"),
    "es_MX": ("{z} {c}, {s}", "C.P. {z}, {c}, {a}", "{c}, {s}, CP {z}"),
    "pt_BR": ("{c} - {a}, {z}", "{c}/{a}", "{c}, {a}, CEP {z}", "{z} {c} - {a}", "{c} - {a}"),
    "fr_CA": ("{c} ({s}) {z}", "{c}, {a} {z}", "{c} {a} {z}"),
}
"""The line of the town; c: town, z: code, s: state, a: its letters, k: county. `|` parts lines."""
PREFIXES = {"de": "D-", "de_AT": "A-", "de_CH": "CH-", "fr": "F-", "it": "I-", "nl_BE": "B-", "lv": "LV-", "fi": "FI-", "sv": "SE-", "da": "DK-"}
CODES = {"en_GB": "?# #??", "en_IE": "?## ?#?#", "fr_CA": "?#? #?#", "en_CA": "?#? #?#", "nl": "#### ??"}
"""Shapes of codes where lists have every beginning one by one: ? is a letter."""
JOINTS = (*((", ",) * 7), *(("\n",) * 5), ",\n", "\n  ", *((" ",) * 3), " - ", " / ", "; ", "\n\t")
LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ"


class Addresses:
    """Makes addresses; `own`: what data/addresses.json says."""

    def __init__(self, lists: dict, own: dict, chance: random.Random):
        self.lists = lists
        self.own = own
        self.chance = chance
        self.locales = sorted(locale for locale, found in lists.items() if len(found.get("road", ())) > 30)

    def made(self, lang: str) -> str:
        """An address as somebody would write it who writes in this language: one in three lies abroad."""
        pick, roll = self.chance.choice, self.chance.random
        if roll() < 0.05:
            return self.shaped(pick(self.own["boxes"][lang] if roll() < 0.7 else self.own["boxes"]["en"]))
        locale = pick(self.locales) if roll() < 0.35 else pick(LANGUAGES[lang])
        found = self.lists[locale]
        street = self.street(locale, found)
        if roll() < 0.1:
            return street
        unit = self.unit(lang, found) if roll() < 0.4 else ""
        town = self.town(locale, found)
        country = self.country(lang) if roll() < 0.35 else ""
        joint = pick(JOINTS)
        parts = [street, *town, country]
        if unit:
            shape = roll()
            if shape < 0.3:
                parts[0] = f"{street} {unit}"
            elif shape < 0.5:
                parts[0] = f"{street}, {unit}"
            else:
                parts.insert(0 if shape > 0.85 else 1, unit)
        if roll() < 0.22:
            parts = self.untidy(street, unit, found, locale, country)
        text = joint.join(part for part in parts if part)
        return text.replace("|", joint)

    def street(self, locale: str, found: dict) -> str:
        pick, roll = self.chance.choice, self.chance.random
        number = self.shaped(pick(found["building"])).strip(" ,") or "1"
        if roll() < 0.12:
            number += pick(("a", "b", "A", "B", " C", "-2", "/3", " bis", "-14"))
        language = locale.split("_")[0]
        frames = self.own["streets"].get(language)
        if frames and roll() < 0.4:
            return self.shaped(pick(frames), found).replace("{n}", number)
        road = pick(found["road"])
        if found["numberFirst"]:
            return f"{number}{pick((' ', ' ', ' ', ', '))}{road}"
        return f"{road}{pick((' ', ' ', ' ', ' ', ', ', ' n. ' if language == 'it' else ' '))}{number}"

    def unit(self, lang: str, found: dict) -> str:
        units = self.own["units"]
        roll = self.chance.random()
        if roll < 0.3 and found["unit"]:
            return self.shaped(self.chance.choice(found["unit"]))
        return self.shaped(self.chance.choice(units[lang] if roll < 0.8 else units["en"]))

    def code(self, locale: str, found: dict) -> str:
        shape = CODES.get(locale) or (self.chance.choice(found["code"]) if found["code"] else "#####")
        return self.shaped(shape)

    def code_of(self, lang: str) -> str:
        """A postal code by itself."""
        locale = self.chance.choice(LANGUAGES[lang])
        return self.code(locale, self.lists[locale])

    def town(self, locale: str, found: dict) -> list[str]:
        pick, roll = self.chance.choice, self.chance.random
        city = self.city(locale, found)
        code = self.code(locale, found)
        if locale in PREFIXES and roll() < 0.1:
            code = PREFIXES[locale] + code
        if roll() < 0.12:
            return [city]
        language, wider = locale.split("_")[0], self.lists.get(locale.split("_")[0], {})
        frames = TOWNS.get(locale) or (TOWNS["en"] if language == "en" else ("{z} {c}",) * 6 + ("{c} {z}", "{c}, {z}"))
        states = found["state"] or wider.get("state") or [city]
        letters = found["abbreviated"] or wider.get("abbreviated") or [city[:2].upper()]
        frame = pick(frames).replace("{c}", city).replace("{z}", code).replace("{s}", pick(states))
        return [frame.replace("{a}", pick(letters)).replace("{k}", city)]

    def city(self, locale: str, found: dict) -> str:
        known = found["city"] or self.lists.get(locale.split("_")[0], {}).get("city")
        city = self.chance.choice(known if known and self.chance.random() < 0.7 else found["town"])
        roll = self.chance.random()
        if roll < 0.12:
            return city.upper()
        return f"{city} {self.chance.randint(1, 20)}" if roll < 0.14 else city

    def country(self, lang: str) -> str:
        roll = self.chance.random()
        if roll < 0.12:
            return self.chance.choice(self.own["countries"][lang])
        name = self.chance.choice(self.lists[lang if lang != "pt" else "pt_PT"]["country"])
        return name.upper() if roll < 0.24 else name

    def untidy(self, street: str, unit: str, found: dict, locale: str, country: str) -> list[str]:
        """As forms and spreadsheets put it out: every part a field, some empty, the code wherever it stands."""
        city, code = self.city(locale, found), self.code(locale, found)
        state = self.chance.choice(found["abbreviated"] or found["state"] or [""])
        orders = (
            (street, unit, city, state, country, code),
            (street, unit, city, code, country),
            (street, unit, city, state, f"{country} {code}".strip()),
            (street, city, f"{state} {code}".strip(), country),
            (unit, street, city, country, code),
            (code, city, street, unit),
            (country, city, street, unit),
            (street, unit, city, country),
            (street, unit, f"{city}, {state}" if state else city, code),
        )
        return [part for part in self.chance.choice(orders) if part]

    def shaped(self, shape: str, found: dict | None = None) -> str:
        """A shape filled: # is a digit, ? a letter; {S} a surname, {G} a given name, {C} a town of the locale's lists."""
        for slot, kind in (("{S}", "surname"), ("{G}", "given"), ("{C}", "city")):
            while found and slot in shape:
                shape = shape.replace(slot, self.chance.choice(found[kind] or self.lists["en"][kind] or found["town"]), 1)
        shape = re.sub("#+", lambda run: self.digits(len(run[0])), shape)
        return re.sub(r"\?", lambda _: self.chance.choice(LETTERS), shape)

    def digits(self, count: int) -> str:
        return "".join(self.chance.choice("0123456789" if at else "123456789") for at in range(count))
