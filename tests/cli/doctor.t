#!/bin/sh
# mapm doctor: what is there, what is not, what to do.
# [K23, K25, row 15, row 20, row 24]; DESIGN 8.
. "$(dirname "$0")/../lib/cli.sh"

unset ANTHROPIC_API_KEY ANTHROPIC_BASE_URL OPENAI_API_KEY OPENAI_BASE_URL
CONFIG=$XDG_CONFIG_HOME/mapm/config.yaml
KEY=sk-sekrit-0123456789
mkdir -p "$XDG_CONFIG_HOME/mapm" "$T/bin"

# Programs of this machine that answer would make the tests its own.
for program in git sh env python3 bwrap; do
    found=$(command -v "$program") && ln -s "$found" "$T/bin/$program"
done
ALL=$PATH

doctor()
{
    PATH=$T/bin "$MAPM" doctor "$@" >"$T/out" 2>"$T/err" </dev/null
    status=$?
    out=$(cat "$T/out") err=$(cat "$T/err")
}
# state WHAT GROUP/NAME STATE [REGEX]: of the text or the hint.
state()
{
    doctor --json
    got=$(python3 -S - "$T/out" "$2" <<'PYTHON'
import json, sys
d = json.load(open(sys.argv[1]))
for c in d["checks"]:
    if c["group"] + "/" + c["name"] == sys.argv[2]:
        print(c["state"], c["text"], "->", c["hint"])
PYTHON
)
    is "$1" "${got%% *}" "$3"
    [ -z "${4-}" ] || like "$1: said so" "$got" "$4"
    case $got$err in *$KEY*) fail "$1: shows the key" ;; esac
}

# --- nothing there yet --------------------------------------------------------
before=$(snapshot "$T/home" "$T/ws")
doctor
is 'nothing is changed' "$(snapshot "$T/home" "$T/ws")" "$before"
not_ok 'no store is made' test -e "$MAPM_HOME"
is 'nothing on stderr' "$err" ''
like 'groups' "$(printf '%s' "$out" | grep '^[a-z]' | tr '\n' ' ')" \
    '^files mapm sandbox of commands policy ask $'
like 'a line each' "$out" '^  ok       config.yaml  .*/mapm/config.yaml is not there: defaults count$'
like 'what is not there' "$out" '^  missing  workspace    no mapm.yaml in '
like 'and what to do' "$out" '^ +-> mapm init starts a workspace'
like 'the sum' "$out" '^(Nothing is broken|1 thing is broken)\.$'
doctor --json
ok 'one document' python3 -S - "$T/out" "$status" <<'PYTHON'
import json, sys
d = json.load(open(sys.argv[1]))
assert d["schema"] == "mapm.doctor/1"
assert list(d) == ["schema", "version", "ok", "ask", "checks"], list(d)
assert d["ask"] is None
states = {c["state"] for c in d["checks"]}
assert states <= {"ok", "warn", "missing", "broken"}, states
assert d["ok"] == ("broken" not in states) == (sys.argv[2] == "0")
for c in d["checks"]:
    assert list(c) == ["group", "name", "state", "text", "hint"]
    assert c["text"] and c["hint"] != ""
names = [(c["group"], c["name"]) for c in d["checks"]]
assert len(set(names)) == len(names), names
PYTHON

# --- files ----------------------------------------------------------------------
state 'no store' files/store ok 'made by the first install'
mapm store stats >/dev/null
state 'a store' files/store ok ', 0 objects, 0 B'
mkdir -p "$XDG_CONFIG_HOME/mapm"
echo 'store: {remote: [https://store.acme.example/mapm]}' >"$XDG_CONFIG_HOME/mapm/config.yaml"
state '[S1] a store of the team' 'files/team store' ok ' https://store.acme.example/mapm ->'
MAPM_STORE=oci://ghcr.io/acme/mapm state '[S1] two' 'files/team store' ok \
    'oci://ghcr.io/acme/mapm, https://store.acme.example/mapm'
echo 'store: {only: true}' >"$XDG_CONFIG_HOME/mapm/config.yaml"
state '[S1] none, and nothing else' 'files/team store' warn 'never asked.*-> name one'
rm "$XDG_CONFIG_HOME/mapm/config.yaml"
chmod 777 "$MAPM_HOME"
state 'that others may write to [row 24]' files/store broken 'others may write.*-> chmod go-w'
is 'fails' "$status" 1
chmod 700 "$MAPM_HOME"
python3 -S - "$MAPM_HOME/mapm.db" <<'PYTHON'
import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
c.execute("pragma user_version = 999")
c.commit()
PYTHON
state 'a newer one' files/store broken 'newer'
rm -f "$MAPM_HOME"/mapm.db*
echo 'nonsense: 1' >"$CONFIG"
state 'a configuration that is none' files/config.yaml broken 'config.yaml:1: '
is 'fails' "$status" 1
state 'and the rest is looked at' mapm/version ok
echo 'ask: claude' >"$CONFIG"
state 'a good one' files/config.yaml ok 'config.yaml'
chmod 666 "$CONFIG"
state 'that others may write to' files/config.yaml broken '-> chmod go-w '
chmod 644 "$CONFIG"
rm "$CONFIG"
mapm init >/dev/null 2>&1
state 'a workspace' files/workspace ok 'ws, 0 packages installed'
echo 'nonsense: 1' >mapm.yaml
state 'that cannot be read' files/workspace broken 'mapm.yaml:1: '
is 'fails' "$status" 1
echo 'version: 7' >mapm.lock
: >mapm.yaml
state 'a lock that cannot be read' files/workspace broken 'mapm.lock'
rm mapm.lock
mkdir -p a/b
cd a/b || exit 1
state 'from below it' files/workspace ok "$T/ws, 0 packages"
cd ../..

# --- programs -------------------------------------------------------------------
state 'mapm-fetch' mapm/mapm-fetch ok '/mapm-fetch '
state 'mapm-cage' mapm/mapm-cage ok '/mapm-cage '
state 'git' mapm/git ok "$T/bin/git "
rm "$T/bin/git"
state 'no git' mapm/git missing
ln -s "$(PATH=$ALL command -v git)" "$T/bin/git"
mkdir "$T/alone"
cp "$MAPM" "$T/alone/mapm"
MAPM=$T/alone/mapm state 'no mapm-fetch' mapm/mapm-fetch broken 'no network -> install mapm again'
MAPM=$T/alone/mapm state 'no mapm-cage' mapm/mapm-cage broken 'commands .* cannot run -> install mapm again'
MAPM=$T/alone/mapm state 'nor do commands run behind Landlock alone' 'sandbox of commands/commands' broken \
    'are refused: .* -> install mapm again'

# --- walls ----------------------------------------------------------------------
doctor --json
is 'commands can run, or are refused' "$(python3 -S - "$T/out" <<'PYTHON'
import json, sys
c = {c["name"]: c for c in json.load(open(sys.argv[1]))["checks"]
     if c["group"] == "sandbox of commands"}
assert list(c) == ["bubblewrap", "landlock", "seccomp", "commands"], c
enough = c["bubblewrap"]["state"] == "ok" or (
    c["landlock"]["state"] == "ok" and c["seccomp"]["state"] == "ok")
print(c["commands"]["state"] == ("ok" if enough else "broken"))
PYTHON
)" True
rm -f "$T/bin/bwrap"
state 'no bubblewrap' 'sandbox of commands/bubblewrap' missing '-> install bubblewrap'
echo 'policy: {sandbox: off}' >"$CONFIG"
state 'without walls, as the user wants' 'sandbox of commands/commands' warn 'sandbox is off'
state 'which is policy' policy/sandbox ok '^ok off \(config.yaml\)'

# --- policy -----------------------------------------------------------------------
cat >"$CONFIG" <<'YAML'
policy: {commands: {allow: [[git, diff, "*"], [ls]], deny: [[git, push]]}}
runtime: {metaskills: local, keep: full}
YAML
echo 'policy: {network: true, commands: {allow: [[make]], deny: [[rm]]}}' >mapm.yaml
state 'rules are counted' policy/commands warn '2 allowed and 1 denied by config.yaml, 1 and 1 by mapm.yaml, whose rights are not accepted.*-> .*mapm trust --workspace'
state 'rights of a workspace do not count at once [row 15]' policy/network ok 'false: that of mapm.yaml is not accepted'
state 'metaskills' policy/metaskills ok '^ok local \(config.yaml\)'
state 'keep' policy/keep ok '^ok full \(config.yaml\)'
printf 'runtime: {metaskills: %s, keep: none}\npolicy: {sandbox: on}\n' off >mapm.yaml
state 'a workspace may lower' policy/metaskills ok '^ok off \(mapm.yaml\)'
state 'each of them' policy/keep ok '^ok none \(mapm.yaml\)'
echo 'runtime: {metaskills: trusted}' >mapm.yaml
state 'and raises nothing' policy/metaskills ok '^ok local \(config.yaml\)'
echo 'policy: {sandbox: off}' >"$CONFIG"
echo 'policy: {sandbox: on}' >mapm.yaml
state 'the sandbox, too' policy/sandbox ok '^ok on \(mapm.yaml\)'
echo 'policy: {network: true}' >"$CONFIG"
echo 'policy: {network: false}' >mapm.yaml
state 'a workspace may say no' policy/network ok '^ok false \(mapm.yaml\)'
: >mapm.yaml
state 'the user may say yes' policy/network ok '^ok true \(config.yaml\)'
state 'nothing to accept' policy/commands ok 'no rules: '
rm "$CONFIG"

# --- ask ----------------------------------------------------------------------------
state 'nobody answers' ask/used missing '-> .*--ask'
state 'one that is not there' ask/claude missing
state 'an API without a key' ask/anthropic missing 'ANTHROPIC_API_KEY is not set'
printf '#!/bin/sh\nexit 1\n' >"$T/bin/claude"
chmod 755 "$T/bin/claude"
state 'the first on PATH' ask/used ok "^ok claude \(the first on PATH\): $T/bin/claude"
state 'is found' ask/claude ok "$T/bin/claude"
echo 'ask: {http: "http://127.0.0.1:11434/v1", model: llama}' >"$CONFIG"
state 'the user chooses' ask/used ok '^ok openai \(config.yaml:1\): http://127.0.0.1:11434/v1/chat/completions'
state 'and is told' ask/openai ok 'model llama'
rm "$CONFIG"
MAPM_ASK=clade
export MAPM_ASK
state 'a name that is none' ask/used broken 'clade'
is 'fails' "$status" 1
MAPM_ASK=anthropic ANTHROPIC_API_KEY=$KEY
export ANTHROPIC_API_KEY
state 'an API without a model' ask/used broken 'no model is named.*-> .*MAPM_ASK_MODEL'
MAPM_ASK_MODEL=m
export MAPM_ASK_MODEL
state 'with one' ask/used ok '^ok anthropic \(MAPM_ASK\): https://api.anthropic.com/v1/messages'
doctor
is 'in words' "$status" 0
unlike 'never the key [row 20]' "$out$err" "$KEY"

done_testing
