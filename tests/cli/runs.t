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
exits 'runs without a run succeeds' 0 mapm runs
is 'runs without a run prints no list' "$out" ''
like 'runs without a run reports that nothing was run' "$err" "nothing was run in $T/ws"
exits 'runs --json without a run succeeds' 0 mapm runs --json
is 'runs --json without a run has an empty list' "$(json 'd["schema"], d["runs"], d["workspace"]')" "('mapm.runs/1', [], '$T/ws')"
exits 'runs show without a run fails' 1 mapm runs show
like 'the error says that nothing was run' "$err" 'nothing was run in'
exits 'runs show of an unknown number fails' 1 mapm runs show 7
like 'the error names the unknown number' "$err" 'no run 7'
exits 'runs show last --all without a run fails' 1 mapm runs show last --all

# --- a summary ------------------------------------------------------------------------

exits 'run of a metaskill with keep: summary succeeds' 0 mapm run ./skills/small --input '{"status": "fine"}' \
    --ask "exec:$asker" --allow 'echo *'
exits 'runs after a run succeeds' 0 mapm runs
like 'runs lists number, time, name, status and budgets' "$out" \
    '^ +1  [0-9-]{10} [0-9:]{8}  small +fine +1 ask, +1 command, +[0-9.]+ m?s$'
exits 'runs --json after a run succeeds' 0 mapm runs --json
is 'runs --json has the same status and budgets' "$(json '[(r["id"], r["status"], r["asks"], r["commands"], r["traces"], r["error"]) for r in d["runs"]]')" \
    "[(1, 'fine', 1, 1, 1, None)]"
like 'runs --json has the start as a time in UTC' "$(json 'd["runs"][0]["started"]')" \
    '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{3}Z$'
exits 'runs show with a number succeeds' 0 mapm runs show 1
like 'runs show has the name and the status' "$out" '^run 1: small, fine$'
like 'runs show has the asks against their limit' "$out" '^asks +1 of 5$'
like 'runs show has the commands against their limit' "$out" '^commands +1 of 10$'
like 'runs show has the traces against their limit' "$out" '^traces +1 of 100$'
like 'runs show has the time against its limit' "$out" '^took +[0-9.]+ m?s of 300 s$'
like 'runs show has the trace with its data' "$out" ' trace looked \{"attempt":1\}$'
like 'runs show has the ask with its purpose' "$out" ' ask 1: draft \(.*10 B.*\)$'
like 'runs show has the first three words of a command' "$out" ' command 1: echo one two \.\.\. \(exit 0'
unlike 'a summary leaves out further words of a command' "$out" 'three'
unlike 'a summary leaves out the prompt' "$out" 'the prompt'
unlike 'a summary leaves out the answer' "$out" 'the answer'
like 'runs show of a summary suggests runtime.keep: full' "$err" 'runtime.keep: full'
summary=$out
exits 'runs show without a number succeeds' 0 mapm runs show
is 'runs show without a number shows the last run' "$out" "$summary"
exits 'runs show last succeeds' 0 mapm runs show last
is 'runs show last shows the last run' "$out" "$summary"
exits 'runs show --json succeeds' 0 mapm runs show 1 --json
is 'runs show --json has the steps in order' \
    "$(json 'd["schema"], [s["kind"] for s in d["detail"]["steps"]]')" \
    "('mapm.run/1', ['trace', 'ask', 'command'])"
is 'runs show --json of a summary has no texts [K42]' "$(json '"untrusted" in json.dumps(d)')" no

# --- all of it --------------------------------------------------------------------------

keep full
exits 'run of a metaskill with keep: full succeeds' 0 mapm run ./skills/small --input '{"a": 1}' \
    --ask "exec:$asker" --allow 'echo *'
exits 'runs show -v of a full run succeeds' 0 mapm runs show -v
like 'runs show -v labels the prompt as untrusted data [K42]' "$out" '^ +untrusted data, prompt \(10 B\):$'
like 'runs show -v puts a bar before the prompt' "$out" '^    \| the prompt$'
like 'runs show -v has the answer' "$out" '^    \| the answer$'
like 'runs show -v has the output of a command' "$out" '^    \| one two three$'
like 'runs show -v has a printed line' "$out" ' print a printed line$'
like 'runs show -v has the whole command' "$out" ' command 1: echo one two three \(exit 0'
exits 'runs show --json of a full run succeeds' 0 mapm runs show --json
is 'runs show --json has the answer under the key untrusted' \
    "$(json '[s["answer"] for s in d["detail"]["steps"] if s["kind"] == "ask"]')" \
    "[{'bytes': 10, 'untrusted': 'the answer'}]"
exits 'runs show without -v of a full run succeeds' 0 mapm runs show
unlike 'runs show without -v leaves out the answer' "$out" 'the answer'
like 'runs show without -v suggests --verbose' "$err" '--verbose shows'

# --- what goes wrong ---------------------------------------------------------------------

exits 'run of a metaskill with an error fails' 1 mapm run ./skills/broken --input '{"zero": 0}'
exits 'runs show of a failed run succeeds' 0 mapm runs show
like 'runs show has the status error' "$out" '^run 3: broken, error$'
like 'runs show has the message of the error' "$out" '^    \| error: .*division'
like 'runs show has the line of the error' "$out" 'SKILL.star:3'
like 'runs show has the trace before the error' "$out" ' trace before$'

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
exits 'runs during a run succeeds' 0 mapm runs --limit 1
like 'runs lists a run under way as running' "$out" '  slow +running '
exits 'runs show --html during a run succeeds' 0 mapm runs show --html -
like 'the page of a run under way says that it is still running' "$out" 'It is still running'
kill -TERM $run
wait $run
exits 'runs show of a run ended by SIGTERM succeeds' 0 mapm runs show
like 'runs show has the status interrupted' "$out" '^run 4: slow, interrupted$'
like 'runs show has the ask that did not finish' "$out" ' ask 1.*did not finish|ask 1.*failed'
start
kill -KILL $run
wait $run 2>/dev/null
exits 'runs after a run was killed succeeds' 0 mapm runs
like 'runs lists a killed run as interrupted' "$(printf '%s\n' "$out" | head -n 1)" ' 5 .* slow +interrupted .* -$'

# History that cannot be written is a warning, and the run runs.
MAPM_HOME=$T/nohistory "$MAPM" runs >/dev/null 2>&1
python3 -S -c 'import sqlite3, sys
d = sqlite3.connect(sys.argv[1])
d.execute("pragma user_version=99")
d.commit()' "$T/nohistory/mapm.db"
exits 'run without a usable history succeeds' 0 env MAPM_HOME="$T/nohistory" "$MAPM" run \
    ./skills/small --input '{"a": 1}' --ask "exec:$asker" --allow 'echo *'
like 'run without a usable history warns that it is not recorded' "$err" '^warning: this run is not recorded'
like 'run without a usable history prints its result' "$out" '"the answer"'

keep none
exits 'run with keep: none succeeds' 0 mapm run ./skills/small --input '{"a": 1}' \
    --ask "exec:$asker" --allow 'echo *'
exits 'runs after a run with keep: none succeeds' 0 mapm runs --json --limit 1
is 'a run with keep: none is not recorded' "$(json 'd["runs"][0]["id"]')" 5

# --- workspaces, and the command line ------------------------------------------------------

mkdir "$T/other"
cp -R skills mapm.yaml "$T/other"
keep full
exits 'run in another workspace succeeds' 0 mapm -C "$T/other" run ./skills/small --input '{"a": 1}' \
    --ask "exec:$asker" --allow 'echo *'
exits 'runs succeeds after a run in another workspace' 0 mapm runs
unlike 'runs leaves out the run of another workspace' "$out" '^ +6 '
exits 'runs --all succeeds' 0 mapm runs --all
like 'runs --all lists the run with its workspace' "$(printf '%s\n' "$out" | head -n 1)" "^ +6 .*$T/other\$"
exits 'runs --all --limit succeeds' 0 mapm runs --all --limit 2
is 'runs --limit prints as many runs' "$(printf '%s\n' "$out" | wc -l | tr -d ' ')" 2
exits 'runs show accepts the number of a run in another workspace' 0 mapm runs show 6
for bad in 0 x -1 1.5 999999999999; do
    exits "runs --limit $bad is a usage error" 2 mapm runs --limit $bad
done
exits 'an unknown subcommand of runs is a usage error' 2 mapm runs frob
exits 'runs show with a word in place of a number is a usage error' 2 mapm runs show first
exits 'runs --html without show is a usage error' 2 mapm runs --html x.html
exits 'runs show with --html - and --json is a usage error' 2 mapm runs show 1 --html - --json
exits 'runs show --html with an empty file name is a usage error' 2 mapm runs show 1 --html ''

# --- the page ---------------------------------------------------------------------------------

mkdir "$T/pages"
exits 'runs show --html with a file succeeds' 0 mapm runs show 1 --html "$T/pages/one.html"
is 'runs show --html reports the file' "$out" "wrote $T/pages/one.html"
is 'the page is readable by the user only' "$(stat -c %a "$T/pages/one.html")" 600
exits 'runs show --html on standard output succeeds' 0 mapm runs show 1 --html -
is 'the page on standard output equals the file' "$out" "$(cat "$T/pages/one.html")"
exits 'runs show --html replaces an existing file' 0 mapm runs show 1 --html "$T/pages/one.html"
ln -s "$T/pages/one.html" "$T/pages/link.html"
isnt 'runs show --html refuses to write through a link' "$(run mapm runs show 1 --html "$T/pages/link.html"; echo $status)" 0
rm "$T/pages/link.html"
exits 'runs show --html into an absent folder fails' 1 mapm runs show 1 --html nowhere/x.html
like 'the error names the file in the absent folder' "$err" 'nowhere/x.html'
exits 'runs show with --html FILE and --json succeeds' 0 mapm runs show 1 --html "$T/pages/one.html" --json
is 'the JSON beside a page has the number of the run' "$(json 'd["id"]')" 1

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
exits 'run of a hostile metaskill succeeds' 0 mapm run ./skills/hostile \
    --input '{"</title><script>parent.pwned=6</script>": 1}' \
    --ask "exec:$T/evil" --allow 'echo *'
exits 'runs in a hostile workspace succeeds' 0 mapm runs
unlike 'runs prints no escape characters [row 7]' "$out" "$(printf '\033')"
exits 'runs show -v of a hostile run succeeds' 0 mapm runs show -v
unlike 'runs show -v prints no control characters' "$out" "$(printf '\033|\342\200\256')"
is 'one line alone begins as the title of a run [row 22]' \
    "$(printf '%s\n' "$out" | grep -c '^run ')" 1
exits 'runs show --html of a hostile run succeeds' 0 mapm runs show --html "$T/pages/hostile.html"
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
exits 'run with 115 steps succeeds' 0 mapm run ./skills/many --input '{"a": 1}' \
    --ask "exec:$asker" --allow 'seq *'
exits 'runs show --html of a run with 115 steps succeeds' 0 mapm runs show --html "$T/pages/many.html"

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
    fail 'the browser loads the pages'
    diag "$(tail -n 20 "$T/browser.err")"
    done_testing
fi
out=$(cat "$T/seen")
# pages WHAT KEY WANT: of one, hostile and many.
pages()
{
    is "$1" "$(json "[p['$2'] for p in d['pages'].values()]")" "$3"
}
is 'no script in a page runs' "$(json 'd["pwned"]')" None
is 'pages load nothing from the network' "$(json 'd["foreign"]')" '[]'
is 'no page causes a message in the console' "$(json 'd["console"]')" '[]'
pages 'the pages have no active element' active '[0, 0, 0]'
pages 'the pages need no sideways scrolling on a phone' wide_closed '[360, 360, 360]'
pages 'the pages with all details open need no sideways scrolling' wide_open '[360, 360, 360]'
is 'each step of a page has details' "$(json "d['pages']['many.html']['details']")" 115
is 'the light theme has light pages' "$(json "all(p['light'] > 200 for p in d['pages'].values())")" yes
is 'the dark theme has dark pages' "$(json "all(p['dark'] < 60 for p in d['pages'].values())")" yes
is 'a run with three steps prints on at most two sheets' "$(json "d['pages']['one.html']['paper'] <= 2")" yes
is 'all details are open on paper' \
    "$(json "40 < d['pages']['many.html']['paper'] < 800")" yes
like 'the title of the page is the name of the run' "$(json "d['pages']['hostile.html']['title']")" \
    '^hostile - mapm run [0-9]+$'

if python3 -S "$ROOT/tests/lib/browser.py" "$chromium" "$T" "light:$p/bad.html" \
    >"$T/seen" 2>"$T/browser.err"; then
    out=$(cat "$T/seen")
    bad='d["pages"]["bad.html"]'
    is 'the browser detects a script in a bad page' "$(json 'd["pwned"]')" 1
    is 'the browser detects a foreign request of a bad page' "$(json 'len(d["foreign"]) > 0')" yes
    is 'the browser detects a console message of a bad page' "$(json 'len(d["console"]) > 0')" yes
    is 'the browser detects an active element of a bad page' "$(json "$bad['active'] > 0")" yes
    is 'the browser detects the width of a bad page' "$(json "$bad['wide_closed'] > 360")" yes
else
    fail 'the browser loads a bad page'
    diag "$(tail -n 20 "$T/browser.err")"
fi
done_testing
