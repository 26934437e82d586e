"""What the journeys of both Python clients share: where the gateway is, the tool, and how results are told."""

import json
import os
import sys
from collections.abc import Callable

URL = os.environ["GW_URL"]
KEY = os.environ["GW_KEY"]
# Every kind of provider with a model of its own, as `kind/model`.
MODELS: list[str] = json.loads(os.environ["GW_MODELS"])

SCHEMA = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "subject": {"type": "string"}},
    "required": ["to", "subject"],
    "additionalProperties": False,
}
MOST_TURNS = 4


def address_for(client: str, model: str) -> str:
    """The addressee that a journey is about; no provider may see it."""
    return f"{client}.{model.split('/')[0]}@example.com"


def told(journey: Callable[[], object]) -> object:
    """What a journey came to; a failure is told as one, so that the others still run."""
    try:
        return journey()
    except Exception as error:  # noqa: BLE001 - whatever went wrong is the result
        return {"failure": f"{type(error).__name__}: {error}"}


def tell(results: dict[str, object]) -> None:
    json.dump(results, sys.stdout)
