"""Lists and calls tools with LangChain: langchain_client.py URL KEY TOOL ARGUMENTS"""

import asyncio
import json
import sys

from langchain_mcp_adapters.client import MultiServerMCPClient


async def main(url: str, key: str, tool: str, arguments: str) -> None:
    headers = {"Authorization": f"Bearer {key}"}
    client = MultiServerMCPClient({"gateway": {"transport": "http", "url": url, "headers": headers}})
    tools = await client.get_tools()
    chosen = next(one for one in tools if one.name == tool)
    result = await chosen.ainvoke(json.loads(arguments))
    content = [{"type": "text", "text": result}] if isinstance(result, str) else result
    print(json.dumps({"names": [one.name for one in tools], "result": {"content": content}}))


asyncio.run(main(*sys.argv[1:]))
