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
is '[K25] a command without a rule is denied without a terminal' "$out" \
    "-1 error: not allowed: tool a b: no rule matches it; --allow 'tool a b' allows it"
is '[K27] stderr names the ways to allow the command' "$err" \
    "not allowed: tool a b
  no rule matches it
  for one run: --allow 'tool a b'
  from now on, in mapm.yaml or config.yaml: policy: {commands: {allow: [[tool, a, b]]}}"
is 'a refused command does not end the run' "$status" 0
commands "tool it's *"
is 'the suggested --allow is quoted for a shell' "$out" \
    "-1 error: not allowed: tool \"it's\" '*': no rule matches it; --allow \$'tool \"it\\'s\" \\'*\\'' allows it"
commands "tool it's *" -- --allow "tool \"it's\" '*'"
is 'the suggested --allow lets the command run' "$out" "0 tool ran: it's *"
commands "tool it's x" -- --allow "tool \"it's\" '*'"
like 'the quoted --allow lets no other command run' "$out" '^-1 error: not allowed: tool "it.s" x: '

# --- --allow ------------------------------------------------------------------

commands 'tool a' 'tool b' 'other' -- --allow 'tool a' --allow other
is '--allow given twice allows exactly both commands' "$out" "0 tool ran: a
-1 error: not allowed: tool b: no rule matches it; --allow 'tool b' allows it
0 other ran:"
commands 'tool' 'tool a b' 'toolx' -- --allow 'tool *'
like 'a star at the end of --allow stands for several words' "$out" '^0 tool ran: a b$'
like 'a star at the end of --allow stands for no word' "$out" '^0 tool ran:$'
like 'a star at the end of --allow does not complete a word' "$out" '^-1 error: not allowed: toolx: '
commands 'tool a' 'other' -- --allow '*'
is '--allow with a star alone allows all commands' "$out" "0 tool ran: a
0 other ran:"
exits '--allow with an open quote is a usage error' 2 mapm run ./skills/do --input '{"commands":[]}' --allow 'tool "a'
like 'the error names the rule with the open quote' "$err" 'mapm: --allow tool "a: a quote is not closed'
exits '--allow with a star in the program is a usage error' 2 mapm run ./skills/do --input '{"commands":[]}' --allow 'to* a'
like 'the error says that a program is named in full' "$err" 'mapm: --allow to\* a: a program is named in full'

# --- config.yaml ----------------------------------------------------------------

user 'commands:' '  allow: [[tool, "*"], [other, x]]' '  deny: [[tool, push, "*"], [other]]'
commands 'tool a' 'tool push x' 'other x' 'other' 'other y'
is "the rules of config.yaml allow and deny commands" "$out" "0 tool ran: a
-1 error: not allowed: tool push x: deny [tool, push, \"*\"] (config.yaml:5); --allow 'tool push x' allows it
0 other ran: x
-1 error: not allowed: other: deny [other] (config.yaml:5); change that rule to allow it
-1 error: not allowed: other y: no rule matches it; --allow 'other y' allows it"
like 'stderr has the rule that denies with its line' "$err" '^  deny \[tool, push, "\*"\] \(config.yaml:5\)$'
like 'stderr suggests --allow for the denied command' "$err" "^  for one run: --allow 'tool push x'\$"
like 'stderr says to change a rule that --allow cannot override' "$err" '^  change that rule to allow it$'
commands 'tool push x' 'other' -- --allow '*'
like '--allow with a star does not override a deny rule that ends in a star' "$out" '^-1 error: not allowed: tool push x: '
like '--allow with a star does not override a deny rule of a program alone' "$out" '^-1 error: not allowed: other: '
commands 'tool push' -- --allow 'tool push'
like 'deny wins over an allow rule that is equally specific' "$out" '^-1 error: not allowed: tool push: deny '
commands 'tool push x' -- --allow 'tool push x'
is 'an allow rule that is more specific wins over a deny rule' "$out" '0 tool ran: push x'
commands "$T/bin/tool push x" -- --allow '*'
like 'a deny rule for a name denies the program by its path' "$out" 'deny \[tool, push, "\*"\]'
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
is '[row 15] mapm.yaml denies commands but allows none before it is accepted' "$out" \
    "-1 error: not allowed: tool a: [tool, \"*\"] of mapm.yaml:4 is not accepted; mapm trust --workspace or --allow 'tool a' allows it
-1 error: not allowed: other: deny [other] (mapm.yaml:6); change that rule to allow it"
is 'stderr names the rules that are not accepted once and each refusal' "$err" \
    "the command rules of mapm.yaml are not accepted on this machine and are ignored: mapm trust --workspace
not allowed: tool a
  [tool, \"*\"] of mapm.yaml:4 is not accepted: mapm trust --workspace
  for one run: --allow 'tool a'
not allowed: other
  deny [other] (mapm.yaml:6)
  change that rule to allow it"
commands 'tool a' -- --yes
like '--yes does not accept the rules of mapm.yaml' "$out" '^-1 error: not allowed: tool a: '
exits 'mapm trust --workspace --yes succeeds' 0 mapm trust --workspace --yes
commands 'tool a' 'other'
is 'accepted rules of mapm.yaml allow commands' "$out" "0 tool ran: a
-1 error: not allowed: other: deny [other] (mapm.yaml:6); change that rule to allow it"
is 'accepted rules are not mentioned on stderr' "$err" 'not allowed: other
  deny [other] (mapm.yaml:6)
  change that rule to allow it'
sed -i '1i # a remark' mapm.yaml
sed -i 's/tool, "\*"/"tool", "*"/' mapm.yaml
commands 'tool a'
is 'accepted rules stay accepted when only style changes' "$out" '0 tool ran: a'
for change in 's/\[other\]/[another]/' '/- \["tool/a\      - [other, x]' \
    '/^policy:/a\  network: true'; do
    cp mapm.yaml "$T/saved"
    sed -i "$change" mapm.yaml
    commands 'tool a'
    like "[row 15] a changed policy of mapm.yaml is not accepted ($change)" "$out" \
        '^-1 error: not allowed: tool a: \["?tool"?, "\*"\] of mapm.yaml:[0-9]+ is not accepted'
    cp "$T/saved" mapm.yaml
done
commands 'tool a'
is 'the accepted policy is valid again after the change is undone' "$out" '0 tool ran: a'
user 'commands: {deny: [[tool, "*"]]}'
sed -i 's/\["tool", "\*"\]/[tool, a, b]/' mapm.yaml
mapm trust --workspace --yes >/dev/null 2>&1
commands 'tool a b'
is '[row 15] a longer allow rule of mapm.yaml does not override the deny rule of the user' "$out" \
    "-1 error: not allowed: tool a b: deny [tool, \"*\"] (config.yaml:3); --allow 'tool a b' allows it"
user

# --- programs of the workspace -----------------------------------------------------

: >mapm.yaml
printf '#!/bin/sh\necho own ran\n' >own.sh
cp own.sh tool && chmod +x own.sh tool
commands './own.sh' 'own.sh' 'tool' -- --allow './own.sh' --allow own.sh --allow tool
like '[row 19] --allow with a path runs a program of the workspace' "$out" '^0 own ran$'
like '--allow with a name finds no program of the workspace' "$out" '^-1 error: .*own.sh'
like 'a program of the workspace does not hide one on the PATH' "$out" '^0 tool ran:$'
(PATH=.:$PWD:$PATH && export PATH && commands 'tool' 'own.sh' -- --allow tool --allow own.sh
    printf '%s\n' "$out" >"$T/out2")
like '[row 15] PATH with the workspace does not replace a program' "$(cat "$T/out2")" '^0 tool ran:$'
like 'PATH with the workspace adds no program' "$(cat "$T/out2")" '^-1 error: .*own.sh'
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
like 'the question shows the command' "$out" '^  tool a b$'
like 'the question shows the sandbox and the folder' "$out" "^It wants to run without a sandbox, in $T/ws:\$"
like 'the answer n refuses the command' "$out" 'error: not allowed: tool a b: the user said no'
unlike 'an empty answer refuses the command' "$out" 'tool ran'

terminal -q "$choice" 'o
' -q "$choice" 'n
' "$MAPM" run ./skills/do --input "$twice"
is 'the answer o is followed by a second question for the same command' "$(printf '%s\n' "$out" | grep -c 'May it?')" 2
like 'the answer o runs the command' "$out" 'tool ran: a b'
like 'a later n refuses the second command' "$out" 'the user said no'

terminal -q "$choice" 't
' "$MAPM" run ./skills/do --input "$twice"
is 'the answer t leads to one question in a run' "$(printf '%s\n' "$out" | grep -c 'May it?')" 1
unlike 'the answer t leads to no refusal in a run' "$out" 'not allowed'
same_tree 'the answer t leaves mapm.yaml unchanged' mapm.yaml "$T/before"
terminal -q "$choice" 'n
' "$MAPM" run ./skills/do --input "$(input 'tool a b')"
is 'another run after the answer t asks again' "$status" 0

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
like 'the answer a reports the rule in mapm.yaml' "$out" '^mapm.yaml allows \[tool, a, b\] from now on$'
is 'the answer a adds the rule and keeps all comments' "$(cat mapm.yaml)" '# ours
clients: [claude] # c
policy:
  commands:
    deny: # never
      - [rm, "*"]
    allow:
      - [tool, a, b]'
commands 'tool a b' 'tool a'
like 'the rule of the answer a is accepted' "$out" '^0 tool ran: a b$'
like 'the rule of the answer a allows only that command' "$out" '^-1 error: not allowed: tool a: no rule'
terminal -q "$choice" 'a
' "$MAPM" run ./skills/do --input "$(input 'tool diff HEAD~1 x')"
like '[D19] the question shows the rule of the answer a' "$out" '"always" allows in mapm.yaml: \[tool, diff, "\*"\]'
like '[D19] the answer a generalizes the arguments of a command like tool diff' "$out" '^mapm.yaml allows \[tool, diff, "\*"\] from now on$'
commands 'tool diff' 'tool diff other' 'tool push'
like '[D19] the general rule allows other arguments' "$out" '^0 tool ran: diff other$'
like '[D19] the general rule allows no other subcommand' "$out" '^-1 error: not allowed: tool push: '
terminal -q "$choice" 'a
' "$MAPM" run ./skills/do --input "$(input 'tool *')"
like 'the answer a escapes a star in the rule' "$(cat mapm.yaml)" '^      - \[tool, "\\\\\*"\]$'
commands 'tool *' 'tool x'
like 'a rule with an escaped star allows the command with a star' "$out" '^0 tool ran: \*$'
like 'a rule with an escaped star allows no other word' "$out" '^-1 error: not allowed: tool x: '

# Without a file there is one afterwards.
mkdir -p "$T/bare/skills" && cp -r skills/do "$T/bare/skills" && cd "$T/bare" || exit 1
terminal -q "$choice" 'a
' "$MAPM" run ./skills/do --input "$(input 'tool a')"
is 'the answer a creates a mapm.yaml where there is none' "$(cat mapm.yaml)" 'policy:
  commands:
    allow:
      - [tool, a]'
commands 'tool a'
is 'the rule in the new mapm.yaml is accepted' "$out" '0 tool ran: a'

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
conditions 'the question names no condition by default' '' '' ''
conditions 'the question names the network that config.yaml allows' ' with network' 'network: true' ''
conditions 'the question names the network that an accepted mapm.yaml allows' ' with network' '' 'network: true'
conditions 'network: false in config.yaml overrides mapm.yaml' '' 'network: false' 'network: true'
conditions 'network: false in mapm.yaml overrides config.yaml' '' 'network: true' 'network: false'
conditions 'the question names the sandbox that config.yaml turns off' ' without a sandbox' 'sandbox: off' ''
conditions 'sandbox: on in mapm.yaml overrides config.yaml' '' 'sandbox: off' 'sandbox: on'
echo 'policy: {network: true} # again' >mapm.yaml
mapm trust --workspace --revoke >/dev/null 2>&1
: >"$config"
terminal -q '[y/N] ' 'n
' -q '(o)nce, (t)his run, (n)o: ' 'n
' "$MAPM" run ./skills/do --input "$(input 'tool z')"
like '[row 15] the question of acceptance lists network: true of mapm.yaml' "$out" '^  network: true, that is, with the network$'
like 'the command has no network before mapm.yaml is accepted' "$out" "^It wants to run, in $T/bare:\$"
: >mapm.yaml
terminal "$MAPM" run ./skills/do --timeout 1 --input "$(input 'tool z')"
unlike 'a run that ends without an answer runs no command' "$out" 'tool ran'
cd "$T/ws" && user || exit 1

# A block that nobody has accepted.
sed -i 's/\[tool, a, b\]/[tool, z, "*"]/' mapm.yaml
terminal -q '[y/N] ' 'n
' -q '(o)nce, (t)his run, (n)o: ' 't
' "$MAPM" run ./skills/do --input "$(input 'tool z')"
is '[row 15] a terminal shows the rules of mapm.yaml and asks to accept them' "$(printf '%s\n' "$out" | sed -n '1,/y\/N/p')" \
    "mapm.yaml pre-approves these commands:
  allow [tool, z, \"*\"]   (mapm.yaml:8)
  allow [tool, diff, \"*\"]   (mapm.yaml:9)
  allow [tool, \"\\\\*\"]   (mapm.yaml:10)
  deny  [rm, \"*\"]   (mapm.yaml:6)
Accept these rules for $T/ws on this machine? [y/N] n"
like 'a no to the rules leaves a question for each command' "$out" 'tool ran: z'
unlike 'a no to the rules removes the answer always' "$out" '\(a\)lways'
terminal -q '[y/N] ' 'y
' "$MAPM" run ./skills/do --input "$(input 'tool z')"
unlike 'a yes to the rules runs the command without a question' "$out" 'May it'
like 'a yes to the rules runs the allowed command' "$out" 'tool ran: z'
terminal "$MAPM" run ./skills/do --input "$(input 'tool z')"
is 'a later run with accepted rules succeeds' "$status" 0
unlike 'a later run with accepted rules asks no question' "$out" 'y/N'

cat >"$T/bin/changer" <<'END'
#!/bin/sh
echo '# changed' >>mapm.yaml
END
chmod +x "$T/bin/changer"
terminal -q "$choice" 'o
' -q "$choice" 'a
' "$MAPM" run ./skills/do --input "$(input 'changer' 'tool c')"
ok 'the command with the answer o changes mapm.yaml' grep -q '# changed' mapm.yaml
like '[row 15] a mapm.yaml changed during the run gets no new rule' "$out" \
    'it is allowed in this run alone: mapm.yaml: it was changed since the run began'
unlike 'the rule of the answer a is not written into the changed mapm.yaml' "$(cat mapm.yaml)" 'tool, c\]'
like 'the command with the answer a runs' "$out" 'tool ran: c'

python3 -S - >"$T/in.json" <<'PYTHON'
import json
print(json.dumps({"commands": [["tool", "a\n  tool ok\nMay it? \x1b[2K\u202e", "x" * 5000]]}))
PYTHON
terminal -q "$choice" 'n
' "$MAPM" run ./skills/do --input "@$T/in.json"
like '[row 7] the question shows a command with control characters escaped' "$out" \
    "^  tool \\\$'a\\\\n  tool ok\\\\nMay it\? \\\\x1b\[2K\\\\xe2\\\\x80\\\\xae' x{5000}\$"
done_testing
