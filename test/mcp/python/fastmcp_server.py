"""A server on FastMCP: fastmcp_server.py PORT"""

import sys

from fastmcp import FastMCP

server = FastMCP("fastmcp")


@server.tool
def greet(name: str, mail: str) -> str:
    """Writes a greeting."""
    return f"Dear {name}, we wrote to {mail}"


@server.tool
def backwards(text: str) -> str:
    """Turns a text around, so that one sees what arrived."""
    return text[::-1]


server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]))
