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
exits 'install of one skill from two indexes succeeds' 0 mapm install
ok 'the lock has the second index below also' grep -qF "also: [\"$skill1\"]" mapm.lock
exits 'verify succeeds for a skill of two indexes' 0 mapm verify
exits 'install --locked --offline succeeds for a skill of two indexes' 0 mapm install --locked --offline
cold
exits '[X42] install --locked succeeds on a cold machine' 0 mapm install --locked
like 'install --locked asks the second index on a cold machine' "$(tail -n 3 "$T/log1")" 'index.json 200'
exits 'verify succeeds after the cold install' 0 mapm verify
cp mapm.lock "$T/good.lock" && cp mapm.yaml "$T/good.yaml"

# The second one is another skill now, and the lock says that both are that one.
publish 2 'Do evil.'
mkdir ../evil && cd ../evil || exit 1
exits 'install of another skill of the same name succeeds' 0 mapm install "$skill2"
sed "s|^    url: |    also: [\"$skill1\"]\n&|" mapm.lock >"$T/evil.lock"
cd ../ws || exit 1
cp "$T/evil.lock" mapm.lock
exits '[X42] install --locked fails when the lock gives other content to an index' 1 mapm install --locked
is 'the failed install leaves the skill unchanged' "$(tail -n 1 .agents/skills/weather/SKILL.md)" 'Do it.'
exits 'install --locked --offline fails for the false lock' 1 mapm install --locked --offline
exits 'verify exits 3 for the false lock' 3 mapm verify
like 'verify names the index that is not proved to have the same content' "$out" "weather: not proved to be the same as http://$one/"
cold
exits 'install --locked fails for the false lock on a cold machine' 1 mapm install --locked
not_ok 'the failed cold install installs no skill' test -e .agents/skills

# A repository of git that has it, too, until it has another one of the name.
start_githost
mkdir -p "$T/src/skills/weather"
cp "$T/site1/skills/weather/SKILL.md" "$T/src/skills/weather/"
make_repo acme/catalog "$T/src"
git=https://github.com/acme/catalog/tree/main/skills/weather
printf 'dependencies:\n  skills: ["%s", "%s"]\n' "$skill1" "$git" >mapm.yaml
rm mapm.lock
exits 'install of one skill from an index and a repository succeeds' 0 mapm install
exits 'verify succeeds for a skill of an index and a repository' 0 mapm verify
exits 'install --locked --offline succeeds for an index and a repository' 0 mapm install --locked --offline
cold
exits 'install --locked succeeds for both on a cold machine' 0 mapm install --locked
exits 'verify succeeds for both after the cold install' 0 mapm verify
cp "$T/site2/skills/weather/SKILL.md" "$T/src/skills/weather/"
make_repo acme/catalog "$T/src"
cd ../evil && rm -rf .agents .claude mapm.* || exit 1
exits 'install of the changed skill of the repository succeeds' 0 mapm install "$git"
commit=$(sed -n 's/^    commit: //p' mapm.lock)
sed "s|^    commit: |    also: [\"$skill1\"]\n&|" mapm.lock >../ws/mapm.lock
cd ../ws || exit 1
exits '[X42] install --locked fails when a repository gives content to an index' 1 mapm install --locked
exits 'verify exits 3 when a repository gives content to an index' 3 mapm verify
like 'verify names the index that is not proved to have that content' "$out" "weather: not proved to be the same as http://$one/"
cold
exits 'install --locked fails for that lock on a cold machine' 1 mapm install --locked
printf 'dependencies:\n  skills: ["%s", "%s"]\n' "$skill2" "$git" >mapm.yaml
sed "s|also: .*|also: [$git#$commit]|; s|^version: .*|version: 2|" "$T/evil.lock" >mapm.lock
exits '[X42] install --locked fails when an index gives content to a repository' 1 mapm install --locked
not_ok 'the failed install of an index and a repository installs no skill' test -e .agents/skills
done_testing
