"""A chat endpoint of plain code on a free loopback port, for whoever speaks the OpenAI protocol."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = Callable[[list[dict[str, Any]]], str | dict[str, Any]]


@contextmanager
def serving(reply: Reply) -> Iterator[str]:
    """Serve `reply(messages)` as completions: a text, or a whole message.

    Yields:
        The base URL.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            said = reply(asked["messages"])
            message = said if isinstance(said, dict) else {"content": said}
            choice = {"index": 0, "message": {"role": "assistant", **message}}
            usage = {"prompt_tokens": 1, "completion_tokens": 1}
            body = json.dumps({"choices": [choice | {"finish_reason": "stop"}], "usage": usage}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
