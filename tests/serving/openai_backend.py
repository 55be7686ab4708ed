#!/usr/bin/env python3
"""A small server with OpenAI's API, for tests of a proxy in front of it.

    openai_backend.py [--port N] [--models a,b] [--key KEY]

Prints the port that it listens on, and ends when its standard input does. Answers are made of the request: the text repeats the last message, a word per event. The
models `broken` and `reset` end a stream after two events without its end, `refused` answers 500.
"""

import argparse
import http.server
import json
import socket
import struct
import sys
import threading


def usage_of(prompt, words):
    return {"prompt_tokens": len(prompt.split()), "completion_tokens": len(words),
            "total_tokens": len(prompt.split()) + len(words)}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    models = ["tiny"]
    key = None
    calls = []  # (path, headers, body) of each

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Handler.calls.append((self.path, dict(self.headers), body))
        if self.key is not None and self.headers.get("Authorization") != f"Bearer {self.key}":
            return self.answer(401, {"error": {"message": "wrong key", "type": "invalid_request_error", "param": None,
                                               "code": "invalid_api_key"}})
        call = json.loads(body)
        if call["model"] == "refused":
            return self.answer(500, {"error": {"message": "refused", "type": "server_error", "param": None, "code": None}})
        if self.path.endswith("/embeddings"):
            texts = call["input"] if isinstance(call["input"], list) else [call["input"]]
            return self.answer(200, {"object": "list", "model": call["model"],
                                     "data": [{"object": "embedding", "index": i, "embedding": [0.5, len(text), -1.0]}
                                              for i, text in enumerate(texts)],
                                     "usage": {"prompt_tokens": len(texts), "total_tokens": len(texts)}})
        is_chat = self.path.endswith("/chat/completions")
        prompt = call["messages"][-1]["content"] if is_chat else call["prompt"]
        words = [word + " " for word in prompt.split()]
        if call.get("stream"):
            return self.stream(call, is_chat, prompt, words)
        text = "".join(words)
        choice = {"message": {"role": "assistant", "content": text}} if is_chat else {"text": text}
        return self.answer(200, self.part(call, is_chat, choice | {"finish_reason": "stop"}, usage_of(prompt, words)))

    @staticmethod
    def part(call, is_chat, choice, usage, is_chunk=False):
        kind = ("chat.completion" if is_chat else "text_completion") + (".chunk" if is_chat and is_chunk else "")
        choices = [] if choice is None else [{"index": 0, "logprobs": None} | choice]
        return {"id": "x", "object": kind, "created": 1, "model": call["model"], "choices": choices, "usage": usage}

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def chunk(self, text):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(text), text))

    def event(self, value):
        self.chunk(b"data: " + json.dumps(value).encode() + b"\n\n")

    def stream(self, call, is_chat, prompt, words):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for index, word in enumerate(words):
            if index == 2 and call["model"] in ("broken", "reset"):
                return self.break_off(call["model"] == "reset")
            choice = {"delta": {"content": word}} if is_chat else {"text": word}
            self.event(self.part(call, is_chat, choice | {"finish_reason": None}, None, True))
        if (call.get("stream_options") or {}).get("include_usage"):
            self.event(self.part(call, is_chat, None, usage_of(prompt, words), True))
        self.chunk(b"data: [DONE]\n\n")
        self.chunk(b"")

    def break_off(self, is_reset):
        self.wfile.flush()
        if is_reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True


def start(port=0, models=("tiny",), key=None):
    """The server, on a thread of its own; its port is server_address[1]."""
    Handler.models, Handler.key = list(models), key
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--models", default="tiny")
    parser.add_argument("--key")
    options = parser.parse_args()
    server = start(options.port, options.models.split(","), options.key)
    print(server.server_address[1], flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
