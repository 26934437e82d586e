"""Lists and calls tools with FastMCP: fastmcp_client.py URL KEY TOOL ARGUMENTS"""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport


async def main(url: str, key: str, tool: str, arguments: str) -> None:
    transport = StreamableHttpTransport(url, headers={"authorization": f"Bearer {key}"})
    async with Client(transport) as client:
        names = [one.name for one in await client.list_tools()]
        result = await client.call_tool(tool, json.loads(arguments))
        content = [one.model_dump(mode="json") for one in result.content]
        print(json.dumps({"names": names, "result": {"content": content}}))


asyncio.run(main(*sys.argv[1:]))
