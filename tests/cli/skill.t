#!/bin/sh
# `mapm skill`: the library from a terminal. [T1, T10, T13, T14, T15, T16, T17, T18]
# [T19, T20, T21, T22, T23, T26, T27, L3, L4, L5, L6, L7, L8, L9, L11, L12, L13]
# [L14, L15, K14, K18, K41, X7, X8, X23, X25, X26, X28, A4].
. "$(dirname "$0")/../lib/cli.sh"

# json PYTHON-EXPRESSION: of $out, the document d.
json()
{
    printf '%s\n' "$out" | python3 -S -c '
import json, sys
d = json.load(sys.stdin)
r = eval(sys.argv[1])
print("yes" if r is True else "no" if r is False else r)' "$1" 2>&1
}
# body FOLDER CHARACTERS: a skill whose body has so many.
body()
{
    mkdir -p "$1"
    {
        printf -- '---\nname: %s\ndescription: A body of %s.\n---\n' "${1##*/}" "$2"
        head -c "$2" /dev/zero | tr '\0' x
    } >"$1/SKILL.md"
}
W=.agents/skills G=$MAPM_HOME/global/.agents/skills

# --- nothing --------------------------------------------------------------------

exits 'without any folder [T1]' 0 mapm skill list
is 'there is nothing' "$out" ''
like 'which is said' "$err" 'no skills here'
exits 'no index either [T15]' 0 mapm skill index
is 'is printed' "$out" ''
exits 'nor a hit' 0 mapm skill search x
is 'in the words of [T17]' "$out" "No skills matched 'x'."
exits 'a named folder has to be there [X7]' 1 mapm skill list --root nowhere
like 'and is named' "$err" 'nowhere'
exits 'for programs' 0 mapm skill list --json
is 'an empty list' "$(json 'd["schema"], d["command"], d["skills"]')" \
    "('mapm.skill/1', 'list', [])"

# --- what is where ----------------------------------------------------------------

skill $W/pdf-processing 'description: Extract PDF text, fill forms, merge files.' \
    'license: MIT' 'model: inherit' 'agent: Explore' 'context: fork' \
    'compatibility: needs poppler' 'allowed-tools: Read Bash(git:*)' \
    'metadata:' '  author: ann' '  tags: a, b' '  level: 1.10' \
    'x_extra: {deep: [1, {er: [2]}], none: {}}'
mkdir -p $W/pdf-processing/scripts $W/pdf-processing/references
printf 'print(1)\n' >$W/pdf-processing/scripts/run.py
chmod +x $W/pdf-processing/scripts/run.py
printf 'a form\n' >$W/pdf-processing/references/forms.md
skill "$G/pdf-processing" 'description: The global one.'
skill "$G/review" 'description: |' '  Run a review' '  of the PDF branch.'
skill .claude/skills/claude-one
skill .swival/skills/swival-one
skill "$HOME/.agents/skills/home-one"
skill "$HOME/.config/swival/skills/swival-home"
skill "$HOME/.metis/skills/metis-one"
skill .metis/skills/metis-two
skill further/extra-one
skill further/review 'description: Of a further folder.'
ln -s "../../$W/pdf-processing" .claude/skills/pdf-processing

exits 'list' 0 mapm skill list
is 'names all, sorted [T14, K14]' "$(printf '%s\n' "$out" | sed 's/ .*//' | tr '\n' ' ')" \
    'claude-one home-one pdf-processing review swival-home swival-one '
like 'with its source' "$out" '^pdf-processing  workspace  Extract PDF text'
like 'of many lines one [X25]' "$out" '^review +global +Run a review of the PDF branch\.$'
is 'what wins is said [T13]' "$err" \
    "skill 'pdf-processing' in workspace overrides global definition"
exits 'not when it is quiet' 0 mapm -q skill list
is 'then nothing is said' "$err" ''
exits 'the folders of Metis' 0 mapm skill list --profile metis
like 'are read with its profile, the global' "$out" '^metis-one +global'
like 'and the workspace one' "$out" '^metis-two +workspace'
exits 'a further folder' 0 mapm skill list --root further
like 'is read, too' "$out" '^extra-one +global '
like 'and stronger than the global one [X23]' "$out" '^review +global +Of a further'
exits 'other roots' 0 mapm skill list --workspace-root further --global-root "$G"
is 'instead of the usual ones [X8]' "$(printf '%s\n' "$out" | sed 's/  .*//' | tr '\n' ' ')" \
    'extra-one pdf-processing review '
exits 'a folder without a name' 2 mapm skill list --root ''
exits 'elsewhere' 0 mapm -C / skill list -q
like 'the global ones are there [T27]' "$out" '^review +global'

mkdir -p $W/broken $W/no-anchor
echo 'no frontmatter' >$W/broken/SKILL.md
exits 'a broken one' 0 mapm skill list
like 'is told [T10]' "$err" '^warning: skipping invalid skill at .*/broken/SKILL\.md'
like 'and the rest is there' "$out" '^review '
mkdir -p .claude/skills && ln -s "$PWD/$W/broken" .claude/skills/broken
touch -d '1 hour ago' $W/broken/SKILL.md
exits 'and linked for a client' 0 mapm skill list
is 'is told once [T10, D18]' "$(printf '%s\n' "$err" | grep -c 'invalid skill')" 1
rm .claude/skills/broken
rm -r $W/broken $W/no-anchor

# --- search, match -----------------------------------------------------------------

exits 'search' 0 mapm -q skill search PDF
is 'by name, then by description [T16, T17]' "$out" "Skills matching 'PDF' (2):
- pdf-processing [workspace] — Extract PDF text, fill forms, merge files.
- review [global] — Run a review of the PDF branch."
exits 'for programs' 0 mapm -q skill search pdf --json
is 'with the metadata of [T17]' \
    "$(json 'd["query"], d["result_count"], d["result_names"], 1 >= d["results"][0]["score"] > d["results"][1]["score"] > 0')" \
    "('pdf', 2, ['pdf-processing', 'review'], True)"
exits 'as Metis' 0 mapm -q skill search pdf --json --profile metis
is 'with its scores [T16, G1]' "$(json '[r["score"] for r in d["results"]]')" '[3, 1]'
like 'and the text as it is' "$(json 'd["results"][1]["description"]')" '^Run a review$'
exits 'a few' 0 mapm -q skill search --limit 1 pdf
is 'only' "$out" "Skills matching 'pdf' (1):
- pdf-processing [workspace] — Extract PDF text, fill forms, merge files."
exits 'a blank query' 0 mapm -q skill search --limit 2 '  '
like 'lists the first ones' "$out" '^- home-one '
for bad in 0 51 x -1 1.5; do
    exits "--limit $bad [T16]" 2 mapm skill search --limit $bad pdf
done
exits 'match [L11]' 0 mapm -q skill match please fill this form for me
like 'says how well it fits, and why' "$out" '^0\.[0-9]{2}  pdf-processing \[workspace\]  fill, form$'
exits 'a higher mark' 0 mapm -q skill match --min-score 1 fill a form
is 'is not reached [X26]' "$out" ''
exits 'one named' 0 mapm -q skill match 'use $review for this' --json
is 'counts whole [K18]' "$(json 'd["results"][0]["name"], d["results"][0]["score"], d["results"][0]["explicit"]')" \
    "('review', 1, True)"
exits 'as a command' 0 mapm -q skill match /review main branch --json
is 'too, with its arguments [L12]' "$(json 'd["result_names"][0], d["arguments"]')" \
    "('review', 'main branch')"
for bad in -1 2 1.1 x 0. .5; do
    exits "--min-score $bad" 2 mapm skill match "--min-score=$bad" x
done

# --- index ----------------------------------------------------------------------------

skill $W/only-me 'disable-model-invocation: true'
skill $W/think 'mode: true' 'description: Think first.'
skill $W/fix 'description: Fix tests.' 'metaskill: SKILL.star'
printf 'def run(input):\n    return 1\n' >$W/fix/SKILL.star
exits 'index' 0 mapm -q skill index --workspace-root $W --global-root "$G"
is 'is the block of [T15, K15, X28]' "$(printf '%s\n' "$out" | head -n 6)" \
    '## Available skills
Use `skill_search(query)` to filter and `skill_load(name)` to read a body.

- fix: Fix tests. (metaskill: starlark)
- pdf-processing: Extract PDF text, fill forms, merge files.
- review: Run a review of the PDF branch.'
is 'with the modes behind it [L7]' "$(printf '%s\n' "$out" | sed 1,6d | grep .)" \
    '## Mode Commands
- think: Think first.'
exits 'as Metis has it' 0 mapm -q skill index --profile metis --workspace-root $W --global-root "$G"
is 'it is [T15] alone' "$(printf '%s\n' "$out" | sed -n '4,5p')" \
    '- fix: Fix tests.
- only-me: The only-me package of a test, used by it.'
exits 'so many characters' 0 mapm -q skill index --max-chars 200 --json
is 'are not passed [T31]' "$(json 'd["chars"] <= 200 and d["left_out"] > 0')" yes
for bad in 0 x -5; do
    exits "--max-chars $bad" 2 mapm skill index --max-chars $bad
done
exits 'less than its header takes' 2 mapm skill index --max-chars 100
like 'and how many that are' "$err" 'needs [0-9]+ characters for its header'
exits 'what only a person starts' 0 mapm -q skill search only-me
like 'a person finds [L6, G1]' "$out" '^- only-me \[workspace\]'
run mapm -q skill match only me
is 'no request does' "$out" ''
exits 'but the list' 0 mapm -q skill list
like 'has it' "$out" '^only-me .*\(yours alone\)$'
like 'with what the others are' "$out" '^fix .*\(metaskill\)$'
like 'modes, too' "$out" '^think .*\(mode\)$'
exits 'and its user loads it' 0 mapm -q skill load only-me
like 'as any other' "$out" '^# Skill: only-me \(source: workspace\)$'

# --- load -------------------------------------------------------------------------------

exits 'load' 0 mapm -q skill load pdf-processing
is 'is the text of [T18]' "$out" "# Skill: pdf-processing (source: workspace)

# pdf-processing

Do what pdf-processing does."
exits 'for programs' 0 mapm -q skill load pdf-processing --json
is 'with the metadata of [T19]' \
    "$(json 'sorted(d["loads"][0]), d["loads"][0]["skill_id"], d["loads"][0]["source"], d["session"]')" \
    "(['load_size_tokens', 'skill_id', 'skill_version', 'source', 'text'], 'pdf-processing', 'workspace', None)"
is 'version and size are those of the body [T11, T12]' \
    "$(json '(d["loads"][0]["skill_version"], d["loads"][0]["load_size_tokens"])')" \
    "$(python3 -S -c '
import hashlib, sys
t = open(sys.argv[1]).read().split("---\n", 2)[2].lstrip("\n")
print((hashlib.sha256(t.encode()).hexdigest()[:16], max(1, len(t) // 4)))' $W/pdf-processing/SKILL.md)"
exits 'an unknown one' 1 mapm -q skill load pdf-procesing
like 'in the words of [T18]' "$err" "^mapm: no skill registered with name 'pdf-procesing'\$"
like 'and a near one' "$err" 'did you mean pdf-processing'
exits 'for a person [K41, L13]' 0 mapm -q skill load --as user pdf-processing
is 'it has the words around it' "$out" "[Skill: pdf-processing activated]

<skill-instructions>
# pdf-processing

Do what pdf-processing does.
</skill-instructions>

Skill directory: $PWD/$W/pdf-processing
Supporting files:
- references/forms.md
- scripts/run.py"
exits 'for a system prompt' 0 mapm -q skill load --as system review
is 'it is the section of [T26]' "$out" "### Skill: review

# review

Do what review does."
exits 'an unknown form' 2 mapm skill load --as model review
exits 'as a command [L12]' 0 mapm -q skill load /review the main branch
like 'it is loaded' "$out" '^# Skill: review '
like 'with its arguments' "$out" '^Arguments: the main branch$'
exits 'the same as one word' 0 mapm -q skill load '/review the main branch' --json
is 'for programs' "$(json 'd["loads"][0]["arguments"]')" 'the main branch'
exits 'one that is not there' 1 mapm -q skill load /nothing x
like 'is told' "$err" "no skill registered with name 'nothing'"
exits 'mentions [K18]' 0 mapm -q skill load 'use $review and $pdf-processing, cost$think $review' --json
is 'each once, in order' "$(json '[l["skill_id"] for l in d["loads"]]')" \
    "['review', 'pdf-processing']"
exits 'none' 1 mapm -q skill load 'costs $5'
like 'is told, too' "$err" 'no skill is mentioned'
exits 'several' 0 mapm -q skill load review think
is 'are all there' "$(printf '%s\n' "$out" | grep -c '^# Skill: ')" 2
exits 'of which one is not' 1 mapm -q skill load review nothing
is 'none is' "$out" ''
exits 'Metis knows names alone' 1 mapm -q skill load --profile metis '/review'
like 'and says so' "$err" "no skill registered with name '/review'"
printf -- '---\nname: raw\ndescription: Raw.\n---\nA\tB\033[31m\302\240end' >"$T/raw"
mkdir $W/raw && cp "$T/raw" $W/raw/SKILL.md
mapm -q skill load raw >"$T/out" 2>/dev/null
is 'bytes are as they are' "$(tail -n 1 "$T/out")" "$(tail -n 1 "$T/raw")"
rm -r $W/raw

# --- sessions --------------------------------------------------------------------------------

exits 'in a session [T21]' 0 mapm -q skill load --session one review
like 'the first time the body' "$out" '^# review$'
exits 'again' 0 mapm -q skill load --session one review
is 'a pointer [T20]' "$out" "# Skill: review (source: global)

This skill is already loaded in the conversation history (activated earlier this session). Re-read the earlier \`tool_result\` for \`skill_load(\"review\")\` for its operating instructions."
exits 'for programs' 0 mapm -q skill load --session one review think --json
is 'with what there is left' \
    "$(json '(d["session"]["activations"], d["session"]["max_activations"], d["session"]["max_tokens"], [l.get("already_loaded") for l in d["loads"]])')" \
    "(2, 20, 100000, [True, None])"
is 'one event for each body [T23]' \
    "$(mapm events --json --session one | grep -c '"skill.loaded"')" 2
for name in a b c d; do body "big/$name" 16000; done
metis="mapm -q skill load --profile metis --workspace-root big"
for name in a b c; do
    exits "$name of the three of Metis" 0 $metis --session m $name
done
like 'with its warning at the third' "$err" '^warning: .*12000'
exits 'the fourth' 1 $metis --session m d
is 'in the words of [T22]' "$err" "mapm: activation budget exhausted: 3 skills already activated this session (limit 3). Already loaded: ['a', 'b', 'c']. To free budget, start a fresh session or summarize and discard previously loaded skill bodies."
exits 'all at once' 1 $metis --session fresh a b c d
like 'is none of them' "$err" '^  hint: the 3 before it were not loaded either: ask for fewer$'
exits 'so that one is its first' 0 $metis --session fresh a
unlike 'with its text' "$out" 'already loaded'
exits 'what is loaded' 0 $metis --session m a
like 'still has its pointer' "$out" 'already loaded in the conversation history'
body big/e 60000 && body big/f 60004
exits 'half of the tokens' 0 $metis --session t e
exits 'and a little more than the rest' 1 $metis --session t f
is 'in the words of [T22], too' "$(printf '%s\n' "$err" | tail -n 1)" "mapm: activation token cap exhausted: loading 'f' would bring cumulative activation tokens to 30001 (cap 30000). Already loaded: ['e']."
is 'what was refused is no event' \
    "$(mapm events --json --session t | grep -c '"skill.loaded"')" 1
echo 'limits: {session_max_activations: 1}' >mapm.yaml
exits 'a workspace may want less' 0 mapm -q skill load --session w review
exits 'and gets it' 1 mapm -q skill load --session w think
like 'with its number' "$err" 'limit 1\)'
rm mapm.yaml
exits 'all of them or none' 1 mapm -q skill load --session n review nothing
exits 'in the budget, too' 0 mapm -q skill load --session n review
like 'so that it is the first time' "$out" '^# review$'
exits 'a session without a name' 2 mapm skill load --session '' review
exits 'or with a line' 2 mapm skill load --session 'a
b' review
# Two at once do not spend the same budget twice.
for i in 1 2 3 4 5 6 7 8; do
    body "many/n$i" 100
done
for i in 1 2 3 4 5 6 7 8; do
    mapm -q skill load --profile metis --workspace-root many --session race n$i \
        >"$T/race.$i" 2>/dev/null &
done
wait
is 'eight at once, three are loaded' "$(cat "$T"/race.* | grep -c '^# Skill: ')" 3

exits 'preloaded' 0 mapm -q skill index --preload --session p --workspace-root $W --global-root "$G"
like 'bodies are in the index [T26]' "$out" '^### Skill: pdf-processing$'
like 'and marked' "$out" '^- pdf-processing \[preloaded\]: '
before=$(mapm events --json --session p | grep -c '"always"')
isnt 'each is an event' "$before" 0
run mapm -q skill index --preload --session p --workspace-root $W --global-root "$G"
is 'once' "$(mapm events --json --session p | grep -c '"always"')" "$before"
exits 'such a skill' 0 mapm -q skill load --session p pdf-processing
is 'is pointed to [T20]' "$out" "# Skill: pdf-processing (source: workspace)

This skill's body is already loaded in the system prompt (pre-activated at session start). Re-read the system prompt section \`### Skill: pdf-processing\` for its operating instructions."

# --- show, files -----------------------------------------------------------------------------

exits 'show [L3, L4, L5, L6, L7, L8]' 0 mapm -q skill show pdf-processing
for line in 'name +pdf-processing' 'version +1\.0\.0' 'license +MIT' 'model +inherit' \
    'agent +Explore' 'context +fork' 'compatibility +needs poppler' \
    'allowed-tools +Read Bash\(git:\*\)' 'metadata +author: ann' ' +level: 1\.10' \
    'source +workspace' 'body +[0-9]+ tokens, [0-9a-f]{16}'; do
    like "has $line" "$out" "^$line\$"
done
skill nested/top
skill nested/g/h/third 'metadata: {}'
skill nested/g/h/i/fourth
skill nested/top/part
skill nested/.hid/x
nested() { mapm -q skill "$@" --workspace-root nested --global-root nested; }
exits 'groups of skills' 0 nested list --json
is 'are looked into three folders deep [K14]' "$(json '[s["name"] for s in d["skills"]]')" "['third', 'top']"
exits 'one of a group' 0 nested load third
like 'is loaded' "$out" '^# Skill: third'
exits 'its files' 0 nested files third SKILL.md
skill nested/h/third 'x_is: nearer'
exits 'of two' 0 nested show third --json
is 'the nearer one is taken' "$(json 'd["skill"]["folder"].split("nested/")[1]')" h/third
exits 'in Metis' 0 mapm skill list --profile metis --json --workspace-root nested --global-root nested
is 'there are no groups' "$(json '[s["name"] for s in d["skills"]]')" "['top']"
mkdir nested/.dot && cp nested/top/SKILL.md nested/.dot/
exits 'a hidden folder' 0 mapm skill list --profile metis --workspace-root nested --global-root nested
like 'is looked at as Metis does [T31]' "$err" 'skipping invalid skill at .*nested/\.dot/SKILL\.md: '
exits 'otherwise' 0 mapm skill list --workspace-root nested --global-root nested
unlike 'it is passed over' "$err" 'nested/[.]dot'
skill tagged/tag-list 'metadata: {tags: [Zebra crossing, code review, {deep: 1}], other: [1, [2]]}'
skill tagged/tag-text 'metadata: {tags: " zebra,, walk "}'
skill tagged/tag-none 'metadata: {tags: null}'
tagged() { mapm -q skill "$@" --workspace-root tagged --global-root tagged; }
exits 'tags that are a list' 0 tagged show tag-list
like 'are shown, as any list [L3, L18]' "$out" '^metadata +tags: Zebra crossing, code review, \.\.\.$'
like 'in one line' "$out" '^ +other: 1, \.\.\.$'
exits 'a list of skills has them' 0 tagged list --json
is 'in one text, and each' "$(json '[(s["name"], s["tags"], s["tags_list"]) for s in d["skills"]]')" \
    "[('tag-list', 'Zebra crossing, code review', ['Zebra crossing', 'code review']), ('tag-none', None, []), ('tag-text', 'zebra, walk', ['zebra', 'walk'])]"
exits 'they are searched' 0 tagged search zebra --json
is 'whichever form they have [L3, L18]' "$(json 'd["result_names"]')" "['tag-list', 'tag-text']"
exits 'but not as Metis searches' 0 tagged search zebra --profile metis --json
is 'which does not know them [T16]' "$(json 'd["result_names"]')" '[]'
exits 'they fit requests' 0 tagged match 'a zebra' --json
is 'too' "$(json 'sorted(d["result_names"])')" "['tag-list', 'tag-text']"
exits 'for programs' 0 mapm -q skill show pdf-processing --json
is 'all fields' \
    "$(json '[d["skill"][k] for k in ("license", "model", "agent", "context", "author", "tags", "allowed_tools_list")]')" \
    "['MIT', 'inherit', 'Explore', 'fork', 'ann', 'a, b', ['Read', 'Bash(git:*)']]"
is 'metadata as spelled [X12]' "$(json 'd["skill"]["metadata"]["level"]')" 1.10
is 'and the whole frontmatter' "$(json 'd["skill"]["frontmatter"]["x_extra"]')" \
    "{'deep': ['1', {'er': ['2']}], 'none': {}}"
skill py/.metis/skills/coerced 'allowed-tools: Bash(git add:*) A,B
metadata: {a: 1.10, b: true, c: 0x1F, d: text}'
exits 'as Metis has it' 0 mapm -q skill show coerced --profile metis --json --workspace-root py/.metis/skills
is 'values are what Python makes of them [T7, X12]' "$(json 'd["skill"]["metadata"]')" \
    "{'a': '1.1', 'b': 'True', 'c': '31', 'd': 'text'}"
is 'and tools what stands between blanks [T8]' "$(json 'd["skill"]["allowed_tools_list"]')" "['Bash(git', 'add:*)', 'A,B']"
exits 'for a person' 0 mapm -q skill show coerced --profile metis --workspace-root py/.metis/skills
like 'the same' "$out" '^ +b: True$'
exits 'one for its user alone' 0 mapm -q skill show only-me
like 'says so [L6]' "$out" '^invocation +by a person alone$'
run mapm -q skill show only-me --json
is 'which mapm did not install' "$(json 'd["skill"]["locked"]')" None
mkdir -p ../shelf/skills/lent && printf -- '---\nname: lent\ndescription: Lent.\n---\nText.\n' >../shelf/skills/lent/SKILL.md
skill .agents/skills/later
mapm -q skill list >"$T/before"
sleep 1.1 # the file is no young one any more: what is known of it is believed
run mapm -q skill list
echo 'def run(input): return "x"' >.agents/skills/later/SKILL.star
for word in list 'show later' index; do
    run mapm -q skill $word
    like "[K3] a program that came later is seen by $word" "$out" 'metaskill'
done
run mapm -q skill search later --json
is '[K3] in JSON' "$(json 'd["results"][0]["metaskill"]')" yes
rm .agents/skills/later/SKILL.star
run mapm -q skill search later --json
is 'and that it went' "$(json 'd["results"][0]["metaskill"]')" no
rm -r .agents/skills/later
skill .agents/skills/ours 'scope: acme' 'version: 1.0.0'
exits 'by its full name' 0 mapm -q skill show acme/ours
like 'it is shown' "$out" '^scope +acme$'
exits 'and loaded' 0 mapm -q skill load acme/ours
exits 'of another scope' 1 mapm -q skill show other/ours
rm -r .agents/skills/ours
exits 'one that mapm installs' 0 mapm -q install "file:$(cd ../shelf && pwd)/skills/lent"
exits 'is shown' 0 mapm -q skill show lent
like 'with its origin' "$out" "^origin +file:$(cd ../shelf && pwd)/skills/lent\$"
exits 'for programs' 0 mapm -q skill show lent --json
is 'with what the lock has' "$(json 'sorted(d["skill"]["locked"]), d["skill"]["locked"]["name"]')" \
    "(['commit', 'digest', 'name', 'origin'], 'lent')"
cp mapm.local.lock ../kept.lock && echo broken >mapm.local.lock
exits 'a lock that cannot be read' 0 mapm -q skill show lent
like 'is told of' "$err" '^warning: its origin is unknown: '
is 'and no more' "$(printf '%s\n' "$out" | grep -c '^origin')" 0
cp ../kept.lock mapm.local.lock
exits 'and goes again' 0 mapm -q remove lent
exits 'an unknown one' 1 mapm -q skill show onlyme
like 'is told' "$err" 'did you mean only-me'
exits 'a folder that is not there [X7]' 1 mapm skill list --root "$T/nope"
is 'is named, once' "$(printf '%s' "$err" | grep -c nope)" 1
like 'with what is to be done' "$err" 'hint: a folder named on the command line has to be'
printf 'a\000b' >.agents/skills/pdf-processing/bytes
run python3 -S -c 'import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' "$MAPM" skill files pdf-processing bytes
is 'what is no text is not for a terminal' "$status" 1
like 'and told so' "$out" 'bytes is not text'
exits 'but for a file' 0 mapm skill files pdf-processing bytes
rm .agents/skills/pdf-processing/bytes
exits 'a path as many write it' 0 mapm -q skill files pdf-processing ./references/forms.md
exits 'one that leads out' 4 mapm -q skill files pdf-processing ../x
like 'is named, too' "$err" '"\.\./x" is not the path of a file in skill .pdf-processing.'
like 'with what would do' "$err" 'hint: paths are as its list of files has them'
exits 'files [L15]' 0 mapm -q skill files pdf-processing
is 'by kind' "$(printf '%s\n' "$out" | sed 's/  */ /g')" \
    'reference 7 B references/forms.md
script 9 B scripts/run.py *'
exits 'for programs' 0 mapm -q skill files pdf-processing --json
is 'with name, ending and type' \
    "$(json '[(f["path"], f["name"], f["extension"], f["type"], f["executable"]) for f in d["files"]]')" \
    "[('references/forms.md', 'forms.md', 'md', 'reference', False), ('scripts/run.py', 'run.py', 'py', 'script', True)]"
exits 'one of them [L14]' 0 mapm -q skill files pdf-processing scripts/run.py
is 'is what it says' "$out" 'print(1)'
head -c 70000 /dev/zero | tr '\0' y >$W/pdf-processing/long.txt
exits 'a long one' 0 mapm -q skill files pdf-processing long.txt
is 'is cut at 64 KB' "$(printf '%s' "$out" | wc -c | tr -d ' ')" 65536
like 'which is said' "$err" '^warning: long\.txt is longer'
exits 'for programs, too' 0 mapm -q skill files pdf-processing long.txt --json
is 'with a member' "$(json 'd["truncated"], len(d["text"])')" '(True, 65536)'
ln -s /etc/passwd $W/pdf-processing/passwd
for bad in ../review/SKILL.md /etc/passwd passwd nothing; do
    exits "no file outside, no link: $bad" "$([ $bad = nothing ] && echo 1 || echo 4)" \
        mapm -q skill files pdf-processing $bad
    unlike 'nothing of it' "$out" root:
done
rm $W/pdf-processing/passwd
mkdir $W/pdf-processing/.git
echo secret >$W/pdf-processing/.git/config
echo odd >"$W/pdf-processing/10:30?
x.md"
exits 'what could not be installed lies there all the same' 0 mapm -q skill files pdf-processing
like 'in one line' "$out" '^reference *4 B  10:30\?\\x0ax\.md$'
unlike 'but what git keeps' "$out" git
exits 'which is not read, either' 4 mapm -q skill files pdf-processing .git/config
unlike 'nothing of it' "$out" secret
exits 'the other is' 0 mapm -q skill files pdf-processing "10:30?
x.md"
is 'is what it says' "$out" odd
rm -r $W/pdf-processing/.git $W/pdf-processing/10*
exits 'one without any' 0 mapm skill files review
like 'says so' "$err" 'no files besides'

# --- links ----------------------------------------------------------------------

away=$T/away
skill "$away/outside" 'description: Not of this workspace.'
skill "$HOME/notes/in-home" 'description: Of the home folder.'
skill sources/linked 'description: Of the sources.'
ln -s "$away/outside" $W/outside
ln -s ../../sources/linked $W/linked
ln -s ../../notes/in-home "$HOME/.agents/skills/in-home"
ln -s "$away/outside" "$HOME/.agents/skills/outside"
ln -s "$HOME/notes/in-home" $W/at-home
exits 'links as folders of skills' 0 mapm -q skill list
like 'those that stay in the workspace are there [T31, A4]' "$out" '^linked +workspace'
like 'and of the global ones those that stay in the home folder' "$out" '^in-home +global'
unlike 'others are not' "$out" '^outside|^at-home'
exits 'they are passed over' 0 mapm skill list
is 'with one warning each' "$(printf '%s\n' "$err" | grep -c 'outside/SKILL\.md: its folder is a link that leads out of ')" 2
is 'the home folder is none for those of the workspace' "$(printf '%s\n' "$err" | grep -c 'at-home/SKILL\.md: its folder is a link that leads out of ')" 1
exits 'a file of a linked one' 0 mapm skill files linked
exits 'a further folder in the workspace' 0 mapm -q skill list --root sources
like 'is read' "$out" '^linked '
ln -s "$away" further-away
exits 'that leads out of it' 4 mapm skill list --root further-away
like 'is refused' "$err" 'further-away'
like 'because of that' "$err" 'it is a link that leads out of '
like 'and what to do' "$err" 'name the folder that it leads to'
exits 'as its folder is named' 0 mapm -q skill list --root "$away"
like 'it is read' "$out" '^outside +global'
rm further-away
mv .swival swival.aside
mkdir .swival
ln -s "$away" .swival/skills
exits 'one of the usual folders that leads out of it' 0 mapm skill list
like 'is passed over' "$err" '^warning: skipping the skills in .*/\.swival/skills: it is a link that leads out of '
unlike 'with what is there' "$out" '^outside'
rm -r .swival
mv swival.aside .swival
rm $W/outside $W/linked $W/at-home "$HOME/.agents/skills/in-home" "$HOME/.agents/skills/outside"
rm -r sources "$away" "$HOME/notes"

# --- the cache ----------------------------------------------------------------------------------

exits 'a changed skill' 0 sh -c "sed -i 's/^description:.*/description: Now something else./' $W/think/SKILL.md"
exits 'is seen at once [L9]' 0 mapm -q skill search something
like 'with its new words' "$out" '^- think \[workspace\] — Now something else\.$'
rm -r $W/think
exits 'one that is gone' 0 mapm -q skill list
unlike 'is gone' "$out" '^think'
MAPM_HOME=$T/nostore "$MAPM" runs >/dev/null 2>&1
python3 -S -c 'import sqlite3, sys
d = sqlite3.connect(sys.argv[1])
d.execute("pragma user_version=99")
d.commit()' "$T/nostore/mapm.db"
exits 'without a mapm.db that it can use' 0 env MAPM_HOME="$T/nostore" "$MAPM" skill search review --root "$G"
like 'all is found, too' "$out" '^- review '
exits 'and loaded' 0 env MAPM_HOME="$T/nostore" "$MAPM" skill load review --root "$G"
like 'with a warning' "$err" '^warning: this is not among the events'
exits 'but no session is kept' 4 env MAPM_HOME="$T/nostore" "$MAPM" skill load review --root "$G" --session x
like 'which is said' "$err" 'session cannot be kept'

for state in '' garbage '{' '[]' '{"activations": 1}' '{"activations": [{"name": 7}]}'; do
    mapm skill load review --root "$G" --session hurt >/dev/null 2>&1
    python3 -S -c 'import sqlite3, sys
d = sqlite3.connect(sys.argv[1])
d.execute("update sessions set state = ? where id = ?", (sys.argv[2].encode(), b"hurt"))
d.commit()' "$MAPM_HOME/mapm.db" "$state"
    exits "[F3] (d) a session of '$state' begins again" 0 mapm skill load review --root "$G" --session hurt
    like "[F3] (d) which is said ($state)" "$err" 'the session "hurt" was damaged: it begins again'
done

# --- hidden characters ----------------------------------------------------------------------------

skill $W/sly
printf 'Plain words \342\200\256and others.\n' >>$W/sly/SKILL.md
printf 'a\nb\342\201\246c\n' >$W/sly/notes.md
exits '[F3] a local skill with a hidden character is loaded' 0 mapm skill load sly
like '[F3] with a warning that names file and line' "$err" \
    "^warning: skill 'sly': SKILL\.md:[0-9]+ contains U\+202E \(bidirectional control\), which is invisible"
exits '[F3] for a system prompt, too' 0 mapm skill load --as system sly
like '[F3] with the same warning' "$err" 'U\+202E'
exits '[F3] a file of it' 0 mapm skill files sly notes.md
like '[F3] warns as well' "$err" "^warning: skill 'sly': notes\.md:2 contains U\+2066"
exits '[F3] the list' 0 mapm skill list
unlike '[F3] does not read bodies' "$err" 'U\+202E'
rm -r $W/sly
mkdir $W/cr && printf -- '---\nname: cr\ndescription: "seen\\rhidden"\n---\nx\n' >$W/cr/SKILL.md
exits '[F3] a carriage return in a description' 0 mapm skill list
like '[F3] is no text' "$err" 'cr/SKILL.md: line 3: description contains U\+000D'
unlike '[F3] and the skill is left out' "$out" '^cr '
rm -r $W/cr

# --- the command line -----------------------------------------------------------------------------

exits 'no word' 2 mapm skill
exits 'an unknown one' 2 mapm skill lsit
like 'has a near one' "$err" 'did you mean "mapm skill list"'
exits 'too many' 2 mapm skill list x
words=$(mapm skill --help | sed -n '/^arguments:/,/^$/s/^  \([a-z]*\) .*/\1/p' | tr '\n' ' ')
is 'help has every word of it' "$words" "$(sed -n '/ skill_words/,/^};/s/^    {"\([a-z]*\)".*/\1/p' "$ROOT/cli/table.c" | tr '\n' ' ')"
exits 'too few' 2 mapm skill show
like 'with its usage' "$err" 'usage: mapm skill \[OPTION\]\.\.\. show NAME'
exits 'an option of another word' 2 mapm skill list --session x
like 'is named' "$err" 'mapm skill list has no option --session'
done_testing
