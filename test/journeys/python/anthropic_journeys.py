"""The `anthropic` package as an application uses it, against every kind of provider."""

import anthropic
from anthropic import Anthropic, beta_tool

from world import KEY, MODELS, URL, address_for, tell, told

client = Anthropic(api_key=KEY, base_url=URL, max_retries=0)


def messages_stream(model: str) -> str:
    prompt = f"Write to {address_for('messages', model)} about lunch"
    messages = [{"role": "user", "content": prompt}]
    with client.messages.stream(model=model, max_tokens=256, messages=messages) as stream:
        deltas = "".join(stream.text_stream)
        text = stream.get_final_text()
    assert deltas == text, deltas
    return text


def messages_tools(model: str) -> dict[str, object]:
    mailed = []

    @beta_tool
    def send_mail(to: str, subject: str) -> str:
        """Sends a mail."""
        mailed.append({"to": to, "subject": subject})
        return f"mailed to {to}"

    prompt = f"Mail {address_for('messages', model)} about lunch"
    runner = client.beta.messages.tool_runner(
        model=model,
        max_tokens=256,
        stream=True,
        messages=[{"role": "user", "content": prompt}],
        tools=[send_mail],
    )
    text = ""
    for stream in runner:
        text = "".join(block.text for block in stream.get_final_message().content if block.type == "text")
    return {"mailed": mailed, "text": text}


def refused(model: str, api_key: str = KEY, turns: int = 1) -> dict[str, object]:
    asking = Anthropic(api_key=api_key, base_url=URL, max_retries=0)
    try:
        asking.messages.create(model=model, max_tokens=8, messages=[{"role": "user", "content": "Hello"}] * turns)
    except anthropic.APIStatusError as error:
        kind = error.body["error"]["type"]
        return {"type": type(error).__name__, "status": error.status_code, "code": kind, "id": error.request_id}
    raise RuntimeError("it was not refused")


def count() -> list[int]:
    def tokens(content: str) -> int:
        messages = [{"role": "user", "content": content}]
        return client.messages.count_tokens(model="anthropic/claude-sonnet-4-5", messages=messages).input_tokens

    return [tokens("Hello"), tokens("Hello " * 100)]


def pages() -> list[int]:
    page = client.models.list(limit=20)
    lengths = [len(page.data)]
    while page.has_next_page():
        page = page.get_next_page()
        lengths.append(len(page.data))
    return lengths


tell({
    "messages stream": {model: told(lambda: messages_stream(model)) for model in MODELS},
    "messages tools": {model: told(lambda: messages_tools(model)) for model in MODELS},
    "refusals": {
        "stranger": told(lambda: refused("anthropic/m", "gw_test_nobody")),
        "empty": told(lambda: refused("anthropic/m", turns=0)),
        "denied": told(lambda: refused("secret/model")),
        "absent": told(lambda: refused("absent/model")),
    },
    "count": told(count),
    "pages": told(pages),
    "models": told(lambda: [model.id for model in client.models.list()]),
})
