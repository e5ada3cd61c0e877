#!/usr/bin/env -S python3 -S
"""npm_registry.py READY LOG FOLDER...: an npm registry on loopback of the tarballs in
the folders. Its address goes to the file READY, each request to LOG."""
import base64
import glob
import hashlib
import http.server
import json
import os
import sys
import tarfile
import urllib.parse


def package_of(file):
    with tarfile.open(file) as t:
        return json.load(t.extractfile("package/package.json"))


class Registry(http.server.BaseHTTPRequestHandler):
    packages = {}

    def do_GET(self):
        path = urllib.parse.unquote(self.path.split("?")[0].lstrip("/"))
        with open(LOG, "a") as f:
            f.write(path + "\n")
        file = self.packages.get(path)
        if file:
            self.answer(200, json.dumps(self.document(path, file)).encode(), "application/json")
        elif path.startswith("-/tarballs/") and os.path.basename(path) in self.files():
            with open(self.files()[os.path.basename(path)], "rb") as f:
                self.answer(200, f.read(), "application/octet-stream")
        else:
            self.answer(404, b'{"error":"not found"}', "application/json")

    def do_POST(self):
        self.answer(404, b"{}", "application/json")

    do_PUT = do_POST

    def files(self):
        return {os.path.basename(f): f for f in self.packages.values()}

    def document(self, name, file):
        with open(file, "rb") as f:
            data = f.read()
        version = package_of(file)
        version["dist"] = {
            "tarball": "%s/-/tarballs/%s" % (ADDRESS, os.path.basename(file)),
            "shasum": hashlib.sha1(data).hexdigest(),
            "integrity": "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()}
        return {"name": name, "dist-tags": {"latest": version["version"]},
                "versions": {version["version"]: version}}

    def answer(self, status, body, kind):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


READY, LOG, *FOLDERS = sys.argv[1:]
for folder in FOLDERS:
    for name in glob.glob(os.path.join(folder, "*.tgz")):
        Registry.packages[package_of(name)["name"]] = name
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
ADDRESS = "http://127.0.0.1:%d" % server.server_port
with open(READY + ".new", "w") as f:
    f.write(ADDRESS)
os.rename(READY + ".new", READY)
server.serve_forever()
