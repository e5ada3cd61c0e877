#!/usr/bin/env python3
"""index_server.py FOLDER LOG - serves the files of FOLDER on loopback over http.

Prints its port. Each has an ETag; a request that names it gets 304. A file
NAME.redirect holds the address that NAME redirects to, a file NAME.location one that a
304 names, a file NAME.type its media type. LOG gets a line a request: path and status.
"""
import hashlib
import http.server
import os
import sys

FOLDER, LOG = sys.argv[1], sys.argv[2]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body=b"", **headers):
        with open(LOG, "a") as log:
            log.write(f"{self.command} {self.path} {status}\n")
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        file = os.path.join(FOLDER, self.path.lstrip("/"))
        if os.path.isfile(file + ".redirect"):
            with open(file + ".redirect") as f:
                return self.answer(302, Location=f.read().strip())
        if not os.path.isfile(file):
            return self.answer(404)
        with open(file, "rb") as f:
            body = f.read()
        tag = '"' + hashlib.sha256(body).hexdigest()[:16] + '"'
        if self.headers.get("If-None-Match") == tag:
            headers = {"ETag": tag}
            if os.path.isfile(file + ".location"):
                with open(file + ".location") as f:
                    headers["Location"] = f.read().strip()
            return self.answer(304, **headers)
        headers = {"ETag": tag}
        if os.path.isfile(file + ".type"):
            with open(file + ".type") as f:
                headers["Content-Type"] = f.read().strip()
        return self.answer(200, body, **headers)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
