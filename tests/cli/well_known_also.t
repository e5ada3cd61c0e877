#!/bin/sh
# A skill of an index that another origin has, too: the lock names it below `also:`,
# which is believed once its own index has offered the same content [X42, row 44].
. "$(dirname "$0")/../lib/cli.sh"
. "$ROOT/tests/lib/index.sh"

# publish N TEXT: the site N has the skill weather.
publish()
{
    mkdir -p "$T/site$1/skills/weather"
    printf -- '---\nname: weather\ndescription: Tells the weather.\n---\n%s\n' "$2" >"$T/site$1/skills/weather/SKILL.md"
    mapm catalog index "$T/site$1" >/dev/null 2>"$T/publish.err" || diag "$(cat "$T/publish.err")"
}
publish 1 'Do it.'
serve_index "$T/site1" "$T/log1"
one=$served
publish 2 'Do it.'
serve_index "$T/site2" "$T/log2"
two=$served
skill1="http://$one/.well-known/agent-skills/index.json?skill=weather"
skill2="http://$two/.well-known/agent-skills/index.json?skill=weather"
mapm trust --index "$one" "$two" >/dev/null 2>&1
cold()
{
    rm -rf .agents .claude .gitignore "$MAPM_HOME/store" "$MAPM_HOME"/mapm.db*
    mapm trust --index "$one" "$two" >/dev/null 2>&1
}

printf 'dependencies:\n  skills: ["%s", "%s"]\n' "$skill2" "$skill1" >mapm.yaml
exits 'two indexes of one skill' 0 mapm install
ok 'are one package' grep -qF "also: [\"$skill1\"]" mapm.lock
exits 'which is verified' 0 mapm verify
exits 'and installed as it is locked' 0 mapm install --locked --offline
cold
exits '[X42] cold, too' 0 mapm install --locked
like 'by the index of the other one' "$(tail -n 3 "$T/log1")" 'index.json 200'
exits 'after which both are proved' 0 mapm verify
cp mapm.lock "$T/good.lock" && cp mapm.yaml "$T/good.yaml"

# The second one is another skill now, and the lock says that both are that one.
publish 2 'Do evil.'
mkdir ../evil && cd ../evil || exit 1
exits 'another skill of the name' 0 mapm install "$skill2"
sed "s|^    url: |    also: [\"$skill1\"]\n&|" mapm.lock >"$T/evil.lock"
cd ../ws || exit 1
cp "$T/evil.lock" mapm.lock
exits '[X42] a lock that gives its content to the first' 1 mapm install --locked
is 'is refused' "$(tail -n 1 .agents/skills/weather/SKILL.md)" 'Do it.'
exits 'without the network' 1 mapm install --locked --offline
exits 'verify' 3 mapm verify
like 'names it' "$out" "weather: not proved to be the same as http://$one/"
cold
exits 'and cold' 1 mapm install --locked
not_ok 'nothing is installed' test -e .agents/skills

# A repository of git that has it, too, until it has another one of the name.
start_githost
mkdir -p "$T/src/skills/weather"
cp "$T/site1/skills/weather/SKILL.md" "$T/src/skills/weather/"
make_repo acme/catalog "$T/src"
git=https://github.com/acme/catalog/tree/main/skills/weather
printf 'dependencies:\n  skills: ["%s", "%s"]\n' "$skill1" "$git" >mapm.yaml
rm mapm.lock
exits 'a skill of an index and of a repository' 0 mapm install
exits 'is one, verified' 0 mapm verify
exits 'as it is locked' 0 mapm install --locked --offline
cold
exits 'and cold' 0 mapm install --locked
exits 'proved again' 0 mapm verify
cp "$T/site2/skills/weather/SKILL.md" "$T/src/skills/weather/"
make_repo acme/catalog "$T/src"
cd ../evil && rm -rf .agents .claude mapm.* || exit 1
exits 'the one that the repository has now' 0 mapm install "$git"
commit=$(sed -n 's/^    commit: //p' mapm.lock)
sed "s|^    commit: |    also: [\"$skill1\"]\n&|" mapm.lock >../ws/mapm.lock
cd ../ws || exit 1
exits '[X42] a repository that gives its content to the index' 1 mapm install --locked
exits 'is seen by verify' 3 mapm verify
like 'too' "$out" "weather: not proved to be the same as http://$one/"
cold
exits 'and cold' 1 mapm install --locked
printf 'dependencies:\n  skills: ["%s", "%s"]\n' "$skill2" "$git" >mapm.yaml
sed "s|also: .*|also: [$git#$commit]|; s|^version: .*|version: 2|" "$T/evil.lock" >mapm.lock
exits '[X42] an index that gives its content to the repository' 1 mapm install --locked
not_ok 'nothing is installed' test -e .agents/skills
done_testing
