#!/usr/bin/env -S python3 -S
"""oci_run.py unpack ARCHIVE FOLDER: the layers of an image into FOLDER/rootfs, its
configuration into FOLDER/config; prints each file with type, mode and owner.
oci_run.py run FOLDER ARG...: its entry point as a container runtime starts it, but
for the name spaces: its user, folder and environment, in a chroot."""
import io
import json
import os
import sys
import tarfile


def unpack(archive, folder):
    with tarfile.open(archive) as t:
        blobs = {os.path.basename(m.name): t.extractfile(m).read() for m in t if m.isfile()}
    blob = lambda d: blobs[d["digest"].split(":")[1]]
    manifest = json.loads(blob(json.loads(blobs["index.json"])["manifests"][0]))
    os.makedirs(folder + "/rootfs")
    for layer in manifest["layers"]:
        with tarfile.open(fileobj=io.BytesIO(blob(layer))) as t:
            for member in t:
                print("%s %o %d:%d %s" % ("d" if member.isdir() else "f" if member.isfile() else "?",
                                          member.mode & 0o7777, member.uid, member.gid, member.name))
            t.extractall(folder + "/rootfs", numeric_owner=True)
    with open(folder + "/config", "wb") as f:
        f.write(blob(manifest["config"]))


def run(folder, args):
    with open(folder + "/config") as f:
        config = json.load(f)["config"]
    user, group = map(int, config["User"].split(":"))
    environment = dict(v.split("=", 1) for v in config["Env"])
    os.chroot(folder + "/rootfs")
    os.chdir(config["WorkingDir"])
    os.setgroups([])
    os.setgid(group)
    os.setuid(user)
    os.execve(config["Entrypoint"][0], config["Entrypoint"] + args, environment)


if sys.argv[1] == "unpack":
    unpack(*sys.argv[2:])
else:
    run(sys.argv[2], sys.argv[3:])
