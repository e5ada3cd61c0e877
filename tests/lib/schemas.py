"""schemas.py: the JSON Schemas of schemas/ against the program [S9].

    schemas.py keys                    what the code writes, and what schemas have
    schemas.py facts <FACTS            limits, presets and kinds of hosts
    schemas.py settings MAPM FOLDER    documents and their mutations: schema and
                                       program say the same of each
    schemas.py outputs FOLDER...       each file is what its schema says
    schemas.py lines NAME FILE...      each line of a tape, of a batch

Each prints what differs, or nothing.
"""
import copy
import glob
import json
import os
import re
import subprocess
import sys

import jsonschema

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SETTINGS = ("mapm.yaml", "mapm.local.yaml", "config.yaml")
# Members of files that a command writes, not of its output.
WRITTEN = {"strict", "owner", "args", "timeout", "prompt", "opts", "purpose",
           "answer", "_meta", "$schema", "mcpServers"}


def load(name):
    with open(os.path.join(ROOT, "schemas", name)) as f:
        return json.load(f)


def outputs():
    return {os.path.basename(p)[:-5]: load(os.path.join("output", os.path.basename(p)))
            for p in glob.glob(os.path.join(ROOT, "schemas", "output", "*.json"))}


def whole(name):
    """A schema of settings with the definitions that it has from mapm.yaml."""
    text = json.dumps(load(name + ".json")).replace("mapm.yaml.json#", "#")
    schema = json.loads(text)
    defs = load("mapm.yaml.json")["$defs"]
    own = schema.get("$defs", {})
    schema["$defs"] = dict(defs)
    schema["$defs"].update({k: v for k, v in own.items()
                            if v.get("$ref") != "#/$defs/" + k})
    return schema


def properties(schema, names):
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "properties":
                names.update(value)
            properties(value, names)
    elif isinstance(schema, list):
        for item in schema:
            properties(item, names)
    return names


# --- the code ---------------------------------------------------------------

def sources(*patterns):
    for pattern in patterns:
        for path in sorted(glob.glob(os.path.join(ROOT, pattern))):
            with open(path) as f:
                yield os.path.relpath(path, ROOT), f.read()


CALL = re.compile(r'\b(?:json_member_\w+|JSON_MEMBER\w*|json_key|json_mode|(?:put|print)_(?:text|number|names|list|options|diagnostics))\('
                  r'\s*(?:[^,"();]*,\s*){0,2}"([A-Za-z_$]+)"')


def check_keys():
    code, named = set(), set()
    for path, text in sources("cli/*.c", "cli/*/*.c"):
        code.update(CALL.findall(text))
        named.update(re.findall(r'"mapm\.([a-z-]+)/1"', text))
    have = properties(list(outputs().values()), set())
    for name in sorted(code - have - WRITTEN):
        print("no schema has", name)
    for name in sorted(have - code):
        print("no command writes", name)
    for name in sorted(named ^ set(outputs())):
        print("a schema or an output alone:", name)
    check_tables()


ROW = re.compile(r'\{STR_INIT\("(\w+)"\),\s*([A-Z_| \n]+),\s*\w+\}')


def check_tables():
    """The tables of keys in manifest/, with the files that may have each."""
    marks = {"mapm.yaml": "IN_WORKSPACE", "mapm.local.yaml": "IN_LOCAL",
             "config.yaml": "IN_USER"}
    rows = []
    for path, text in sources("manifest/project*.c"):
        rows += ROW.findall(text)
    host = re.findall(r'\{STR_INIT\("(\w+)"\), YAML_', open(
        os.path.join(ROOT, "manifest/project_host.c")).read())
    for name in SETTINGS:
        code = {key for key, where in rows if marks[name] in where}
        code |= set(host) if name == "config.yaml" else set()
        used = whole(name)
        have = properties(reachable(used), set())
        limits = set(load("mapm.yaml.json")["$defs"]["limits"]["properties"])
        for key in sorted(code - have):
            print(name, "may have, and its schema lacks", key)
        for key in sorted(have - code - limits):
            print(name, "has in its schema alone", key)


def reachable(schema):
    """The schema with its definitions put in their places."""
    def put(node, depth):
        if depth > 20:
            return {}
        if isinstance(node, dict):
            if "$ref" in node:
                return put(schema["$defs"][node["$ref"].split("/")[-1]], depth + 1)
            return {k: put(v, depth + 1) for k, v in node.items() if k != "$defs"}
        return [put(x, depth + 1) for x in node] if isinstance(node, list) else node
    return put(schema, 0)


def check_facts():
    facts = json.load(sys.stdin)
    ours, user = load("mapm.yaml.json"), whole("config.yaml")
    host = user["properties"]["hosts"]["items"]["anyOf"][1]["properties"]
    if ours["$defs"]["limits"]["properties"] != facts["limits"]:
        print("limits differ")
    if ours["$defs"]["preset"]["enum"] != facts["presets"]:
        print("presets differ")
    if user["$defs"]["preset"]["enum"] != facts["presets"] + ["anthropic", "openai"]:
        print("presets of config.yaml differ")
    if host["kind"]["enum"] != facts["kinds"]:
        print("kinds of hosts differ")


# --- settings ---------------------------------------------------------------

def mutations(node, path=()):
    """Documents that no grammar takes: a key too much, a value of another kind."""
    if isinstance(node, dict):
        yield path, dict(node, zz_unknown=1)
        for key, value in node.items():
            yield path + (key,), {"zz": 1} if not isinstance(value, dict) else "zz zz"
            yield from mutations(value, path + (key,))
    elif isinstance(node, list):
        for i, value in enumerate(node):
            yield path + (i,), "zz zz" if isinstance(value, int) else 17
            if isinstance(value, dict):
                yield from mutations(value, path + (i,))


def replaced(document, path, value):
    if not path:
        return value
    out = copy.deepcopy(document)
    at = out
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return out


def covered(node, names):
    if isinstance(node, dict):
        names.update(node)
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        covered(child, names)
    return names


def check_settings(mapm, folder):
    os.chdir(folder)
    env = dict(os.environ)
    for name in SETTINGS:
        validator = jsonschema.Draft202012Validator(whole(name))
        target = name
        if name == "config.yaml":
            target = os.path.join(env["XDG_CONFIG_HOME"], "mapm", name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
        else:
            open("mapm.yaml", "w").close()
        with open(os.path.join(ROOT, "tests/cases/schema", name + ".json")) as f:
            documents = json.load(f)

        def program_takes(document):
            with open(target, "w") as f:
                json.dump(document, f)
            return subprocess.run([mapm, "list"], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL).returncode == 0

        seen = set()
        for number, document in enumerate(documents):
            covered(document, seen)
            if not validator.is_valid(document):
                print(name, number, "its schema refuses")
            if not program_takes(document):
                print(name, number, "the program refuses", document)
            for path, value in mutations(document):
                bad = replaced(document, path, value)
                if validator.is_valid(bad):
                    print(name, number, path, "its schema takes", value)
                if program_takes(bad):
                    print(name, number, path, "the program takes", value)
        os.remove(target)
        limits = set(load("mapm.yaml.json")["$defs"]["limits"]["properties"])
        for key in sorted(properties(reachable(whole(name)), set()) - seen - limits):
            print(name, "no document has", key)


# --- outputs ----------------------------------------------------------------

def branches(name, schema):
    """What has to be seen of it: the schema, or each of its commands."""
    out = set()
    for one in schema.get("oneOf", [schema]):
        command = one["properties"].get("command", {})
        for word in [command["const"]] if "const" in command else command.get("enum", [None]):
            out.add((name, word if "oneOf" in schema else None))
    return out


def check_outputs(folders):
    schemas = outputs()
    want = set().union(*(branches(n, s) for n, s in schemas.items()))
    for folder in folders:
        for path in sorted(glob.glob(os.path.join(folder, "*"))):
            with open(path) as f:
                document = json.load(f)
            name = document["schema"].split(".", 1)[1].split("/")[0]
            for error in jsonschema.Draft202012Validator(schemas[name]).iter_errors(document):
                deep = min(error.context, key=lambda c: -len(c.path), default=error)
                print(os.path.basename(path), list(deep.path), deep.message[:200])
            word = document.get("command") if "oneOf" in schemas[name] else None
            want.discard((name, word))
    for name, word in sorted(want, key=str):
        print("no output of", name, word or "")


def check_lines(name, paths):
    validator = jsonschema.Draft202012Validator(load(name + ".json"))
    for path in paths:
        with open(path) as f:
            for number, line in enumerate(f, 1):
                for error in validator.iter_errors(json.loads(line)):
                    print("%s:%d: %s" % (path, number, error.message[:200]))


def main():
    word, rest = sys.argv[1], sys.argv[2:]
    if word == "keys":
        check_keys()
    elif word == "facts":
        check_facts()
    elif word == "settings":
        check_settings(*rest)
    elif word == "outputs":
        check_outputs(rest)
    elif word == "lines":
        check_lines(rest[0], rest[1:])


main()
