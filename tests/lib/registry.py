#!/usr/bin/env python3
"""Registries and token servers for tests, apart from docker-registry.

    registry.py liar DIR READY LOG          a registry that misbehaves on request
    registry.py tokens KEY CERT READY LOG   a token server for docker-registry
    registry.py token KEY CERT ACCESS...    one token: "repository:acme/mapm:pull,push"
    registry.py connect TO READY LOG        a proxy: any host is port TO of this machine

READY gets the port. Of the liar the repository says what it does: /v2/ok/x serves
DIR/NAME.tar.gz as NAME; the other first words are in `Liar`. LOG has a line for each
request: method, path, Authorization or "-".
"""
import base64, gzip, hashlib, http.server, json, os, select, socket, socketserver, struct, subprocess, sys, threading, time, urllib.parse, zlib

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
SCHEMA2 = "application/vnd.docker.distribution.manifest.v2+json"


def sha(b):
    return "sha256:" + hashlib.sha256(b).hexdigest()


def manifest(name, layer, **change):
    kind = "proof" if name.startswith("mapm1p-") else "package"
    m = {"schemaVersion": 2, "mediaType": MANIFEST, "artifactType": "application/vnd.mapm.%s.v1" % kind,
         "config": {"mediaType": CONFIG, "digest": sha(b"{}"), "size": 2},
         "layers": [{"mediaType": LAYER, "digest": sha(layer), "size": len(layer)}], "annotations": {}}
    m.update(change)
    return json.dumps(m).encode()


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, handler, ready, log, **more):
        super().__init__(("127.0.0.1", 0), handler)
        self.log, self.lock = open(log, "a", 1), threading.Lock()
        self.__dict__.update(more)
        with open(ready + ".new", "w") as f:
            f.write("%d\n" % self.server_address[1])
        os.rename(ready + ".new", ready)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def note(self):
        with self.server.lock:
            self.server.log.write("%s %s %s\n" % (self.command, self.path, self.headers.get("Authorization", "-")))

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            try:
                self.wfile.write(body)
            except OSError:
                self.close_connection = True


class Liar(Handler):
    def go(self):
        self.note()
        self.sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = urllib.parse.urlsplit(self.path).path
        parts = path.split("/")
        if parts[1] != "v2":
            return self.beside(parts)
        self.how, self.what, self.name = parts[2], parts[-2], parts[-1]
        getattr(self, "how_" + self.how.replace("-", "_"))()

    do_GET = do_HEAD = do_POST = do_PUT = go

    def beside(self, parts):
        """Not the registry: a token server, or where blobs were redirected to."""
        port = self.server.server_address[1]
        if parts[1] == "store":
            return self.answer(200, self.by_digest(parts[2]))
        if parts[1] == "huge":
            return self.answer(200, b'{"token":"' + b"x" * (1 << 20) + b'"}')
        if parts[1] == "moved":
            return self.answer(302, Location="http://127.0.0.1:%d/token" % port)
        if parts[1] == "page":
            return self.answer(200, b"<html>Sign in</html>")
        if parts[1] == "token":
            return self.answer(200, b'{"token":"good"}')
        self.answer(404)

    def content(self, name):
        try:
            with open(os.path.join(self.server.folder, name + ".tar.gz"), "rb") as f:
                return f.read()
        except OSError:
            return None

    def by_digest(self, digest):
        for name in os.listdir(self.server.folder):
            layer = self.content(name[:-len(".tar.gz")])
            if sha(layer) == digest:
                return layer
        return None

    def serve(self, **change):
        body = self.content(self.name) if self.what == "manifests" else self.by_digest(self.name)
        if body is None:
            self.answer(404)
        elif self.what == "manifests":
            self.answer(200, manifest(self.name, body, **change), Content_Type=MANIFEST)
        else:
            self.answer(200, body)

    def how_ok(self):
        self.serve()

    def how_fast(self):
        """What another pusher made of it, with less effort."""
        z = zlib.compressobj(1, zlib.DEFLATED, -15)
        if self.what == "blobs":
            return self.answer(200, self.server.fast[self.name])
        body = self.content(self.name)
        if body is None:
            return self.answer(404)
        tar = gzip.decompress(body)
        layer = (b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + z.compress(tar) + z.flush() +
                 struct.pack("<II", zlib.crc32(tar), len(tar)))
        self.server.fast[sha(layer)] = layer
        self.answer(200, manifest(self.name, layer))

    def how_other(self):
        """Under each tag of a package another package; its proofs are right."""
        if self.what == "manifests" and self.name.startswith("mapm1-"):
            for n in sorted(os.listdir(self.server.folder)):
                n = n[:-len(".tar.gz")]
                if n.startswith("mapm1-") and n != self.name:
                    return self.answer(200, manifest(n, self.content(n)))
        self.serve()

    def how_index(self):
        self.answer(200, json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": []}).encode(), Content_Type=INDEX)

    def how_schema2(self):
        self.serve(mediaType=SCHEMA2)

    def how_schema1(self):
        self.answer(200, b'{"schemaVersion":1,"name":"x","tag":"y","fsLayers":[],"history":[]}')

    def how_urls(self):
        body = self.content(self.name) or b""
        self.serve(layers=[{"mediaType": LAYER, "digest": sha(body), "size": len(body), "urls": ["http://example.org/x"]}])

    def how_two(self):
        body = self.content(self.name) or b""
        layer = {"mediaType": LAYER, "digest": sha(body), "size": len(body)}
        self.serve(layers=[layer, layer])

    def how_page(self):
        self.answer(200, b"<html>Sign in</html>")

    def how_long(self):
        self.answer(200, b" " * (1 << 20))

    def how_layer(self):
        """Bytes that are not what the manifest says, as long as that."""
        if self.what == "blobs":
            return self.answer(200, bytes(len(self.by_digest(self.name) or b"x")))
        self.serve()

    def how_gone(self):
        self.answer(404) if self.what == "blobs" else self.serve()

    def how_endless(self):
        if self.what != "blobs":
            return self.serve()
        self.send_response(200)
        self.end_headers()
        self.close_connection = True
        try:
            for _ in range(4096):
                self.wfile.write(bytes(1 << 20))
        except OSError:
            pass

    def how_down(self):
        self.answer(503)

    def how_busy(self):
        self.answer(429, Retry_After="3600")

    def how_stall(self):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.close_connection = True
        threading.Event().wait(60)

    def challenge(self, realm):
        self.answer(401, WWW_Authenticate='Bearer realm="%s",service="x",scope="repository:x:pull"' % realm)

    def how_realm_http(self):
        self.challenge("http://localhost:%d/token" % self.server.server_address[1])

    def how_realm_moved(self):
        self.challenge("http://127.0.0.1:%d/moved" % self.server.server_address[1])

    def how_realm_huge(self):
        self.challenge("http://127.0.0.1:%d/huge" % self.server.server_address[1])

    def how_realm_page(self):
        self.challenge("http://127.0.0.1:%d/page" % self.server.server_address[1])

    def how_basic(self):
        if self.headers.get("Authorization") != "Basic " + base64.b64encode(b"ci:pw").decode():
            return self.answer(401, WWW_Authenticate='Basic realm="x"')
        self.serve()

    def how_redirect(self):
        """Blobs lie elsewhere, where no token may come along."""
        if self.headers.get("Authorization") != "Bearer good":
            return self.challenge("http://127.0.0.1:%d/token" % self.server.server_address[1])
        if self.what == "blobs":
            with open(os.path.join(self.server.folder, "../other.port")) as f:
                return self.answer(307, Location="http://127.0.0.1:%s/store/%s" % (f.read().strip(), self.name))
        self.serve()

    def how_redirect_http(self):
        self.answer(307, Location="http://example.org/x") if self.what == "blobs" else self.serve()

    def how_redirect_meta(self):
        self.answer(307, Location="https://169.254.169.254/latest") if self.what == "blobs" else self.serve()

    def how_redirect_loop(self):
        self.answer(307, Location=self.path) if self.what == "blobs" else self.serve()

    def how_redirect_manifest(self):
        if self.what == "manifests":
            return self.answer(307, Location="/v2/ok/manifests/" + self.name)
        self.serve()

    def how_shaky(self):
        """The first upload of each object fails; then it works."""
        key = self.path.split("?")[0]
        if self.command == "PUT" and self.what == "manifests" and key not in self.server.fast:
            self.server.fast[key] = b""
            return self.answer(503, Retry_After="1")
        self.upload("/v2/shaky/x/blobs/uploads/1")

    def upload(self, where):
        if self.command == "HEAD":
            return self.answer(404)
        if self.command == "POST":
            return self.answer(202, Location=where)
        self.answer(201)

    def how_elsewhere(self):
        self.upload("https://example.org/upload")

    def how_hang(self):
        """An upload that never ends."""
        if self.command == "PUT" and self.what == "uploads":
            self.server.log.write("HANG\n")
            threading.Event().wait(60)
        self.upload("/v2/hang/x/blobs/uploads/1?_state=a%2Bb")


def b64url(b):
    return base64.urlsafe_b64encode(b).rstrip(b"=").decode()


def make_token(key, cert, access, age=0):
    der = "".join(l.strip() for l in open(cert) if not l.startswith("-"))
    now = int(time.time()) - age
    head = b64url(json.dumps({"typ": "JWT", "alg": "RS256", "x5c": [der]}).encode())
    body = b64url(json.dumps({"iss": "test", "sub": "", "aud": "registry", "exp": now + 300, "nbf": now - 300,
                              "iat": now, "jti": str(now), "access": access}).encode())
    signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", key], input=("%s.%s" % (head, body)).encode(),
                               stdout=subprocess.PIPE, check=True).stdout
    return "%s.%s.%s" % (head, body, b64url(signature))


def access_of(scope, allowed):
    kind, name, actions = scope.split(":")
    return {"type": kind, "name": name, "actions": [a for a in actions.split(",") if a in allowed]}


class Tokens(Handler):
    """ci:pw may push; reader:pw and nobody may pull; of old:pw the first token has expired."""

    def do_GET(self):
        self.note()
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        head = self.headers.get("Authorization", "")
        who = base64.b64decode(head[len("Basic "):]).decode() if head.startswith("Basic ") else ""
        if who not in ("", "ci:pw", "reader:pw", "old:pw"):
            return self.answer(401)
        age = 7200 if who == "old:pw" and not self.server.has_aged else 0
        self.server.has_aged = self.server.has_aged or age > 0
        access = [access_of(query["scope"], ("pull", "push") if who == "ci:pw" else ("pull",))]
        token = make_token(self.server.key, self.server.cert, access, age)
        self.answer(200, json.dumps({"token": token}).encode())


class Connect(Handler):
    def do_CONNECT(self):
        self.note()
        self.close_connection = True
        with socket.create_connection(("127.0.0.1", self.server.to)) as other:
            self.send_response(200)
            self.end_headers()
            ends = {self.connection: other, other: self.connection}
            while True:
                for end in select.select(list(ends), [], [])[0]:
                    data = end.recv(1 << 16)
                    if not data:
                        return
                    ends[end].sendall(data)


def main(command, *args):
    if command == "liar":
        Server(Liar, args[1], args[2], folder=args[0], fast={}).serve_forever(3600)
    elif command == "tokens":
        Server(Tokens, args[2], args[3], key=args[0], cert=args[1], has_aged=False).serve_forever(3600)
    elif command == "connect":
        Server(Connect, args[1], args[2], to=int(args[0])).serve_forever(3600)
    else:
        print(make_token(args[0], args[1], [access_of(a, ("pull", "push")) for a in args[2:]]))


if __name__ == "__main__":
    main(*sys.argv[1:])
