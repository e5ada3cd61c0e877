#!/bin/sh
# Which commands of a metaskill run: config.yaml, mapm.yaml, --allow, and the
# person at the terminal. [K25, K27, row 15, row 19].
. "$(dirname "$0")/../lib/cli.sh"
config=$XDG_CONFIG_HOME/mapm/config.yaml
mkdir -p "${config%/*}"

# The walls have tests of their own: here is judged what comes before them.
user()
{
    { echo 'policy:' && echo '  sandbox: off' && printf '  %s\n' "$@"; } >"$config"
}
user

skill "$T/ws/skills/do" 'metaskill: SKILL.star'
cat >skills/do/SKILL.star <<'END'
def run(input):
    results = [command(argv) for argv in input["commands"]]
    return {"status": "ok", "answer": "", "results": results}
END
: >mapm.yaml
mkdir "$T/bin" && PATH=$T/bin:$PATH
for name in tool other; do
    printf '#!/bin/sh\necho %s ran: "$@"\n' $name >"$T/bin/$name"
done
chmod +x "$T/bin/tool" "$T/bin/other"

# input COMMAND... [--]...: words in each separated by blanks.
input()
{
    python3 -S -c 'import json, sys
args = sys.argv[1:]
args = args[:args.index("--")] if "--" in args else args
print(json.dumps({"commands": [c.split(" ") for c in args]}))' "$@"
}
# commands COMMAND... [-- OPTION...]: runs them. $out: a result a line.
commands()
{
    json=$(input "$@")
    while [ $# -gt 0 ] && [ "$1" != -- ]; do shift; done
    [ $# -eq 0 ] || shift
    run mapm run ./skills/do --json --input "$json" "$@"
    results
}
# results: $out is the envelope; leaves a line for each command.
results()
{
    out=$(printf '%s\n' "$out" | python3 -S -c '
import json, sys
for r in json.loads(sys.stdin.read())["results"]:
    assert r["ok"] == (r["exit_code"] == 0), r
    print(r["exit_code"], r["result"].strip().replace("\n", "|"))')
}

# --- nobody says anything: denied, and how it would run ------------------------

commands 'tool a b'
is '[K25] without a rule and a terminal a command is denied' "$out" \
    "-1 error: not allowed: tool a b: no rule matches it; --allow 'tool a b' allows it"
is '[K27] the way out is on stderr, too' "$err" \
    "not allowed: tool a b
  no rule matches it
  for one run: --allow 'tool a b'
  from now on, in mapm.yaml or config.yaml: policy: {commands: {allow: [[tool, a, b]]}}"
is 'a refusal is not the end of the run' "$status" 0
commands "tool it's *"
is 'the words are quoted as a shell wants them' "$out" \
    "-1 error: not allowed: tool \"it's\" '*': no rule matches it; --allow \$'tool \"it\\'s\" \\'*\\'' allows it"
commands "tool it's *" -- --allow "tool \"it's\" '*'"
is 'and so it is let through' "$out" "0 tool ran: it's *"
commands "tool it's x" -- --allow "tool \"it's\" '*'"
like 'but nothing else' "$out" '^-1 error: not allowed: tool "it.s" x: '

# --- --allow ------------------------------------------------------------------

commands 'tool a' 'tool b' 'other' -- --allow 'tool a' --allow other
is '--allow, repeated' "$out" "0 tool ran: a
-1 error: not allowed: tool b: no rule matches it; --allow 'tool b' allows it
0 other ran:"
commands 'tool' 'tool a b' 'toolx' -- --allow 'tool *'
like 'a star at the end is any words' "$out" '^0 tool ran: a b$'
like 'also none' "$out" '^0 tool ran:$'
like 'and not a part of one' "$out" '^-1 error: not allowed: toolx: '
commands 'tool a' 'other' -- --allow '*'
is '--allow * is for all of them' "$out" "0 tool ran: a
0 other ran:"
exits 'a rule that is none' 2 mapm run ./skills/do --input '{"commands":[]}' --allow 'tool "a'
like 'is named' "$err" 'mapm: --allow tool "a: a quote is not closed'
exits 'so is a star in a program' 2 mapm run ./skills/do --input '{"commands":[]}' --allow 'to* a'
like 'is named' "$err" 'mapm: --allow to\* a: a program is named in full'

# --- config.yaml ----------------------------------------------------------------

user 'commands:' '  allow: [[tool, "*"], [other, x]]' '  deny: [[tool, push, "*"], [other]]'
commands 'tool a' 'tool push x' 'other x' 'other' 'other y'
is "the user's rules" "$out" "0 tool ran: a
-1 error: not allowed: tool push x: deny [tool, push, \"*\"] (config.yaml:5); --allow 'tool push x' allows it
0 other ran: x
-1 error: not allowed: other: deny [other] (config.yaml:5); change that rule to allow it
-1 error: not allowed: other y: no rule matches it; --allow 'other y' allows it"
like 'the rule is on stderr' "$err" '^  deny \[tool, push, "\*"\] \(config.yaml:5\)$'
like 'and the way out' "$err" "^  for one run: --allow 'tool push x'\$"
like 'or that there is none' "$err" '^  change that rule to allow it$'
commands 'tool push x' 'other' -- --allow '*'
like '--allow * is no way around a rule that denies' "$out" '^-1 error: not allowed: tool push x: '
like 'of any kind' "$out" '^-1 error: not allowed: other: '
commands 'tool push' -- --allow 'tool push'
like 'deny wins where both are as special' "$out" '^-1 error: not allowed: tool push: deny '
commands 'tool push x' -- --allow 'tool push x'
is 'a rule for just the command is more special' "$out" '0 tool ran: push x'
commands "$T/bin/tool push x" -- --allow '*'
like 'who denies a name denies it by its path' "$out" 'deny \[tool, push, "\*"\]'
user

# --- mapm.yaml: deny counts, the rest once it is accepted -------------------------

cat >mapm.yaml <<'END'
policy:
  commands:
    allow:
      - [tool, "*"]
    deny:
      - [other]
END
commands 'tool a' 'other' -- --allow other
is '[row 15] what mapm.yaml allows does not count, what it denies does' "$out" \
    "-1 error: not allowed: tool a: [tool, \"*\"] of mapm.yaml:4 is not accepted; mapm trust --workspace or --allow 'tool a' allows it
-1 error: not allowed: other: deny [other] (mapm.yaml:6); change that rule to allow it"
is 'it is told once, and each time' "$err" \
    "the command rules of mapm.yaml are not accepted on this machine and are ignored: mapm trust --workspace
not allowed: tool a
  [tool, \"*\"] of mapm.yaml:4 is not accepted: mapm trust --workspace
  for one run: --allow 'tool a'
not allowed: other
  deny [other] (mapm.yaml:6)
  change that rule to allow it"
commands 'tool a' -- --yes
like '--yes accepts nothing' "$out" '^-1 error: not allowed: tool a: '
exits 'mapm trust --workspace' 0 mapm trust --workspace --yes
commands 'tool a' 'other'
is 'then it counts' "$out" "0 tool ran: a
-1 error: not allowed: other: deny [other] (mapm.yaml:6); change that rule to allow it"
is 'and nothing is said of it' "$err" 'not allowed: other
  deny [other] (mapm.yaml:6)
  change that rule to allow it'
sed -i '1i # a remark' mapm.yaml
sed -i 's/tool, "\*"/"tool", "*"/' mapm.yaml
commands 'tool a'
is 'as long as it says the same' "$out" '0 tool ran: a'
for change in 's/\[other\]/[another]/' '/- \["tool/a\      - [other, x]' \
    '/^policy:/a\  network: true'; do
    cp mapm.yaml "$T/saved"
    sed -i "$change" mapm.yaml
    commands 'tool a'
    like "[row 15] what was accepted is no more what is there ($change)" "$out" \
        '^-1 error: not allowed: tool a: \["?tool"?, "\*"\] of mapm.yaml:[0-9]+ is not accepted'
    cp "$T/saved" mapm.yaml
done
commands 'tool a'
is 'and what was accepted still is' "$out" '0 tool ran: a'
user 'commands: {deny: [[tool, "*"]]}'
sed -i 's/\["tool", "\*"\]/[tool, a, b]/' mapm.yaml
mapm trust --workspace --yes >/dev/null 2>&1
commands 'tool a b'
is '[row 15] no workspace allows what the user denies, however special its rule' "$out" \
    "-1 error: not allowed: tool a b: deny [tool, \"*\"] (config.yaml:3); --allow 'tool a b' allows it"
user

# --- programs of the workspace -----------------------------------------------------

: >mapm.yaml
printf '#!/bin/sh\necho own ran\n' >own.sh
cp own.sh tool && chmod +x own.sh tool
commands './own.sh' 'own.sh' 'tool' -- --allow './own.sh' --allow own.sh --allow tool
like '[row 19] a program of the workspace is named by its path' "$out" '^0 own ran$'
like 'a name is not found there' "$out" '^-1 error: .*own.sh'
like 'nor does it hide another one' "$out" '^0 tool ran:$'
(PATH=.:$PWD:$PATH && export PATH && commands 'tool' 'own.sh' -- --allow tool --allow own.sh
    printf '%s\n' "$out" >"$T/out2")
like '[row 15] whatever PATH says' "$(cat "$T/out2")" '^0 tool ran:$'
like 'for any name' "$(cat "$T/out2")" '^-1 error: .*own.sh'
rm own.sh tool

# --- on a terminal -------------------------------------------------------------------

# terminal [-q QUESTION ANSWER]... COMMAND...: types each answer when its question
# stands there. $out: all that was seen.
terminal()
{
    out=$(python3 -S - "$@" <<'PYTHON'
import os, pty, select, sys, time
words, steps = sys.argv[1:], []
while words[0] == "-q":
    steps.append((words[1].encode(), words[2].encode()))
    words = words[3:]
pid, fd = pty.fork()
if pid == 0:
    os.execvp(words[0], words)
text, seen, end = b"", 0, time.time() + 60
while time.time() < end:
    if not select.select([fd], [], [], 1)[0]:
        continue
    try:
        data = os.read(fd, 65536)
    except OSError:
        break
    if not data:
        break
    text += data
    at = text.find(steps[0][0], seen) if steps else -1
    if at >= 0:
        seen = at + len(steps[0][0])
        os.write(fd, steps.pop(0)[1])
sys.stdout.write(text.decode("utf-8", "replace").replace("\r\n", "\n"))
sys.stdout.flush()
sys.exit(9 if steps else os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
PYTHON
    )
    status=$?
}
if ! python3 -S -c 'import pty; pty.openpty()' 2>/dev/null; then
    skip 'questions' 'no pseudo-terminals here'
    done_testing
fi
choice='(o)nce, (t)his run, (a)lways, (n)o: '
twice=$(input 'tool a b' 'tool a b')
cp mapm.yaml "$T/before"

terminal -q "$choice" 'n
' -q "$choice" '
' "$MAPM" run ./skills/do --input "$twice"
like 'the command is shown as it would run' "$out" '^  tool a b$'
like 'and where' "$out" "^It wants to run without a sandbox, in $T/ws:\$"
like 'no is no' "$out" 'error: not allowed: tool a b: the user said no'
unlike 'and so is nothing' "$out" 'tool ran'

terminal -q "$choice" 'o
' -q "$choice" 'n
' "$MAPM" run ./skills/do --input "$twice"
is 'once is once' "$(printf '%s\n' "$out" | grep -c 'May it?')" 2
like 'it runs' "$out" 'tool ran: a b'
like 'once' "$out" 'the user said no'

terminal -q "$choice" 't
' "$MAPM" run ./skills/do --input "$twice"
is 'this run is asked about once' "$(printf '%s\n' "$out" | grep -c 'May it?')" 1
unlike 'and nothing is refused' "$out" 'not allowed'
same_tree 'mapm.yaml is as it was' mapm.yaml "$T/before"
terminal -q "$choice" 'n
' "$MAPM" run ./skills/do --input "$(input 'tool a b')"
is 'another run is asked again' "$status" 0

cat >mapm.yaml <<'END'
# ours
clients: [claude] # c
policy:
  commands:
    deny: # never
      - [rm, "*"]
END
terminal -q "$choice" 'a
' "$MAPM" run ./skills/do --input "$twice"
like 'always is told' "$out" '^mapm.yaml allows \[tool, a, b\] from now on$'
is 'always is written, and every remark stays' "$(cat mapm.yaml)" '# ours
clients: [claude] # c
policy:
  commands:
    deny: # never
      - [rm, "*"]
    allow:
      - [tool, a, b]'
commands 'tool a b' 'tool a'
like 'it is accepted with that' "$out" '^0 tool ran: a b$'
like 'and is for just the command' "$out" '^-1 error: not allowed: tool a: no rule'
terminal -q "$choice" 'a
' "$MAPM" run ./skills/do --input "$(input 'tool diff HEAD~1 x')"
like '[D19] the question has the rule' "$out" '"always" allows in mapm.yaml: \[tool, diff, "\*"\]'
like '[D19] always is of use for such commands' "$out" '^mapm.yaml allows \[tool, diff, "\*"\] from now on$'
commands 'tool diff' 'tool diff other' 'tool push'
like '[D19] those run' "$out" '^0 tool ran: diff other$'
like '[D19] and no others' "$out" '^-1 error: not allowed: tool push: '
terminal -q "$choice" 'a
' "$MAPM" run ./skills/do --input "$(input 'tool *')"
like 'a star is a star' "$(cat mapm.yaml)" '^      - \[tool, "\\\\\*"\]$'
commands 'tool *' 'tool x'
like 'in the rule, too' "$out" '^0 tool ran: \*$'
like 'and no more' "$out" '^-1 error: not allowed: tool x: '

# Without a file there is one afterwards.
mkdir -p "$T/bare/skills" && cp -r skills/do "$T/bare/skills" && cd "$T/bare" || exit 1
terminal -q "$choice" 'a
' "$MAPM" run ./skills/do --input "$(input 'tool a')"
is 'always starts a mapm.yaml' "$(cat mapm.yaml)" 'policy:
  commands:
    allow:
      - [tool, a]'
commands 'tool a'
is 'which is accepted' "$out" '0 tool ran: a'

# conditions WHAT HOW CONFIG WORKSPACE: what is said of the command's walls.
conditions()
{
    printf 'policy: {%s}\n' "$3" >"$config"
    printf 'policy: {%s}\n' "$4" >mapm.yaml
    mapm trust --workspace --yes >/dev/null 2>&1
    terminal -q "$choice" 'n
' "$MAPM" run ./skills/do --input "$(input 'tool z')"
    like "$1" "$out" "^It wants to run$2, in $T/bare:\$"
}
conditions 'the walls are the rule' '' '' ''
conditions 'a user has the network' ' with network' 'network: true' ''
conditions 'an accepted workspace, too' ' with network' '' 'network: true'
conditions 'unless the user says no' '' 'network: false' 'network: true'
conditions 'or the workspace' '' 'network: true' 'network: false'
conditions 'a user has no walls' ' without a sandbox' 'sandbox: off' ''
conditions 'unless the workspace wants them' '' 'sandbox: off' 'sandbox: on'
echo 'policy: {network: true} # again' >mapm.yaml
mapm trust --workspace --revoke >/dev/null 2>&1
: >"$config"
terminal -q '[y/N] ' 'n
' -q '(o)nce, (t)his run, (n)o: ' 'n
' "$MAPM" run ./skills/do --input "$(input 'tool z')"
like '[row 15] the network has to be accepted' "$out" '^  network: true, that is, with the network$'
like 'and is not there before' "$out" "^It wants to run, in $T/bare:\$"
: >mapm.yaml
terminal "$MAPM" run ./skills/do --timeout 1 --input "$(input 'tool z')"
unlike 'silence is no yes' "$out" 'tool ran'
cd "$T/ws" && user || exit 1

# A block that nobody has accepted.
sed -i 's/\[tool, a, b\]/[tool, z, "*"]/' mapm.yaml
terminal -q '[y/N] ' 'n
' -q '(o)nce, (t)his run, (n)o: ' 't
' "$MAPM" run ./skills/do --input "$(input 'tool z')"
is '[row 15] on a terminal it is asked for' "$(printf '%s\n' "$out" | sed -n '1,/y\/N/p')" \
    "mapm.yaml pre-approves these commands:
  allow [tool, z, \"*\"]   (mapm.yaml:8)
  allow [tool, diff, \"*\"]   (mapm.yaml:9)
  allow [tool, \"\\\\*\"]   (mapm.yaml:10)
  deny  [rm, \"*\"]   (mapm.yaml:6)
Accept these rules for $T/ws on this machine? [y/N] n"
like 'no leaves each command to be asked about' "$out" 'tool ran: z'
unlike 'and never for always: that would accept the rest' "$out" '\(a\)lways'
terminal -q '[y/N] ' 'y
' "$MAPM" run ./skills/do --input "$(input 'tool z')"
unlike 'yes allows it' "$out" 'May it'
like 'it runs' "$out" 'tool ran: z'
terminal "$MAPM" run ./skills/do --input "$(input 'tool z')"
is 'and is asked once' "$status" 0
unlike 'and never again' "$out" 'y/N'

cat >"$T/bin/changer" <<'END'
#!/bin/sh
echo '# changed' >>mapm.yaml
END
chmod +x "$T/bin/changer"
terminal -q "$choice" 'o
' -q "$choice" 'a
' "$MAPM" run ./skills/do --input "$(input 'changer' 'tool c')"
if grep -q '# changed' mapm.yaml; then
    like '[row 15] what was changed since is not accepted' "$out" \
        'it is allowed in this run alone: mapm.yaml: it was changed since the run began'
fi
unlike 'and not written' "$(cat mapm.yaml)" 'tool, c\]'
like 'the command runs' "$out" 'tool ran: c'

python3 -S - >"$T/in.json" <<'PYTHON'
import json
print(json.dumps({"commands": [["tool", "a\n  tool ok\nMay it? \x1b[2K\u202e", "x" * 5000]]}))
PYTHON
terminal -q "$choice" 'n
' "$MAPM" run ./skills/do --input "@$T/in.json"
like '[row 7] a command cannot dress up as another' "$out" \
    "^  tool \\\$'a\\\\n  tool ok\\\\nMay it\? \\\\x1b\[2K\\\\xe2\\\\x80\\\\xae' x{5000}\$"
done_testing
