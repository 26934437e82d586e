"""The `openai` package as an application uses it, against every kind of provider."""

import json

import openai
from openai import OpenAI

from world import KEY, MODELS, MOST_TURNS, SCHEMA, URL, address_for, tell, told

client = OpenAI(api_key=KEY, base_url=f"{URL}/v1", max_retries=0)


def chat_stream(model: str) -> str:
    prompt = f"Write to {address_for('chat', model)} about lunch"
    with client.chat.completions.stream(model=model, messages=[{"role": "user", "content": prompt}]) as stream:
        deltas = "".join(event.delta for event in stream if event.type == "content.delta")
        text = stream.get_final_completion().choices[0].message.content
    assert deltas == text, deltas
    return text


def chat_tools(model: str) -> dict[str, object]:
    messages: list = [{"role": "user", "content": f"Mail {address_for('chat', model)} about lunch"}]
    tools = [{"type": "function", "function": {"name": "send_mail", "parameters": SCHEMA, "strict": True}}]
    mailed = []
    for _ in range(MOST_TURNS):
        with client.chat.completions.stream(model=model, messages=messages, tools=tools) as stream:
            message = stream.get_final_completion().choices[0].message
        if not message.tool_calls:
            return {"mailed": mailed, "text": message.content}
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.function.name, "arguments": call.function.arguments}}
            for call in message.tool_calls
        ]
        messages.append({"role": "assistant", "content": message.content, "tool_calls": calls})
        for call in message.tool_calls:
            mailed.append(json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": f"mailed to {mailed[-1]['to']}"})
    raise RuntimeError("the model never stopped calling the tool")


def responses_stream(model: str) -> str:
    prompt = f"Write to {address_for('responses', model)} about lunch"
    with client.responses.stream(model=model, input=prompt) as stream:
        deltas = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
        text = stream.get_final_response().output_text
    assert deltas == text, deltas
    return text


def responses_tools(model: str) -> dict[str, object]:
    items: list = [{"role": "user", "content": f"Mail {address_for('responses', model)} about lunch"}]
    tools = [{"type": "function", "name": "send_mail", "parameters": SCHEMA, "strict": True}]
    mailed = []
    for _ in range(MOST_TURNS):
        with client.responses.stream(model=model, input=items, tools=tools) as stream:
            response = stream.get_final_response()
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return {"mailed": mailed, "text": response.output_text}
        for call in calls:
            mailed.append(json.loads(call.arguments))
            items.append({"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments})
            output = f"mailed to {mailed[-1]['to']}"
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
    raise RuntimeError("the model never stopped calling the tool")


def refused(model: str, api_key: str = KEY) -> dict[str, object]:
    asking = OpenAI(api_key=api_key, base_url=f"{URL}/v1", max_retries=0)
    try:
        asking.chat.completions.create(model=model, messages=[{"role": "user", "content": "Hello"}])
    except openai.APIStatusError as error:
        return {"type": type(error).__name__, "status": error.status_code, "code": error.code, "id": error.request_id}
    raise RuntimeError("it was not refused")


def embeddings(model: str) -> dict[str, object]:
    texts = ["Ada lives at ada@example.com", "Lunch"]
    usual = client.embeddings.create(model=model, input=texts)
    floats = client.embeddings.create(model=model, input=texts, encoding_format="float")
    return {"usual": [one.embedding for one in usual.data], "float": [one.embedding for one in floats.data]}


tell({
    "chat stream": {model: told(lambda: chat_stream(model)) for model in MODELS},
    "chat tools": {model: told(lambda: chat_tools(model)) for model in MODELS},
    "responses stream": {model: told(lambda: responses_stream(model)) for model in MODELS},
    "responses tools": {model: told(lambda: responses_tools(model)) for model in MODELS},
    "refusals": {
        "stranger": told(lambda: refused("openai/m", "gw_test_nobody")),
        "bare": told(lambda: refused("gpt-4.1-mini")),
        "denied": told(lambda: refused("secret/model")),
        "absent": told(lambda: refused("absent/model")),
    },
    "embeddings": {
        model: told(lambda: embeddings(model))
        for model in ["openai/text-embedding-3-small", "gemini/gemini-embedding-001", "mistral/mistral-embed"]
    },
    "models": told(lambda: [model.id for model in client.models.list()]),
})
