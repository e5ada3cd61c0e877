#!/bin/sh
# The history of runs: what `mapm run` leaves, `mapm runs` lists and shows, and
# the page of a run as a browser has it. [K28, K40, K42, row 7, row 22].
. "$(dirname "$0")/../lib/cli.sh"

# metaskill NAME: a folder for it, with the program on standard input.
metaskill()
{
    skill "skills/$1" 'metaskill: SKILL.star' && cat >"skills/$1/SKILL.star"
}
# json PYTHON-EXPRESSION: of $out, the document d.
json()
{
    printf '%s\n' "$out" | python3 -S -c '
import json, sys
d = json.load(sys.stdin)
r = eval(sys.argv[1])
print("yes" if r is True else "no" if r is False else r)' "$1" 2>&1
}
# keep WORD: what the user wants kept.
keep()
{
    mkdir -p "$XDG_CONFIG_HOME/mapm"
    printf 'runtime:\n  keep: %s\n' "$1" >"$XDG_CONFIG_HOME/mapm/config.yaml"
}
echo 'dependencies: {}' >mapm.yaml
asker=$T/asker
printf '#!/bin/sh\ncat >/dev/null\nprintf "%%s" "the answer"\n' >"$asker"
chmod +x "$asker"

metaskill small <<'STAR'
def run(input):
    print("a printed line")
    trace("looked", {"attempt": 1})
    r = ask("the prompt", {"purpose": "draft", "max_turns": 4})
    command(["echo", "one", "two", "three"])
    return {"status": input.get("status", "accepted"), "answer": r["answer"]}
STAR
metaskill broken <<'STAR'
def run(input):
    trace("before")
    return 1 // input["zero"]
STAR

# --- nothing yet -------------------------------------------------------------------

keep summary
exits 'nothing was run' 0 mapm runs
is 'nothing is listed' "$out" ''
like 'which is said' "$err" "nothing was run in $T/ws"
exits 'for programs' 0 mapm runs --json
is 'an empty list' "$(json 'd["schema"], d["runs"], d["workspace"]')" "('mapm.runs/1', [], '$T/ws')"
exits 'there is no last one' 1 mapm runs show
like 'which is said' "$err" 'nothing was run in'
exits 'nor any' 1 mapm runs show 7
like 'of that number' "$err" 'no run 7'
exits 'of all workspaces neither' 1 mapm runs show last --all

# --- a summary ------------------------------------------------------------------------

exits 'a run' 0 mapm run ./skills/small --input '{"status": "fine"}' \
    --ask "exec:$asker" --allow 'echo *'
exits 'is listed' 0 mapm runs
like 'with what it was' "$out" \
    '^ +1  [0-9-]{10} [0-9:]{8}  small +fine +1 ask, +1 command, +[0-9.]+ m?s$'
exits 'for programs' 0 mapm runs --json
is 'the same' "$(json '[(r["id"], r["status"], r["asks"], r["commands"], r["traces"], r["error"]) for r in d["runs"]]')" \
    "[(1, 'fine', 1, 1, 1, None)]"
like 'its start is a time' "$(json 'd["runs"][0]["started"]')" \
    '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{3}Z$'
exits 'it is shown' 0 mapm runs show 1
like 'name and status' "$out" '^run 1: small, fine$'
like 'budgets against limits' "$out" '^asks +1 of 5$'
like 'of each kind' "$out" '^commands +1 of 10$'
like 'traces' "$out" '^traces +1 of 100$'
like 'seconds' "$out" '^took +[0-9.]+ m?s of 300 s$'
like 'the trace' "$out" ' trace looked \{"attempt":1\}$'
like 'the ask' "$out" ' ask 1: draft \(.*10 B.*\)$'
like 'the first words of the command' "$out" ' command 1: echo one two \.\.\. \(exit 0'
unlike 'no more of them' "$out" 'three'
unlike 'no prompt' "$out" 'the prompt'
unlike 'no answer' "$out" 'the answer'
like 'and how to have them' "$err" 'runtime.keep: full'
summary=$out
exits 'it is the last one' 0 mapm runs show
is 'without a number' "$out" "$summary"
exits 'and by name' 0 mapm runs show last
is 'too' "$out" "$summary"
exits 'as JSON' 0 mapm runs show 1 --json
is 'the steps in order' \
    "$(json 'd["schema"], [s["kind"] for s in d["detail"]["steps"]]')" \
    "('mapm.run/1', ['trace', 'ask', 'command'])"
is 'without texts [K42]' "$(json '"untrusted" in json.dumps(d)')" no

# --- all of it --------------------------------------------------------------------------

keep full
exits 'a run of which all is kept' 0 mapm run ./skills/small --input '{"a": 1}' \
    --ask "exec:$asker" --allow 'echo *'
exits 'is shown' 0 mapm runs show -v
like 'with the prompt, as untrusted data [K42]' "$out" '^ +untrusted data, prompt \(10 B\):$'
like 'behind a bar' "$out" '^    \| the prompt$'
like 'the answer too' "$out" '^    \| the answer$'
like 'and the output' "$out" '^    \| one two three$'
like 'and what was printed' "$out" ' print a printed line$'
like 'the whole command' "$out" ' command 1: echo one two three \(exit 0'
exits 'as JSON' 0 mapm runs show --json
is 'under a name that says it' \
    "$(json '[s["answer"] for s in d["detail"]["steps"] if s["kind"] == "ask"]')" \
    "[{'bytes': 10, 'untrusted': 'the answer'}]"
exits 'not at once' 0 mapm runs show
unlike 'without being asked for' "$out" 'the answer'
like 'but how is said' "$err" '--verbose shows'

# --- what goes wrong ---------------------------------------------------------------------

exits 'a program that fails' 1 mapm run ./skills/broken --input '{"zero": 0}'
exits 'is in the history' 0 mapm runs show
like 'as an error' "$out" '^run 3: broken, error$'
like 'with it' "$out" '^    \| error: .*division'
like 'and where' "$out" 'SKILL.star:3'
like 'and what was before' "$out" ' trace before$'

metaskill slow <<'STAR'
def run(input):
    trace("under way")
    ask("wait")
STAR
printf '#!/bin/sh\ncat >/dev/null\n: >"%s/asked"\nexec sleep 60\n' "$T" >"$T/slow"
chmod +x "$T/slow"
# start: a run that waits for its answer, in $run.
start()
{
    rm -f "$T/asked"
    "$MAPM" run ./skills/slow --input '{"a": 1}' --ask "exec:$T/slow" \
        >/dev/null 2>&1 </dev/null &
    run=$!
    await test -e "$T/asked"
}
start
exits 'a run under way' 0 mapm runs --limit 1
like 'shows' "$out" '  slow +running '
exits 'its page' 0 mapm runs show --html -
like 'says so' "$out" 'It is still running'
kill -TERM $run
wait $run
exits 'one that was interrupted' 0 mapm runs show
like 'says so' "$out" '^run 4: slow, interrupted$'
like 'and what it was doing' "$out" ' ask 1.*did not finish|ask 1.*failed'
start
kill -KILL $run
wait $run 2>/dev/null
exits 'one that was killed' 0 mapm runs
like 'was interrupted' "$(printf '%s\n' "$out" | head -n 1)" ' 5 .* slow +interrupted .* -$'

# History that cannot be written is a warning, and the run runs.
MAPM_HOME=$T/nohistory "$MAPM" runs >/dev/null 2>&1
python3 -S -c 'import sqlite3, sys
d = sqlite3.connect(sys.argv[1])
d.execute("pragma user_version=99")
d.commit()' "$T/nohistory/mapm.db"
exits 'without history it runs' 0 env MAPM_HOME="$T/nohistory" "$MAPM" run \
    ./skills/small --input '{"a": 1}' --ask "exec:$asker" --allow 'echo *'
like 'and says so' "$err" '^warning: this run is not recorded'
like 'with its result' "$out" '"the answer"'

keep none
exits 'with keep: none' 0 mapm run ./skills/small --input '{"a": 1}' \
    --ask "exec:$asker" --allow 'echo *'
exits 'there is no new row' 0 mapm runs --json --limit 1
is 'the last one is the last one' "$(json 'd["runs"][0]["id"]')" 5

# --- workspaces, and the command line ------------------------------------------------------

mkdir "$T/other"
cp -R skills mapm.yaml "$T/other"
keep full
exits 'a run elsewhere' 0 mapm -C "$T/other" run ./skills/small --input '{"a": 1}' \
    --ask "exec:$asker" --allow 'echo *'
exits 'is not of this workspace' 0 mapm runs
unlike 'so it is not listed' "$out" '^ +6 '
exits 'but of all' 0 mapm runs --all
like 'with its workspace' "$(printf '%s\n' "$out" | head -n 1)" "^ +6 .*$T/other\$"
exits 'a few of them' 0 mapm runs --all --limit 2
is 'only' "$(printf '%s\n' "$out" | wc -l | tr -d ' ')" 2
exits 'a number is one' 0 mapm runs show 6
for bad in 0 x -1 1.5 999999999999; do
    exits "--limit $bad" 2 mapm runs --limit $bad
done
exits 'an unknown command' 2 mapm runs frob
exits 'no number' 2 mapm runs show first
exits 'a page of all' 2 mapm runs --html x.html
exits 'two documents at once' 2 mapm runs show 1 --html - --json
exits 'a file without a name' 2 mapm runs show 1 --html ''

# --- the page ---------------------------------------------------------------------------------

mkdir "$T/pages"
exits 'a page' 0 mapm runs show 1 --html "$T/pages/one.html"
is 'says where' "$out" "wrote $T/pages/one.html"
is 'is private' "$(stat -c %a "$T/pages/one.html")" 600
exits 'on standard output' 0 mapm runs show 1 --html -
is 'the same' "$out" "$(cat "$T/pages/one.html")"
exits 'it replaces a file' 0 mapm runs show 1 --html "$T/pages/one.html"
ln -s "$T/pages/one.html" "$T/pages/link.html"
isnt 'not what a link leads to' "$(run mapm runs show 1 --html "$T/pages/link.html"; echo $status)" 0
rm "$T/pages/link.html"
exits 'a folder that is not there' 1 mapm runs show 1 --html nowhere/x.html
like 'is named' "$err" 'nowhere/x.html'
exits 'with JSON both' 0 mapm runs show 1 --html "$T/pages/one.html" --json
is 'are there' "$(json 'd["id"]')" 1

# What a hostile program, model and command say, wherever it can get to.
evil='<script>parent.pwned=1</script><img src=http://evil.example/x onerror=parent.pwned=1>'
hostile="$T/<img src=x onerror=parent.pwned=2>"
mkdir "$hostile"
cp -R skills mapm.yaml "$hostile"
cd "$hostile" || exit 1
cat >"$T/evil" <<SH
#!/bin/sh
cat >/dev/null
printf '%s' '$evil</pre></figure></main>'
printf '"\047><svg/onload=parent.pwned=3> \033[31m \001 \342\200\256 \360\237\221\215 \377'
printf '</style><style>*{display:none}</style><!-- <base href=//evil.example>'
SH
chmod +x "$T/evil"
metaskill hostile <<STAR
EVIL = '$evil'
def run(input):
    wide = "W" * 3000
    print(EVIL)
    trace(EVIL, {EVIL: [EVIL, "\\u202e\\u0007", wide]})
    trace("\\"'>" + EVIL)
    a = ask(EVIL + wide, {"purpose": "\\"><svg onload=parent.pwned=4>" + wide})
    command(["echo", EVIL, a["answer"], wide])
    command([EVIL, "javascript:parent.pwned=5"])
    return {"status": EVIL, "answer": a["answer"] + wide}
STAR
exits 'a hostile run' 0 mapm run ./skills/hostile \
    --input '{"</title><script>parent.pwned=6</script>": 1}' \
    --ask "exec:$T/evil" --allow 'echo *'
exits 'is listed' 0 mapm runs
unlike 'with its controls visible [row 7]' "$out" "$(printf '\033')"
exits 'and shown' 0 mapm runs show -v
unlike 'with its controls visible, too' "$out" "$(printf '\033|\342\200\256')"
is 'no line of it passes for ours [row 22]' \
    "$(printf '%s\n' "$out" | grep -c '^run ')" 1
exits 'a page of it' 0 mapm runs show --html "$T/pages/hostile.html"
cd "$T/ws" || exit 1

# 115 steps, which is as many as there are by default; and a long output.
metaskill many <<'STAR'
def run(input):
    for i in range(5):
        ask("prompt %d" % i, {"purpose": "round %d" % i})
        for k in range(2):
            command(["seq", "1", "3000"])
        for k in range(20):
            trace("looked-at", {"round": i, "index": k, "files": ["a.c", "b.c"]})
    return {"status": "exhausted"}
STAR
exits 'a long run' 0 mapm run ./skills/many --input '{"a": 1}' \
    --ask "exec:$asker" --allow 'seq *'
exits 'its page' 0 mapm runs show --html "$T/pages/many.html"

# A page as bad as can be: the browser's report would say so.
cat >"$T/pages/bad.html" <<HTML
<!doctype html><title>bad</title><body><p style="width:900px">wide</p>
$evil<details><p>closed</p></details><script>console.error("said")</script>
HTML

chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -z "$chromium" ]; then
    skip 'pages in a browser' 'chromium is not installed'
    done_testing
fi
p=$T/pages
if ! python3 -S "$ROOT/tests/lib/browser.py" "$chromium" "$T" "light:$p/one.html" \
    "light:$p/hostile.html" "light:$p/many.html" "dark:$p/one.html" \
    "paper:$p/one.html" "paper:$p/many.html" >"$T/seen" 2>"$T/browser.err"; then
    fail 'the browser looked at the pages'
    diag "$(tail -n 20 "$T/browser.err")"
    done_testing
fi
out=$(cat "$T/seen")
# pages WHAT KEY WANT: of one, hostile and many.
pages()
{
    is "$1" "$(json "[p['$2'] for p in d['pages'].values()]")" "$3"
}
is 'no script of a page runs' "$(json 'd["pwned"]')" None
is 'pages load nothing from the network' "$(json 'd["foreign"]')" '[]'
is 'no page complains' "$(json 'd["console"]')" '[]'
pages 'nothing in them is active' active '[0, 0, 0]'
pages 'a phone has no need to scroll sideways' wide_closed '[360, 360, 360]'
pages 'nor with all details open' wide_open '[360, 360, 360]'
is 'each step has details' "$(json "d['pages']['many.html']['details']")" 115
is 'light is light' "$(json "all(p['light'] > 200 for p in d['pages'].values())")" yes
is 'dark is dark' "$(json "all(p['dark'] < 60 for p in d['pages'].values())")" yes
is 'one step is one sheet' "$(json "d['pages']['one.html']['paper'] <= 2")" yes
is 'on paper all details are open' \
    "$(json "40 < d['pages']['many.html']['paper'] < 800")" yes
like 'the title is the name' "$(json "d['pages']['hostile.html']['title']")" \
    '^hostile - mapm run [0-9]+$'

if python3 -S "$ROOT/tests/lib/browser.py" "$chromium" "$T" "light:$p/bad.html" \
    >"$T/seen" 2>"$T/browser.err"; then
    out=$(cat "$T/seen")
    bad='d["pages"]["bad.html"]'
    is 'a bad page would be found out: its script' "$(json 'd["pwned"]')" 1
    is 'what it asks for' "$(json 'len(d["foreign"]) > 0')" yes
    is 'what it complains of' "$(json 'len(d["console"]) > 0')" yes
    is 'what is active' "$(json "$bad['active'] > 0")" yes
    is 'and how wide it is' "$(json "$bad['wide_closed'] > 360")" yes
else
    fail 'a bad page would be found out'
    diag "$(tail -n 20 "$T/browser.err")"
fi
done_testing
