"""Lists and calls tools with the Python SDK: sdk_client.py URL KEY TOOL ARGUMENTS MODE"""

import asyncio
import json
import sys

from mcp import Client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client


async def main(url: str, key: str, tool: str, arguments: str, mode: str) -> None:
    http = create_mcp_http_client(headers={"authorization": f"Bearer {key}"})
    async with http, Client(streamable_http_client(url, http_client=http), mode=mode) as client:
        names = [one.name for one in (await client.list_tools()).tools]
        result = await client.call_tool(tool, json.loads(arguments))
        print(json.dumps({"names": names, "result": result.model_dump(mode="json", by_alias=True)}))


asyncio.run(main(*sys.argv[1:]))
