#!/usr/bin/env -S python3 -S
"""An API of a model on the loopback, as scripted: for tests of ask.

    api.py --ready FILE --log FILE --script FILE [--tls CERT KEY]

Speaks both shapes: POST …/v1/messages and POST …/v1/chat/completions. FILE of
--ready gets the URL. The script has one answer a line, in order, and is read
again for each request; after its last line that line stays. An answer is a word
and arguments, as JSON: ["ok", "text"], ["status", 429, {headers}, "body"] …
Each request is a JSON line in the log: path, headers, body as it came.

A worker thread per connection; bodies are bytes, so that broken ones can be sent.
"""
import argparse
import json
import socket
import ssl
import sys
import threading
import time


def anthropic(text, reason="end_turn", blocks=None):
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
            "content": blocks if blocks is not None
            else [{"type": "text", "text": text}],
            "stop_reason": reason, "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1}}


def openai(text, reason="stop", message=None):
    return {"id": "c_1", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "finish_reason": reason,
                         "message": message if message is not None else
                         {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1}}


class Gone(Exception):
    pass


class Connection:
    def __init__(self, server, sock):
        self.server, self.sock, self.buffer = server, sock, b""

    def fill(self):
        data = self.sock.recv(65536)
        if not data:
            raise Gone
        self.buffer += data

    def request(self):
        while b"\r\n\r\n" not in self.buffer:
            self.fill()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        headers = [tuple(l.split(": ", 1)) if ": " in l else (l, "")
                   for l in lines[1:]]
        length = int(dict((k.lower(), v) for k, v in headers)
                     .get("content-length", 0))
        while len(self.buffer) < length:
            self.fill()
        body, self.buffer = self.buffer[:length], self.buffer[length:]
        return lines[0], headers, body

    def send(self, data):
        self.sock.sendall(data)

    def head(self, status, headers):
        text = "HTTP/1.1 %d X\r\n" % status
        for name, value in headers.items():
            text += "%s: %s\r\n" % (name, value)
        self.send(text.encode("latin-1") + b"\r\n")

    def reply(self, status, body, headers=None, kind="application/json"):
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        all_headers = {"Content-Type": kind, "Content-Length": len(body)}
        all_headers.update(headers or {})
        self.head(status, all_headers)
        self.send(body)

    # --- what a line of the script may say ----------------------------------

    def answer(self, path, step):
        what, args = step[0], step[1:]
        shape = anthropic if path.endswith("/messages") else openai
        getattr(self, "do_" + what)(shape, *args)

    def do_ok(self, shape, text, reason=None):
        self.reply(200, shape(text, reason) if reason else shape(text))

    def do_json(self, shape, value):
        self.reply(200, value)

    def do_blocks(self, shape, blocks, reason):
        self.reply(200, anthropic("", reason, blocks))

    def do_message(self, shape, message, reason):
        self.reply(200, openai("", reason, message))

    def do_raw(self, shape, text):  # bytes, as latin-1
        self.reply(200, text.encode("latin-1"))

    def do_status(self, shape, status, headers, body):
        self.reply(status, body, headers)

    def do_redirect(self, shape, status, to):
        self.reply(status, "", {"Location": to})

    def do_slow(self, shape, text, seconds):  # silence, then the answer
        time.sleep(seconds)
        self.reply(200, shape(text))

    def do_silence(self, shape, seconds):
        time.sleep(seconds)

    def do_drip(self, shape, seconds):  # a byte at a time
        self.head(200, {"Content-Type": "application/json"})
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.send(b" ")
            time.sleep(0.05)

    def do_endless(self, shape, status):
        self.head(status, {"Content-Type": "application/json"})
        self.send(b'{"x":"')
        while True:
            self.send(b"a" * 65536)

    def do_headers(self, shape, count):
        self.head(200, {"X-%d" % i: "a" * 1000 for i in range(count)})

    def do_huge(self, shape, unit, count):
        self.reply(200, shape(unit * count))

    def do_echo(self, shape, status):  # the header of the key, in an error
        said = dict((k.lower(), v) for k, v in self.last)
        key = said.get("x-api-key") or said.get("authorization", "")
        self.reply(status, {"error": {"type": "authentication_error",
                                      "message": "not this one: " + key}})

    def do_close(self, shape):
        raise Gone

    def run(self):
        try:
            while True:
                line, headers, body = self.request()
                self.last = headers
                path = line.split(" ")[1]
                self.answer(path, self.server.next(line, headers, body))
        except (Gone, OSError):
            pass
        finally:
            self.sock.close()


class Server:
    def __init__(self, args):
        self.args, self.lock, self.count = args, threading.Lock(), 0

    def next(self, line, headers, body):
        with self.lock:
            with open(self.args.log, "a") as log:
                log.write(json.dumps({"line": line, "headers": headers,
                                      "body": body.decode("latin-1")}) + "\n")
            with open(self.args.script) as script:
                steps = [l for l in script.read().split("\n") if l.strip()]
            with open(self.args.log) as log:
                n = len(log.readlines())
            return json.loads(steps[min(n, len(steps)) - 1])

    def serve(self):
        sock = socket.create_server(("127.0.0.1", 0))
        scheme, context = "http", None
        if self.args.tls:
            scheme = "https"
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self.args.tls)
            if self.args.old_tls:
                context.minimum_version = ssl.TLSVersion.TLSv1
                context.maximum_version = ssl.TLSVersion.TLSv1_1
                context.set_ciphers("ALL:@SECLEVEL=0")
        with open(self.args.ready, "w") as f:
            f.write("%s://127.0.0.1:%d\n" % (scheme, sock.getsockname()[1]))
        while True:
            client, _ = sock.accept()
            threading.Thread(target=self.one, args=(client, context),
                             daemon=True).start()

    def one(self, client, context):
        try:
            if context:
                client = context.wrap_socket(client, server_side=True)
        except OSError:
            client.close()
            return
        Connection(self, client).run()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--ready", required=True)
    p.add_argument("--log", required=True)
    p.add_argument("--script", required=True)
    p.add_argument("--tls", nargs=2)
    p.add_argument("--old-tls", action="store_true")
    try:
        Server(p.parse_args()).serve()
    except KeyboardInterrupt:
        sys.exit(130)


main()
