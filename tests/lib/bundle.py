"""bundle.py HOW IN OUT: a bundle that is not what mapm bundle writes."""
import hashlib
import io
import json
import sys
import tarfile

how, source, target = sys.argv[1:]
archive = tarfile.open(source)
files = {m.name: archive.extractfile(m).read() for m in archive}
index = json.loads(files["index.json"])
NAME = "org.opencontainers.image.ref.name"


def digest(b):
    return hashlib.sha256(b).hexdigest()


def name(entry):
    return entry["annotations"][NAME]


def blob(entry):
    return "blobs/sha256/" + entry["digest"][7:]


def save(order=sorted, kind=None):
    files["index.json"] = json.dumps(index, separators=(",", ":")).encode()
    out = b""
    for path in order(files):
        head = bytearray(512)

        def put(at, text):
            head[at:at + len(text)] = text

        put(0, path.encode())
        put(100, b"0000644\0" b"0000000\0" b"0000000\0")
        put(124, b"%011o\0" % len(files[path]) + b"0" * 11 + b"\0")
        put(148, b" " * 8)
        put(156, kind.encode() if kind and path == "oci-layout" else b"0")
        put(257, b"ustar\0" b"00")
        put(329, b"0000000\0" b"0000000\0")
        put(148, b"%06o\0 " % sum(head))
        out += bytes(head) + files[path] + b"\0" * (-len(files[path]) % 512)
    return out + bytes(1024)


images = [e for e in index["manifests"] if name(e).startswith("mapm1-")]
proofs = [e for e in index["manifests"] if name(e).startswith("mapm1p-")]
manifest = json.loads(files[blob(images[0])])
layer = blob(manifest["layers"][0])
if how == "same":
    out = save()
elif how == "flipped":
    files[layer] = files[layer][:-9] + bytes([files[layer][-9] ^ 1]) + files[layer][-8:]
    out = save()
elif how == "swapped":
    images[0]["annotations"][NAME], images[1]["annotations"][NAME] = name(images[1]), name(images[0])
    index["manifests"].sort(key=name)
    out = save()
elif how == "unproved":
    index["manifests"] = [e for e in index["manifests"] if e not in proofs]
    out = save()
elif how == "other-proofs":
    for e in proofs:
        e.update(digest=images[0]["digest"], size=images[0]["size"])
    out = save()
elif how.startswith("also-proof="):  # another name of a proof that is good
    index["manifests"].append({**proofs[0], "annotations": {NAME: how[11:]}})
    index["manifests"].sort(key=name)
    out = save()
elif how == "absent-layer":
    del files[layer]
    out = save()
elif how == "absent-image":
    del files[blob(images[0])]
    out = save()
elif how == "link":
    out = save(kind="2")
elif how == "unsorted":
    out = save(order=lambda f: sorted(f, reverse=True))
elif how == "twice":
    out = save()
    size = 512 + len(files[min(files)]) + -len(files[min(files)]) % 512
    out = out[:size] + out
elif how == "nested":
    inner = save()
    files = {"blobs/sha256/" + digest(inner): inner, **files}
    manifest["layers"][0].update(digest="sha256:" + digest(inner), size=len(inner))
    m = json.dumps(manifest, separators=(",", ":")).encode()
    files["blobs/sha256/" + digest(m)] = m
    images[0].update(digest="sha256:" + digest(m), size=len(m))
    out = save()
elif how == "bomb":
    inner = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
    import zlib
    c = zlib.compressobj(6, zlib.DEFLATED, -15)
    head = save()[:512].replace(b"%011o" % len(files[min(files)]), b"%011o" % (1 << 32))
    inner += c.compress(head) + c.compress(bytes(64 << 20)) + c.flush()
    files["blobs/sha256/" + digest(inner)] = inner
    manifest["layers"][0].update(digest="sha256:" + digest(inner), size=len(inner))
    m = json.dumps(manifest, separators=(",", ":")).encode()
    files["blobs/sha256/" + digest(m)] = m
    images[0].update(digest="sha256:" + digest(m), size=len(m))
    out = save()
elif how == "cut":
    out = save()[:-4096]
elif how == "other-tool":
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as t:
        for path in files:
            info = tarfile.TarInfo(path)
            info.size = len(files[path])
            info.mtime = 1
            t.addfile(info, io.BytesIO(files[path]))
    out = stream.getvalue()
else:
    sys.exit("bundle.py: " + how)
open(target, "wb").write(out)
