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

exits 'skill list succeeds where no folder of skills exists [T1]' 0 mapm skill list
is 'skill list without skills prints nothing on standard output' "$out" ''
like 'skill list without skills says on standard error that there are none' "$err" 'no skills here'
exits 'skill index succeeds without skills [T15]' 0 mapm skill index
is 'skill index without skills prints nothing' "$out" ''
exits 'skill search without skills succeeds' 0 mapm skill search x
is 'an empty search result is worded as in [T17]' "$out" "No skills matched 'x'."
exits 'skill list --root fails when the named folder does not exist [X7]' 1 mapm skill list --root nowhere
like 'the error names the missing root folder' "$err" 'nowhere'
exits 'skill list --json succeeds without skills' 0 mapm skill list --json
is 'skill list --json without skills prints an empty list with its schema' "$(json 'd["schema"], d["command"], d["skills"]')" \
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

exits 'skill list succeeds with skills in several folders' 0 mapm skill list
is 'skill list prints every skill once, sorted by name [T14, K14]' "$(printf '%s\n' "$out" | sed 's/ .*//' | tr '\n' ' ')" \
    'claude-one home-one pdf-processing review swival-home swival-one '
like 'skill list prints the source beside each name' "$out" '^pdf-processing  workspace  Extract PDF text'
like 'skill list folds a description of many lines into one line [X25]' "$out" '^review +global +Run a review of the PDF branch\.$'
is 'skill list warns that a workspace skill overrides a global one [T13]' "$err" \
    "skill 'pdf-processing' in workspace overrides global definition"
exits 'skill list with -q succeeds although a skill is overridden' 0 mapm -q skill list
is 'skill list with -q prints no override warning' "$err" ''
exits 'skill list --profile metis succeeds' 0 mapm skill list --profile metis
like 'skill list --profile metis includes the global folder of Metis' "$out" '^metis-one +global'
like 'skill list --profile metis includes the workspace folder of Metis' "$out" '^metis-two +workspace'
exits 'skill list accepts a further folder with --root' 0 mapm skill list --root further
like 'skill list --root includes the skills of the further folder' "$out" '^extra-one +global '
like 'a skill of a further folder overrides the global one [X23]' "$out" '^review +global +Of a further'
exits 'skill list accepts --workspace-root and --global-root' 0 mapm skill list --workspace-root further --global-root "$G"
is 'the root options replace the usual folders [X8]' "$(printf '%s\n' "$out" | sed 's/  .*//' | tr '\n' ' ')" \
    'extra-one pdf-processing review '
exits 'skill list rejects an empty --root as a usage error' 2 mapm skill list --root ''
exits 'skill list succeeds in a folder outside the workspace' 0 mapm -C / skill list -q
like 'skill list outside the workspace includes the global skills [T27]' "$out" '^review +global'

mkdir -p $W/broken $W/no-anchor
echo 'no frontmatter' >$W/broken/SKILL.md
exits 'skill list succeeds although one skill is invalid' 0 mapm skill list
like 'skill list warns about the invalid skill and its path [T10]' "$err" '^warning: skipping invalid skill at .*/broken/SKILL\.md'
like 'skill list still prints the valid skills beside an invalid one' "$out" '^review '
mkdir -p .claude/skills && ln -s "$PWD/$W/broken" .claude/skills/broken
touch -d '1 hour ago' $W/broken/SKILL.md
exits 'skill list succeeds when a client folder links to the invalid skill' 0 mapm skill list
is 'skill list reports an invalid skill once although a link leads to it too [T10, D18]' "$(printf '%s\n' "$err" | grep -c 'invalid skill')" 1
rm .claude/skills/broken
rm -r $W/broken $W/no-anchor

# --- search, match -----------------------------------------------------------------

exits 'skill search succeeds for a word in upper case' 0 mapm -q skill search PDF
is 'skill search ranks a match in the name before one in the description [T16, T17]' "$out" "Skills matching 'PDF' (2):
- pdf-processing [workspace] — Extract PDF text, fill forms, merge files.
- review [global] — Run a review of the PDF branch."
exits 'skill search --json succeeds' 0 mapm -q skill search pdf --json
is 'skill search --json has the metadata of [T17]' \
    "$(json 'd["query"], d["result_count"], d["result_names"], 1 >= d["results"][0]["score"] > d["results"][1]["score"] > 0')" \
    "('pdf', 2, ['pdf-processing', 'review'], True)"
exits 'skill search --profile metis --json succeeds' 0 mapm -q skill search pdf --json --profile metis
is 'skill search --profile metis gives the scores of Metis [T16, G1]' "$(json '[r["score"] for r in d["results"]]')" '[3, 1]'
like 'skill search --profile metis keeps the line breaks of a description' "$(json 'd["results"][1]["description"]')" '^Run a review$'
exits 'skill search accepts --limit 1' 0 mapm -q skill search --limit 1 pdf
is 'skill search --limit 1 prints a single result' "$out" "Skills matching 'pdf' (1):
- pdf-processing [workspace] — Extract PDF text, fill forms, merge files."
exits 'skill search accepts a query of blanks alone' 0 mapm -q skill search --limit 2 '  '
like 'a blank query lists the first skills by name' "$out" '^- home-one '
for bad in 0 51 x -1 1.5; do
    exits "skill search rejects --limit $bad as a usage error [T16]" 2 mapm skill search --limit $bad pdf
done
exits 'skill match succeeds with a request of several words [L11]' 0 mapm -q skill match please fill this form for me
like 'skill match prints the score and the words that matched' "$out" '^0\.[0-9]{2}  pdf-processing \[workspace\]  fill, form$'
exits 'skill match accepts --min-score 1' 0 mapm -q skill match --min-score 1 fill a form
is 'skill match prints nothing below the minimum score [X26]' "$out" ''
exits 'skill match --json succeeds with a skill mentioned by $name' 0 mapm -q skill match 'use $review for this' --json
is 'a skill that the request mentions scores 1 and is marked explicit [K18]' "$(json 'd["results"][0]["name"], d["results"][0]["score"], d["results"][0]["explicit"]')" \
    "('review', 1, True)"
exits 'skill match --json succeeds with a request that starts with /name' 0 mapm -q skill match /review main branch --json
is 'skill match returns the skill of a slash command and its arguments [L12]' "$(json 'd["result_names"][0], d["arguments"]')" \
    "('review', 'main branch')"
for bad in -1 2 1.1 x 0. .5; do
    exits "skill match rejects --min-score $bad as a usage error" 2 mapm skill match "--min-score=$bad" x
done

# --- index ----------------------------------------------------------------------------

skill $W/only-me 'disable-model-invocation: true'
skill $W/think 'mode: true' 'description: Think first.'
skill $W/fix 'description: Fix tests.' 'metaskill: SKILL.star'
printf 'def run(input):\n    return 1\n' >$W/fix/SKILL.star
exits 'skill index succeeds with --workspace-root and --global-root' 0 mapm -q skill index --workspace-root $W --global-root "$G"
is 'skill index starts with the block of [T15, K15, X28]' "$(printf '%s\n' "$out" | head -n 6)" \
    '## Available skills
Use `skill_search(query)` to filter and `skill_load(name)` to read a body.

- fix: Fix tests. (metaskill: starlark)
- pdf-processing: Extract PDF text, fill forms, merge files.
- review: Run a review of the PDF branch.'
is 'skill index lists modes in a section after the skills [L7]' "$(printf '%s\n' "$out" | sed 1,6d | grep .)" \
    '## Mode Commands
- think: Think first.'
exits 'skill index --profile metis succeeds' 0 mapm -q skill index --profile metis --workspace-root $W --global-root "$G"
is 'skill index --profile metis prints the block of [T15] alone' "$(printf '%s\n' "$out" | sed -n '4,5p')" \
    '- fix: Fix tests.
- only-me: The only-me package of a test, used by it.'
exits 'skill index accepts --max-chars 200' 0 mapm -q skill index --max-chars 200 --json
is 'skill index stays within --max-chars and counts what it leaves out [T31]' "$(json 'd["chars"] <= 200 and d["left_out"] > 0')" yes
for bad in 0 x -5; do
    exits "skill index rejects --max-chars $bad as a usage error" 2 mapm skill index --max-chars $bad
done
exits 'skill index rejects a --max-chars below the length of its header' 2 mapm skill index --max-chars 100
like 'the error states how many characters the header needs' "$err" 'needs [0-9]+ characters for its header'
exits 'skill search succeeds for a skill that only its user may start' 0 mapm -q skill search only-me
like 'skill search finds a skill that only its user may start [L6, G1]' "$out" '^- only-me \[workspace\]'
run mapm -q skill match only me
is 'skill match never suggests a skill that only its user may start' "$out" ''
exits 'skill list succeeds with skills of special kinds' 0 mapm -q skill list
like 'skill list marks a skill that only its user may start' "$out" '^only-me .*\(yours alone\)$'
like 'skill list marks a metaskill' "$out" '^fix .*\(metaskill\)$'
like 'skill list marks a mode' "$out" '^think .*\(mode\)$'
exits 'skill load succeeds for a skill that only its user may start' 0 mapm -q skill load only-me
like 'a skill that only its user may start loads with the usual header' "$out" '^# Skill: only-me \(source: workspace\)$'

# --- load -------------------------------------------------------------------------------

exits 'skill load succeeds for a workspace skill' 0 mapm -q skill load pdf-processing
is 'skill load prints the text of [T18]' "$out" "# Skill: pdf-processing (source: workspace)

# pdf-processing

Do what pdf-processing does."
exits 'skill load --json succeeds' 0 mapm -q skill load pdf-processing --json
is 'skill load --json has the metadata of [T19]' \
    "$(json 'sorted(d["loads"][0]), d["loads"][0]["skill_id"], d["loads"][0]["source"], d["session"]')" \
    "(['load_size_tokens', 'skill_id', 'skill_version', 'source', 'text'], 'pdf-processing', 'workspace', None)"
is 'skill load --json reports version and size of the body [T11, T12]' \
    "$(json '(d["loads"][0]["skill_version"], d["loads"][0]["load_size_tokens"])')" \
    "$(python3 -S -c '
import hashlib, sys
t = open(sys.argv[1]).read().split("---\n", 2)[2].lstrip("\n")
print((hashlib.sha256(t.encode()).hexdigest()[:16], max(1, len(t) // 4)))' $W/pdf-processing/SKILL.md)"
exits 'skill load fails for an unknown name' 1 mapm -q skill load pdf-procesing
like 'the error for an unknown skill is worded as in [T18]' "$err" "^mapm: no skill registered with name 'pdf-procesing'\$"
like 'the error for an unknown skill suggests the nearest name' "$err" 'did you mean pdf-processing'
exits 'skill load --as user succeeds [K41, L13]' 0 mapm -q skill load --as user pdf-processing
is 'skill load --as user wraps the body and lists the supporting files' "$out" "[Skill: pdf-processing activated]

<skill-instructions>
# pdf-processing

Do what pdf-processing does.
</skill-instructions>

Skill directory: $PWD/$W/pdf-processing
Supporting files:
- references/forms.md
- scripts/run.py"
exits 'skill load --as system succeeds' 0 mapm -q skill load --as system review
is 'skill load --as system prints the section of [T26]' "$out" "### Skill: review

# review

Do what review does."
exits 'skill load rejects an unknown form in --as' 2 mapm skill load --as model review
exits 'skill load succeeds with a slash command of several words [L12]' 0 mapm -q skill load /review the main branch
like 'skill load of a slash command prints the body of the skill' "$out" '^# Skill: review '
like 'skill load of a slash command prints the arguments' "$out" '^Arguments: the main branch$'
exits 'skill load succeeds with a slash command in one word' 0 mapm -q skill load '/review the main branch' --json
is 'skill load --json has the arguments of a slash command' "$(json 'd["loads"][0]["arguments"]')" 'the main branch'
exits 'skill load fails for a slash command that names no skill' 1 mapm -q skill load /nothing x
like 'the error names the skill that the slash command lacks' "$err" "no skill registered with name 'nothing'"
exits 'skill load succeeds with a text that mentions skills [K18]' 0 mapm -q skill load 'use $review and $pdf-processing, cost$think $review' --json
is 'skill load loads each mentioned skill once, in the order of the text' "$(json '[l["skill_id"] for l in d["loads"]]')" \
    "['review', 'pdf-processing']"
exits 'skill load fails for a text that mentions no skill' 1 mapm -q skill load 'costs $5'
like 'the error says that the text mentions no skill' "$err" 'no skill is mentioned'
exits 'skill load accepts several names' 0 mapm -q skill load review think
is 'skill load prints the body of each of several names' "$(printf '%s\n' "$out" | grep -c '^# Skill: ')" 2
exits 'skill load fails when one of several names is unknown' 1 mapm -q skill load review nothing
is 'skill load prints no body when one of several names is unknown' "$out" ''
exits 'skill load --profile metis rejects a slash command' 1 mapm -q skill load --profile metis '/review'
like 'the error of --profile metis treats the slash command as a name' "$err" "no skill registered with name '/review'"
printf -- '---\nname: raw\ndescription: Raw.\n---\nA\tB\033[31m\302\240end' >"$T/raw"
mkdir $W/raw && cp "$T/raw" $W/raw/SKILL.md
mapm -q skill load raw >"$T/out" 2>/dev/null
is 'skill load prints the bytes of a body unchanged' "$(tail -n 1 "$T/out")" "$(tail -n 1 "$T/raw")"
rm -r $W/raw

# --- sessions --------------------------------------------------------------------------------

exits 'skill load --session succeeds for the first load [T21]' 0 mapm -q skill load --session one review
like 'the first load of a session prints the body' "$out" '^# review$'
exits 'skill load --session succeeds for a second load of the same skill' 0 mapm -q skill load --session one review
is 'the second load of a session prints a pointer to the first [T20]' "$out" "# Skill: review (source: global)

This skill is already loaded in the conversation history (activated earlier this session). Re-read the earlier \`tool_result\` for \`skill_load(\"review\")\` for its operating instructions."
exits 'skill load --session --json succeeds with one skill already loaded' 0 mapm -q skill load --session one review think --json
is 'skill load --session --json reports what is left of the budget' \
    "$(json '(d["session"]["activations"], d["session"]["max_activations"], d["session"]["max_tokens"], [l.get("already_loaded") for l in d["loads"]])')" \
    "(2, 20, 100000, [True, None])"
is 'a session records one event for each body that it loads [T23]' \
    "$(mapm events --json --session one | grep -c '"skill.loaded"')" 2
for name in a b c d; do body "big/$name" 16000; done
metis="mapm -q skill load --profile metis --workspace-root big"
for name in a b c; do
    exits "skill load --profile metis loads skill $name within its limit of three" 0 $metis --session m $name
done
like 'the third load warns when the session passes 12,000 tokens' "$err" '^warning: .*12000'
exits 'the fourth load of a Metis session fails' 1 $metis --session m d
is 'the error for too many activations is worded as in [T22]' "$err" "mapm: activation budget exhausted: 3 skills already activated this session (limit 3). Already loaded: ['a', 'b', 'c']. To free budget, start a fresh session or summarize and discard previously loaded skill bodies."
exits 'loading four skills at once fails in a new Metis session' 1 $metis --session fresh a b c d
like 'the hint says that none of the four skills were loaded' "$err" '^  hint: the 3 before it were not loaded either: ask for fewer$'
exits 'a session whose first load was refused still loads a skill' 0 $metis --session fresh a
unlike 'a refused load does not mark its skills as already loaded' "$out" 'already loaded'
exits 'skill load succeeds for a loaded skill when the budget is exhausted' 0 $metis --session m a
like 'a loaded skill still gives its pointer when the budget is exhausted' "$out" 'already loaded in the conversation history'
body big/e 60000 && body big/f 60004
exits 'skill load succeeds for a body of half the token budget' 0 $metis --session t e
exits 'skill load fails for a body larger than the rest of the token budget' 1 $metis --session t f
is 'the error for too many tokens is worded as in [T22]' "$(printf '%s\n' "$err" | tail -n 1)" "mapm: activation token cap exhausted: loading 'f' would bring cumulative activation tokens to 30001 (cap 30000). Already loaded: ['e']."
is 'a refused load records no event' \
    "$(mapm events --json --session t | grep -c '"skill.loaded"')" 1
echo 'limits: {session_max_activations: 1}' >mapm.yaml
exits 'the first load succeeds under a workspace limit of one activation' 0 mapm -q skill load --session w review
exits 'the second load fails under a workspace limit of one activation' 1 mapm -q skill load --session w think
like 'the error states the limit that the workspace sets' "$err" 'limit 1\)'
rm mapm.yaml
exits 'skill load --session fails when one of two names is unknown' 1 mapm -q skill load --session n review nothing
exits 'skill load --session succeeds for the known name afterwards' 0 mapm -q skill load --session n review
like 'a failed load of two names leaves the known one unloaded in the session' "$out" '^# review$'
exits 'skill load rejects an empty session name' 2 mapm skill load --session '' review
exits 'skill load rejects a session name of two lines' 2 mapm skill load --session 'a
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
is 'eight loads at the same time yield no more than the three of the budget' "$(cat "$T"/race.* | grep -c '^# Skill: ')" 3

exits 'skill index --preload --session succeeds' 0 mapm -q skill index --preload --session p --workspace-root $W --global-root "$G"
like 'skill index --preload prints the bodies in the index [T26]' "$out" '^### Skill: pdf-processing$'
like 'skill index --preload marks the preloaded skills' "$out" '^- pdf-processing \[preloaded\]: '
before=$(mapm events --json --session p | grep -c '"always"')
isnt 'skill index --preload records events for the bodies' "$before" 0
run mapm -q skill index --preload --session p --workspace-root $W --global-root "$G"
is 'a second skill index --preload records no further event' "$(mapm events --json --session p | grep -c '"always"')" "$before"
exits 'skill load succeeds for a preloaded skill' 0 mapm -q skill load --session p pdf-processing
is 'skill load of a preloaded skill prints a pointer to the system prompt [T20]' "$out" "# Skill: pdf-processing (source: workspace)

This skill's body is already loaded in the system prompt (pre-activated at session start). Re-read the system prompt section \`### Skill: pdf-processing\` for its operating instructions."

# --- show, files -----------------------------------------------------------------------------

exits 'skill show succeeds for a skill with many fields [L3, L4, L5, L6, L7, L8]' 0 mapm -q skill show pdf-processing
for line in 'name +pdf-processing' 'version +1\.0\.0' 'license +MIT' 'model +inherit' \
    'agent +Explore' 'context +fork' 'compatibility +needs poppler' \
    'allowed-tools +Read Bash\(git:\*\)' 'metadata +author: ann' ' +level: 1\.10' \
    'source +workspace' 'body +[0-9]+ tokens, [0-9a-f]{16}'; do
    like "skill show prints the line $line" "$out" "^$line\$"
done
skill nested/top
skill nested/g/h/third 'metadata: {}'
skill nested/g/h/i/fourth
skill nested/top/part
skill nested/.hid/x
nested() { mapm -q skill "$@" --workspace-root nested --global-root nested; }
exits 'skill list --json succeeds with groups of skills' 0 nested list --json
is 'skill list searches groups of skills three folders deep [K14]' "$(json '[s["name"] for s in d["skills"]]')" "['third', 'top']"
exits 'skill load succeeds for a skill of a group' 0 nested load third
like 'skill load prints the skill of a group' "$out" '^# Skill: third'
exits 'skill files succeeds for a skill of a group' 0 nested files third SKILL.md
skill nested/h/third 'x_is: nearer'
exits 'skill show succeeds for a name that two groups have' 0 nested show third --json
is 'skill show takes the skill that is nearer to the root' "$(json 'd["skill"]["folder"].split("nested/")[1]')" h/third
exits 'skill list --profile metis succeeds with groups of skills' 0 mapm skill list --profile metis --json --workspace-root nested --global-root nested
is 'skill list --profile metis searches no groups' "$(json '[s["name"] for s in d["skills"]]')" "['top']"
mkdir nested/.dot && cp nested/top/SKILL.md nested/.dot/
exits 'skill list --profile metis succeeds with a hidden folder' 0 mapm skill list --profile metis --workspace-root nested --global-root nested
like 'skill list --profile metis reads hidden folders as Metis does [T31]' "$err" 'skipping invalid skill at .*nested/\.dot/SKILL\.md: '
exits 'skill list succeeds with a hidden folder of skills' 0 mapm skill list --workspace-root nested --global-root nested
unlike 'skill list passes over hidden folders' "$err" 'nested/[.]dot'
skill tagged/tag-list 'metadata: {tags: [Zebra crossing, code review, {deep: 1}], other: [1, [2]]}'
skill tagged/tag-text 'metadata: {tags: " zebra,, walk "}'
skill tagged/tag-none 'metadata: {tags: null}'
tagged() { mapm -q skill "$@" --workspace-root tagged --global-root tagged; }
exits 'skill show succeeds for a skill whose tags are a list' 0 tagged show tag-list
like 'skill show joins a list of tags like any list [L3, L18]' "$out" '^metadata +tags: Zebra crossing, code review, \.\.\.$'
like 'skill show abbreviates nested lists in one line' "$out" '^ +other: 1, \.\.\.$'
exits 'skill list --json succeeds with tags of several forms' 0 tagged list --json
is 'skill list --json gives tags as one text and as a list' "$(json '[(s["name"], s["tags"], s["tags_list"]) for s in d["skills"]]')" \
    "[('tag-list', 'Zebra crossing, code review', ['Zebra crossing', 'code review']), ('tag-none', None, []), ('tag-text', 'zebra, walk', ['zebra', 'walk'])]"
exits 'skill search --json succeeds for a tag' 0 tagged search zebra --json
is 'skill search finds tags in the form of a list and of a text [L3, L18]' "$(json 'd["result_names"]')" "['tag-list', 'tag-text']"
exits 'skill search --profile metis succeeds for a tag' 0 tagged search zebra --profile metis --json
is 'skill search --profile metis ignores tags [T16]' "$(json 'd["result_names"]')" '[]'
exits 'skill match --json succeeds for a tag' 0 tagged match 'a zebra' --json
is 'skill match finds tags in the form of a list and of a text' "$(json 'sorted(d["result_names"])')" "['tag-list', 'tag-text']"
exits 'skill show --json succeeds for a skill with many fields' 0 mapm -q skill show pdf-processing --json
is 'skill show --json has every field of the frontmatter that mapm reads' \
    "$(json '[d["skill"][k] for k in ("license", "model", "agent", "context", "author", "tags", "allowed_tools_list")]')" \
    "['MIT', 'inherit', 'Explore', 'fork', 'ann', 'a, b', ['Read', 'Bash(git:*)']]"
is 'skill show --json keeps metadata as spelled [X12]' "$(json 'd["skill"]["metadata"]["level"]')" 1.10
is 'skill show --json has the whole frontmatter' "$(json 'd["skill"]["frontmatter"]["x_extra"]')" \
    "{'deep': ['1', {'er': ['2']}], 'none': {}}"
skill py/.metis/skills/coerced 'allowed-tools: Bash(git add:*) A,B
metadata: {a: 1.10, b: true, c: 0x1F, d: text}'
exits 'skill show --profile metis --json succeeds' 0 mapm -q skill show coerced --profile metis --json --workspace-root py/.metis/skills
is 'skill show --profile metis gives metadata the values of Python [T7, X12]' "$(json 'd["skill"]["metadata"]')" \
    "{'a': '1.1', 'b': 'True', 'c': '31', 'd': 'text'}"
is 'skill show --profile metis splits allowed-tools at blanks [T8]' "$(json 'd["skill"]["allowed_tools_list"]')" "['Bash(git', 'add:*)', 'A,B']"
exits 'skill show --profile metis succeeds without --json' 0 mapm -q skill show coerced --profile metis --workspace-root py/.metis/skills
like 'skill show --profile metis prints metadata with the values of Python' "$out" '^ +b: True$'
exits 'skill show succeeds for a skill that only its user may start' 0 mapm -q skill show only-me
like 'skill show says that only a person starts the skill [L6]' "$out" '^invocation +by a person alone$'
run mapm -q skill show only-me --json
is 'skill show --json has no lock entry for a skill that mapm did not install' "$(json 'd["skill"]["locked"]')" None
mkdir -p ../shelf/skills/lent && printf -- '---\nname: lent\ndescription: Lent.\n---\nText.\n' >../shelf/skills/lent/SKILL.md
skill .agents/skills/later
mapm -q skill list >"$T/before"
sleep 1.1 # the file is no young one any more: what is known of it is believed
run mapm -q skill list
echo 'def run(input): return "x"' >.agents/skills/later/SKILL.star
for word in list 'show later' index; do
    run mapm -q skill $word
    like "[K3] skill $word sees a program that was added later" "$out" 'metaskill'
done
run mapm -q skill search later --json
is '[K3] skill search --json sees a program that was added later' "$(json 'd["results"][0]["metaskill"]')" yes
rm .agents/skills/later/SKILL.star
run mapm -q skill search later --json
is 'skill search --json sees that a program was removed' "$(json 'd["results"][0]["metaskill"]')" no
rm -r .agents/skills/later
skill .agents/skills/ours 'scope: acme' 'version: 1.0.0'
exits 'skill show succeeds for a full name with scope' 0 mapm -q skill show acme/ours
like 'skill show prints the scope of the skill' "$out" '^scope +acme$'
exits 'skill load succeeds for a full name with scope' 0 mapm -q skill load acme/ours
exits 'skill show fails for a full name with another scope' 1 mapm -q skill show other/ours
rm -r .agents/skills/ours
exits 'install succeeds for a skill of another folder' 0 mapm -q install "file:$(cd ../shelf && pwd)/skills/lent"
exits 'skill show succeeds for an installed skill' 0 mapm -q skill show lent
like 'skill show prints the origin of an installed skill' "$out" "^origin +file:$(cd ../shelf && pwd)/skills/lent\$"
exits 'skill show --json succeeds for an installed skill' 0 mapm -q skill show lent --json
is 'skill show --json has the lock entry of an installed skill' "$(json 'sorted(d["skill"]["locked"]), d["skill"]["locked"]["name"]')" \
    "(['commit', 'digest', 'name', 'origin'], 'lent')"
cp mapm.local.lock ../kept.lock && echo broken >mapm.local.lock
exits 'skill show succeeds although the lock cannot be read' 0 mapm -q skill show lent
like 'skill show warns that the origin is unknown when the lock cannot be read' "$err" '^warning: its origin is unknown: '
is 'skill show prints no origin when the lock cannot be read' "$(printf '%s\n' "$out" | grep -c '^origin')" 0
cp ../kept.lock mapm.local.lock
exits 'remove of the installed skill succeeds with the lock restored' 0 mapm -q remove lent
exits 'skill show fails for an unknown name' 1 mapm -q skill show onlyme
like 'the error of skill show suggests the nearest name' "$err" 'did you mean only-me'
exits 'skill list --root fails for a folder that does not exist [X7]' 1 mapm skill list --root "$T/nope"
is 'the error names the missing folder exactly once' "$(printf '%s' "$err" | grep -c nope)" 1
like 'the hint says that a folder named on the command line must exist' "$err" 'hint: a folder named on the command line has to be'
printf 'a\000b' >.agents/skills/pdf-processing/bytes
run python3 -S -c 'import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' "$MAPM" skill files pdf-processing bytes
is 'skill files refuses to print a binary file to a terminal' "$status" 1
like 'the message says that the file is not text' "$out" 'bytes is not text'
exits 'skill files writes a binary file to a pipe' 0 mapm skill files pdf-processing bytes
rm .agents/skills/pdf-processing/bytes
exits 'skill files accepts a path that starts with ./' 0 mapm -q skill files pdf-processing ./references/forms.md
exits 'skill files refuses a path that leads out of the skill' 4 mapm -q skill files pdf-processing ../x
like 'the error names the path that leads out of the skill' "$err" '"\.\./x" is not the path of a file in skill .pdf-processing.'
like 'the hint points to the paths in the list of files' "$err" 'hint: paths are as its list of files has them'
exits 'skill files succeeds without a path [L15]' 0 mapm -q skill files pdf-processing
is 'skill files lists the files by kind' "$(printf '%s\n' "$out" | sed 's/  */ /g')" \
    'reference 7 B references/forms.md
script 9 B scripts/run.py *'
exits 'skill files --json succeeds' 0 mapm -q skill files pdf-processing --json
is 'skill files --json has name, extension and type of each file' \
    "$(json '[(f["path"], f["name"], f["extension"], f["type"], f["executable"]) for f in d["files"]]')" \
    "[('references/forms.md', 'forms.md', 'md', 'reference', False), ('scripts/run.py', 'run.py', 'py', 'script', True)]"
exits 'skill files succeeds for the path of a file [L14]' 0 mapm -q skill files pdf-processing scripts/run.py
is 'skill files prints the content of the file' "$out" 'print(1)'
head -c 70000 /dev/zero | tr '\0' y >$W/pdf-processing/long.txt
exits 'skill files succeeds for a file of 70,000 bytes' 0 mapm -q skill files pdf-processing long.txt
is 'skill files cuts a long file at 64 KB' "$(printf '%s' "$out" | wc -c | tr -d ' ')" 65536
like 'skill files warns that the file is longer' "$err" '^warning: long\.txt is longer'
exits 'skill files --json succeeds for a long file' 0 mapm -q skill files pdf-processing long.txt --json
is 'skill files --json marks a text that was cut' "$(json 'd["truncated"], len(d["text"])')" '(True, 65536)'
ln -s /etc/passwd $W/pdf-processing/passwd
for bad in ../review/SKILL.md /etc/passwd passwd nothing; do
    exits "skill files refuses a file outside, a link or a missing file: $bad" "$([ $bad = nothing ] && echo 1 || echo 4)" \
        mapm -q skill files pdf-processing $bad
    unlike 'skill files prints nothing of a file that it refuses' "$out" root:
done
rm $W/pdf-processing/passwd
mkdir $W/pdf-processing/.git
echo secret >$W/pdf-processing/.git/config
echo odd >"$W/pdf-processing/10:30?
x.md"
exits 'skill files succeeds with files that could not be installed' 0 mapm -q skill files pdf-processing
like 'skill files prints a name with a line break in one line' "$out" '^reference *4 B  10:30\?\\x0ax\.md$'
unlike 'skill files leaves the .git folder out of its list' "$out" git
exits 'skill files refuses to print a file in the .git folder' 4 mapm -q skill files pdf-processing .git/config
unlike 'skill files prints nothing of a file in the .git folder' "$out" secret
exits 'skill files succeeds for a name with a line break' 0 mapm -q skill files pdf-processing "10:30?
x.md"
is 'skill files prints the file whose name has a line break' "$out" odd
rm -r $W/pdf-processing/.git $W/pdf-processing/10*
exits 'skill files succeeds for a skill with no files besides SKILL.md' 0 mapm skill files review
like 'skill files says that the skill has no other files' "$err" 'no files besides'

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
exits 'skill list succeeds with links as folders of skills' 0 mapm -q skill list
like 'skill list follows a link that stays in the workspace [T31, A4]' "$out" '^linked +workspace'
like 'skill list follows a global link that stays in the home folder' "$out" '^in-home +global'
unlike 'skill list leaves out skills behind links that lead out' "$out" '^outside|^at-home'
exits 'skill list without -q succeeds with links that lead out' 0 mapm skill list
is 'skill list warns once for each link that leads out' "$(printf '%s\n' "$err" | grep -c 'outside/SKILL\.md: its folder is a link that leads out of ')" 2
is 'a workspace link to the home folder counts as leading out' "$(printf '%s\n' "$err" | grep -c 'at-home/SKILL\.md: its folder is a link that leads out of ')" 1
exits 'skill files succeeds for a linked skill' 0 mapm skill files linked
exits 'skill list --root accepts a folder of the workspace' 0 mapm -q skill list --root sources
like 'skill list --root reads the folder of the workspace' "$out" '^linked '
ln -s "$away" further-away
exits 'skill list --root fails for a link that leads out of the workspace' 4 mapm skill list --root further-away
like 'the error names the link of --root' "$err" 'further-away'
like 'the error says that the link leads out of the workspace' "$err" 'it is a link that leads out of '
like 'the hint says to name the folder that the link leads to' "$err" 'name the folder that it leads to'
exits 'skill list --root accepts the folder itself outside the workspace' 0 mapm -q skill list --root "$away"
like 'skill list --root reads the folder outside the workspace' "$out" '^outside +global'
rm further-away
mv .swival swival.aside
mkdir .swival
ln -s "$away" .swival/skills
exits 'skill list succeeds when a usual folder is a link that leads out' 0 mapm skill list
like 'skill list warns that it skips the usual folder behind the link' "$err" '^warning: skipping the skills in .*/\.swival/skills: it is a link that leads out of '
unlike 'skill list prints no skill of the usual folder behind the link' "$out" '^outside'
rm -r .swival
mv swival.aside .swival
rm $W/outside $W/linked $W/at-home "$HOME/.agents/skills/in-home" "$HOME/.agents/skills/outside"
rm -r sources "$away" "$HOME/notes"

# --- the cache ----------------------------------------------------------------------------------

exits 'the description of a skill is changed in place' 0 sh -c "sed -i 's/^description:.*/description: Now something else./' $W/think/SKILL.md"
exits 'skill search succeeds right after a skill was changed [L9]' 0 mapm -q skill search something
like 'skill search prints the changed description at once' "$out" '^- think \[workspace\] — Now something else\.$'
rm -r $W/think
exits 'skill list succeeds after a skill was deleted' 0 mapm -q skill list
unlike 'skill list no longer prints a deleted skill' "$out" '^think'
MAPM_HOME=$T/nostore "$MAPM" runs >/dev/null 2>&1
python3 -S -c 'import sqlite3, sys
d = sqlite3.connect(sys.argv[1])
d.execute("pragma user_version=99")
d.commit()' "$T/nostore/mapm.db"
exits 'skill search succeeds with a mapm.db of an unknown version' 0 env MAPM_HOME="$T/nostore" "$MAPM" skill search review --root "$G"
like 'skill search finds skills with a mapm.db of an unknown version' "$out" '^- review '
exits 'skill load succeeds with a mapm.db of an unknown version' 0 env MAPM_HOME="$T/nostore" "$MAPM" skill load review --root "$G"
like 'skill load warns that it could not record the event' "$err" '^warning: this is not among the events'
exits 'skill load --session fails with a mapm.db of an unknown version' 4 env MAPM_HOME="$T/nostore" "$MAPM" skill load review --root "$G" --session x
like 'the error says that the session cannot be kept' "$err" 'session cannot be kept'

for state in '' garbage '{' '[]' '{"activations": 1}' '{"activations": [{"name": 7}]}'; do
    mapm skill load review --root "$G" --session hurt >/dev/null 2>&1
    python3 -S -c 'import sqlite3, sys
d = sqlite3.connect(sys.argv[1])
d.execute("update sessions set state = ? where id = ?", (sys.argv[2].encode(), b"hurt"))
d.commit()' "$MAPM_HOME/mapm.db" "$state"
    exits "[F3] (d) a session with the damaged state '$state' begins again" 0 mapm skill load review --root "$G" --session hurt
    like "[F3] (d) a warning says that the session was damaged ($state)" "$err" 'the session "hurt" was damaged: it begins again'
done

# --- hidden characters ----------------------------------------------------------------------------

skill $W/sly
printf 'Plain words \342\200\256and others.\n' >>$W/sly/SKILL.md
printf 'a\nb\342\201\246c\n' >$W/sly/notes.md
exits '[F3] skill load succeeds for a local skill with a hidden character' 0 mapm skill load sly
like '[F3] skill load warns about the hidden character with file and line' "$err" \
    "^warning: skill 'sly': SKILL\.md:[0-9]+ contains U\+202E \(bidirectional control\), which is invisible"
exits '[F3] skill load --as system succeeds for a skill with a hidden character' 0 mapm skill load --as system sly
like '[F3] skill load --as system warns about the hidden character' "$err" 'U\+202E'
exits '[F3] skill files succeeds for a file with a hidden character' 0 mapm skill files sly notes.md
like '[F3] skill files warns about the hidden character with file and line' "$err" "^warning: skill 'sly': notes\.md:2 contains U\+2066"
exits '[F3] skill list succeeds with a hidden character in a body' 0 mapm skill list
unlike '[F3] skill list does not warn about hidden characters in bodies' "$err" 'U\+202E'
rm -r $W/sly
mkdir $W/cr && printf -- '---\nname: cr\ndescription: "seen\\rhidden"\n---\nx\n' >$W/cr/SKILL.md
exits '[F3] skill list succeeds with a carriage return in a description' 0 mapm skill list
like '[F3] a carriage return in a description makes the skill invalid' "$err" 'cr/SKILL.md: line 3: description contains U\+000D'
unlike '[F3] skill list leaves out the skill with the carriage return' "$out" '^cr '
rm -r $W/cr

# --- the command line -----------------------------------------------------------------------------

exits 'skill without a subcommand is a usage error' 2 mapm skill
exits 'skill with an unknown subcommand is a usage error' 2 mapm skill lsit
like 'the error suggests the nearest subcommand' "$err" 'did you mean "mapm skill list"'
exits 'skill list with an argument is a usage error' 2 mapm skill list x
words=$(mapm skill --help | sed -n '/^arguments:/,/^$/s/^  \([a-z]*\) .*/\1/p' | tr '\n' ' ')
is 'skill --help lists every subcommand of the table' "$words" "$(sed -n '/ skill_words/,/^};/s/^    {"\([a-z]*\)".*/\1/p' "$ROOT/cli/table.c" | tr '\n' ' ')"
exits 'skill show without a name is a usage error' 2 mapm skill show
like 'the error shows the usage of skill show' "$err" 'usage: mapm skill \[OPTION\]\.\.\. show NAME'
exits 'skill list rejects an option of another subcommand' 2 mapm skill list --session x
like 'the error names the option that skill list does not have' "$err" 'mapm skill list has no option --session'
done_testing
