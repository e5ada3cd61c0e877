"""client_table.py DIR <LIST: what independent parsers read in the files that
build/client_table wrote, compared with what each client is known to read.
Prints each difference. A letter is a shape of docs/clients.md 5."""
import json
import sys
import tomllib

LOCAL = dict(command="npx", args=["-y", 'a: "b" # c', "yes"],
             env={"K-1": "v\\w", "N": "1.0"})
HTTP = dict(url="https://h/?a=b#c", headers={"X-A": "b: c"})
SSE = dict(url="https://h/s")


def plain(kind, entry, **more):
    return {**entry, **more}


def shape_s(kind, e):
    """.mcp.json itself: the MCP file as it is."""
    types = dict(local="stdio", http="http", sse="sse")
    return dict(e, type=types[kind], **({"timeout": 1500} if kind == "local" else {}))


def shape_p(kind, e, ms=None):
    types = dict(local={"type": "stdio"}, http={}, sse={"type": "sse"})
    return dict(e, **types[kind], **({"timeout": 1500} if kind == "local" else {}))


def shape_q(kind, e):
    """The same, but a remote server has its type."""
    return shape_s(kind, e)


def shape_l(kind, e):
    return e


def shape_v(kind, e):
    return shape_s(kind, e)


def shape_g(kind, e):
    if kind == "http":
        return dict(httpUrl=e["url"], headers=e["headers"])
    return dict(e, **({"timeout": 1500} if kind == "local" else {}))


def shape_n(kind, e):
    if kind == "local":
        return dict(type="local", command=[e["command"]] + e["args"],
                    environment=e["env"], enabled=True, timeout=1500)
    return dict(e, type="remote", enabled=True)


def shape_w(kind, e):
    if kind == "local":
        return e
    e = dict(e)
    return dict(e, serverUrl=e.pop("url")) if "url" not in e else \
        {("serverUrl" if k == "url" else k): v for k, v in e.items()}


def shape_a(kind, e):
    return e


def shape_z(kind, e):
    return e


def shape_t(kind, e):
    if kind == "local":
        return dict(e, tool_timeout_sec=2)
    return {("http_headers" if k == "headers" else k): v for k, v in e.items()}


def shape_r(kind, e):
    return dict(e, tool_timeout_sec=2) if kind == "local" else e


def shape_x(kind, e):
    return dict(e, name="io-e-m",
                transport="stdio" if kind == "local" else "streamable-http")


def shape_y(kind, e):
    common = dict(name="io-e-m", enabled=True)
    if kind == "local":
        return dict(common, type="stdio", cmd=e["command"], args=e["args"],
                    envs=e["env"], timeout=2)
    e = {("uri" if k == "url" else k): v for k, v in e.items()}
    return dict(common, **e, type="sse" if kind == "sse" else "streamable_http")


def shape_m(kind, e):
    return dict(e, enabled=True, **({"transport": "sse"} if kind == "sse" else {}))


def shape_c(kind, e):
    if kind == "local":
        return dict(e, name="io-e-m")
    e = {k: dict(headers=v) if k == "headers" else v for k, v in e.items()}
    e = {("requestOptions" if k == "headers" else k): v for k, v in e.items()}
    return dict(e, name="io-e-m", type="sse" if kind == "sse" else "streamable-http")


def shape_k(kind, e):
    return dict(e, transport=dict(local="stdio").get(kind, kind))


def shape_h(kind, e):
    return dict(e, type=dict(local="stdio").get(kind, kind))


SECTION = dict(s="mcpServers", p="mcpServers", q="mcpServers", l="mcpServers",
               v="servers", g="mcpServers", n="mcp", w="mcpServers",
               a="amp.mcpServers", z="context_servers", t="mcp_servers",
               r="mcp_servers", x="mcp_servers", y="extensions",
               m="mcp_servers", c="mcpServers", k="mcpServers", h="mcp")

# The shapes of the files of a workspace and of the user.
CLIENTS = """claude sq codex tt gemini gg opencode nn copilot sq qwen sg cline -p
amp aa vscode vv cursor pp windsurf -w devin ww antigravity ww kiro pp junie pp
jetbrains-ai pp air -- intellij-copilot -v goose ly grok rr kilo nn roo pp zed zz
warp pp droid pp crush hh continue pc qoder sq commandcode sp pi pp openhands -p
vibe xx kimi kk auggie pp trae pp hermes -m openclaw -- rovodev kk codebuddy pp
bob pp mastra sp deepagents pp tabnine pp iflow pp aider --""".split()
CLIENTS = dict(zip(CLIENTS[::2], CLIENTS[1::2]))

# Members that a row has beside those of its shape, or has otherwise.
MORE = {
    ("copilot", "user"): dict(tools=["*"]),
    ("kimi", "local"): dict(toolTimeoutMs=1500),
    ("cline", "local"): dict(timeout=2),
    ("goose", "project", "local"): dict(timeout=2),
}


def scalar(text):
    if text.startswith('"'):
        return json.loads(text)
    return {"true": True, "false": False, "[]": [], "{}": {}}.get(
        text, int(text) if text.isdigit() else text)


def blocks(lines, indent):
    """The block YAML that an entry is: mappings, lists of them or of scalars."""
    out = None
    while lines:
        depth = len(lines[0]) - len(lines[0].lstrip(" "))
        if depth < indent:
            break
        assert depth == indent, lines[0]
        line = lines.pop(0).strip()
        if line.startswith("- "):
            out = [] if out is None else out
            if ": " in line and line[2] != '"':
                lines.insert(0, " " * (indent + 2) + line[2:])
                out.append(blocks(lines, indent + 2))
            else:
                out.append(scalar(line[2:]))
            continue
        out = {} if out is None else out
        key, value = json.JSONDecoder().raw_decode(line) if line[0] == '"' else \
            (line.split(":")[0], line.index(":"))
        value = line[value + 1:].strip()
        out[key] = scalar(value) if value else blocks(lines, indent + 2)
    return out


def read(path):
    with open(path, "rb") as f:
        text = f.read().decode()
    if path.endswith(".json"):
        return json.loads(text)
    if path.endswith(".toml"):
        return tomllib.loads(text)
    tree = blocks(text.splitlines(), 0)
    try:
        import yaml
    except ImportError:
        return tree
    assert yaml.safe_load(text) == tree, path
    return tree


def main():
    seen = {}
    for line in sys.stdin.read().splitlines():
        client, scope, kind, name = line.split("\t")
        letter = CLIENTS[client][scope == "user"]
        seen.setdefault(client, set()).add(scope)
        if letter == "-":
            print(name, "is not expected")
            continue
        want = globals()["shape_" + letter](kind, dict(local=LOCAL, http=HTTP, sse=SSE)[kind])
        want = {**want, **MORE.get((client, scope), {}), **MORE.get((client, kind), {}),
                **MORE.get((client, scope, kind), {})}
        want = {SECTION[letter]: [want] if letter in "xc" else {"io-e-m": want}}
        got = read(sys.argv[1] + "/" + name)
        if got != want:
            print(name, json.dumps(got), "instead of", json.dumps(want))
    for client, letters in CLIENTS.items():
        for scope, letter in zip(("project", "user"), letters):
            if letter != "-" and scope not in seen.get(client, ()):
                print(client, "has no file of the", scope)


main()
