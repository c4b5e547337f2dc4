"""The content of an MCP result as text. Pictures, sounds and files are named, not shown."""

from typing import Any

from claw_envs.toolcall.tools.text import bounded, text_of


def told(result: Any) -> str:
    """What an agent reads of a `CallToolResult`: its texts; its structured content where it has no other."""
    parts = [_block(block) for block in result.content]
    if not parts and result.structured_content is not None:
        return text_of(result.structured_content)
    return bounded("\n".join(parts))


def _block(block: Any) -> str:
    match block.type:
        case "text":
            return str(block.text)
        case "image" | "audio":
            return f"[{block.type} {block.mime_type}, {_size(block.data)} bytes]"
        case "resource_link":
            return f"[resource {block.name}: {block.uri}]"
        case "resource":
            resource = block.resource
            if hasattr(resource, "text"):
                return str(resource.text)
            return f"[resource {resource.uri}, {resource.mime_type or 'of unknown type'}, {_size(resource.blob)} bytes]"
    return f"[{block.type}]"


def _size(base64: str) -> int:
    """Bytes that a base64 text stands for."""
    return len(base64) * 3 // 4 - base64[-2:].count("=")
