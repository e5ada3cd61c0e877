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
    [ -z "${4-}" ] || like "$1: text or hint matches" "$got" "$4"
    case $got$err in *$KEY*) fail "$1: shows the key" ;; esac
}

# --- nothing there yet --------------------------------------------------------
before=$(snapshot "$T/home" "$T/ws")
doctor
is 'doctor changes nothing in home and workspace' "$(snapshot "$T/home" "$T/ws")" "$before"
not_ok 'doctor creates no store' test -e "$MAPM_HOME"
is 'doctor prints nothing to stderr' "$err" ''
like 'doctor prints five groups in order' "$(printf '%s' "$out" | grep '^[a-z]' | tr '\n' ' ')" \
    '^files mapm sandbox of commands policy ask $'
like 'doctor prints a line for each check' "$out" '^  ok       config.yaml  .*/mapm/config.yaml is not there: defaults count$'
like 'doctor prints missing for a workspace without mapm.yaml' "$out" '^  missing  workspace    no mapm.yaml in '
like 'doctor prints a hint below a missing item' "$out" '^ +-> mapm init starts a workspace'
like 'doctor prints the number of broken things at the end' "$out" '^(Nothing is broken|1 thing is broken)\.$'
doctor --json
ok 'doctor --json prints one document of the documented form' python3 -S - "$T/out" "$status" <<'PYTHON'
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
state 'doctor reports ok for an absent store' files/store ok 'made by the first install'
mapm store stats >/dev/null
state 'doctor reports ok for an empty store' files/store ok ', 0 objects, 0 B'
mkdir -p "$XDG_CONFIG_HOME/mapm"
echo 'store: {remote: [https://store.acme.example/mapm]}' >"$XDG_CONFIG_HOME/mapm/config.yaml"
state '[S1] doctor reports ok for a store of the team' 'files/team store' ok ' https://store.acme.example/mapm ->'
MAPM_STORE=oci://ghcr.io/acme/mapm state '[S1] two' 'files/team store' ok \
    'oci://ghcr.io/acme/mapm, https://store.acme.example/mapm'
echo 'store: {only: true}' >"$XDG_CONFIG_HOME/mapm/config.yaml"
state '[S1] doctor warns of store.only without a store of the team' 'files/team store' warn 'never asked.*-> name one'
rm "$XDG_CONFIG_HOME/mapm/config.yaml"
chmod 777 "$MAPM_HOME"
state 'doctor reports broken for a store with mode 777 [row 24]' files/store broken 'others may write.*-> chmod go-w'
is 'doctor fails with a store that others may write to' "$status" 1
chmod 700 "$MAPM_HOME"
python3 -S - "$MAPM_HOME/mapm.db" <<'PYTHON'
import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
c.execute("pragma user_version = 999")
c.commit()
PYTHON
state 'doctor reports broken for a store of a newer version' files/store broken 'newer'
rm -f "$MAPM_HOME"/mapm.db*
echo 'nonsense: 1' >"$CONFIG"
state 'doctor reports broken for an invalid config.yaml' files/config.yaml broken 'config.yaml:1: '
is 'doctor fails with an invalid config.yaml' "$status" 1
state 'doctor checks the version in spite of an invalid config.yaml' mapm/version ok
echo 'ask: claude' >"$CONFIG"
state 'doctor reports ok for a valid config.yaml' files/config.yaml ok 'config.yaml'
chmod 666 "$CONFIG"
state 'doctor reports broken for a config.yaml that others may write to' files/config.yaml broken '-> chmod go-w '
chmod 644 "$CONFIG"
rm "$CONFIG"
mapm init >/dev/null 2>&1
state 'doctor reports ok for an empty workspace' files/workspace ok 'ws, 0 packages installed'
echo 'nonsense: 1' >mapm.yaml
state 'doctor reports broken for an invalid mapm.yaml' files/workspace broken 'mapm.yaml:1: '
is 'doctor fails with an invalid mapm.yaml' "$status" 1
echo 'version: 7' >mapm.lock
: >mapm.yaml
state 'doctor reports broken for an invalid mapm.lock' files/workspace broken 'mapm.lock'
rm mapm.lock
mkdir -p a/b
cd a/b || exit 1
state 'doctor finds the workspace from a folder below' files/workspace ok "$T/ws, 0 packages"
cd ../..

# --- programs -------------------------------------------------------------------
state 'doctor reports ok for mapm-fetch with its path' mapm/mapm-fetch ok '/mapm-fetch '
state 'doctor reports ok for mapm-cage with its path' mapm/mapm-cage ok '/mapm-cage '
state 'doctor reports ok for git with its path' mapm/git ok "$T/bin/git "
rm "$T/bin/git"
state 'doctor reports missing without git' mapm/git missing
ln -s "$(PATH=$ALL command -v git)" "$T/bin/git"
mkdir "$T/alone"
cp "$MAPM" "$T/alone/mapm"
MAPM=$T/alone/mapm state 'no mapm-fetch' mapm/mapm-fetch broken 'no network -> install mapm again'
MAPM=$T/alone/mapm state 'no mapm-cage' mapm/mapm-cage broken 'commands .* cannot run -> install mapm again'
MAPM=$T/alone/mapm state 'nor do commands run behind Landlock alone' 'sandbox of commands/commands' broken \
    'are refused: .* -> install mapm again'

# --- walls ----------------------------------------------------------------------
doctor --json
is 'doctor reports ok for commands exactly where a sandbox is complete' "$(python3 -S - "$T/out" <<'PYTHON'
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
state 'doctor reports missing without bubblewrap' 'sandbox of commands/bubblewrap' missing '-> install bubblewrap'
echo 'policy: {sandbox: off}' >"$CONFIG"
state 'doctor warns of commands when the user turned the sandbox off' 'sandbox of commands/commands' warn 'sandbox is off'
state 'doctor shows the sandbox of the policy with its file' policy/sandbox ok '^ok off \(config.yaml\)'

# --- policy -----------------------------------------------------------------------
cat >"$CONFIG" <<'YAML'
policy: {commands: {allow: [[git, diff, "*"], [ls]], deny: [[git, push]]}}
runtime: {metaskills: local, keep: full}
YAML
echo 'policy: {network: true, commands: {allow: [[make]], deny: [[rm]]}}' >mapm.yaml
state 'doctor counts the rules of both files and warns of rights not accepted' policy/commands warn '2 allowed and 1 denied by config.yaml, 1 and 1 by mapm.yaml, whose rights are not accepted.*-> .*mapm trust --workspace'
state 'doctor reports network: false before mapm.yaml is accepted [row 15]' policy/network ok 'false: that of mapm.yaml is not accepted'
state 'doctor shows which metaskills may run and the file that says so' policy/metaskills ok '^ok local \(config.yaml\)'
state 'doctor shows runtime.keep with its file' policy/keep ok '^ok full \(config.yaml\)'
printf 'runtime: {metaskills: %s, keep: none}\npolicy: {sandbox: on}\n' off >mapm.yaml
state 'doctor shows that mapm.yaml lowers the metaskills that may run' policy/metaskills ok '^ok off \(mapm.yaml\)'
state 'doctor shows that mapm.yaml lowers runtime.keep' policy/keep ok '^ok none \(mapm.yaml\)'
echo 'runtime: {metaskills: trusted}' >mapm.yaml
state 'doctor shows that mapm.yaml cannot raise the metaskills that may run' policy/metaskills ok '^ok local \(config.yaml\)'
echo 'policy: {sandbox: off}' >"$CONFIG"
echo 'policy: {sandbox: on}' >mapm.yaml
state 'doctor shows that mapm.yaml turns the sandbox on' policy/sandbox ok '^ok on \(mapm.yaml\)'
echo 'policy: {network: true}' >"$CONFIG"
echo 'policy: {network: false}' >mapm.yaml
state 'doctor shows that mapm.yaml denies the network' policy/network ok '^ok false \(mapm.yaml\)'
: >mapm.yaml
state 'doctor shows that config.yaml allows the network' policy/network ok '^ok true \(config.yaml\)'
state 'doctor reports ok for commands without rules' policy/commands ok 'no rules: '
rm "$CONFIG"

# --- ask ----------------------------------------------------------------------------
state 'doctor reports missing without any program for ask' ask/used missing '-> .*--ask'
state 'doctor reports missing for a claude that is not on the PATH' ask/claude missing
state 'doctor reports missing for anthropic without a key' ask/anthropic missing 'ANTHROPIC_API_KEY is not set'
printf '#!/bin/sh\nexit 1\n' >"$T/bin/claude"
chmod 755 "$T/bin/claude"
state 'doctor reports the first program on the PATH as used for ask' ask/used ok "^ok claude \(the first on PATH\): $T/bin/claude"
state 'doctor reports ok for claude with its path' ask/claude ok "$T/bin/claude"
echo 'ask: {http: "http://127.0.0.1:11434/v1", model: llama}' >"$CONFIG"
state 'doctor reports the address of config.yaml as used for ask' ask/used ok '^ok openai \(config.yaml:1\): http://127.0.0.1:11434/v1/chat/completions'
state 'doctor reports ok for openai with its model' ask/openai ok 'model llama'
rm "$CONFIG"
MAPM_ASK=clade
export MAPM_ASK
state 'doctor reports broken for an unknown name in MAPM_ASK' ask/used broken 'clade'
is 'doctor fails with an unknown name in MAPM_ASK' "$status" 1
MAPM_ASK=anthropic ANTHROPIC_API_KEY=$KEY
export ANTHROPIC_API_KEY
state 'doctor reports broken for anthropic without a model' ask/used broken 'no model is named.*-> .*MAPM_ASK_MODEL'
MAPM_ASK_MODEL=m
export MAPM_ASK_MODEL
state 'doctor reports ok for anthropic with key and model' ask/used ok '^ok anthropic \(MAPM_ASK\): https://api.anthropic.com/v1/messages'
doctor
is 'doctor succeeds with anthropic, key and model' "$status" 0
unlike 'doctor does not print the key [row 20]' "$out$err" "$KEY"

done_testing
