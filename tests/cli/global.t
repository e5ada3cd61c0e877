#!/bin/sh
# The user's own library: mapm install --global, beside a workspace. DESIGN 3,
# 4; [X7, H8], REQUIREMENTS 3.7.
. "$(dirname "$0")/../lib/cli.sh"
s=$T/src
U=https://github.com/acme/catalog/tree/main

skill "$s/skills/base" 'scope: acme'
skill "$s/skills/mid" 'scope: acme' 'dependencies:' '  skills:' "    - $U/skills/base"
agent "$s/agents/boss" 'scope: acme'
mcp "$s/mcps/io.acme_tool.json" io.acme/tool npx -y tool
make_repo acme/catalog "$s"
skill "$T/src-b/skills/base" 'scope: acme' 'version: 2.0.0'
make_repo beta/tools "$T/src-b"
start_githost

exits 'install --global of a skill succeeds' 0 mapm install --global "$U/skills/mid"
is 'install --global writes nothing into the workspace' "$(ls -A)" ''
ok 'the skill in the home equals its source' diff -r "$s/skills/mid" "$HOME/.agents/skills/mid"
ok 'the dependency in the home is a folder of its own' test ! -L "$HOME/.agents/skills/base"
is '.claude/skills in the home links to the skill' "$(readlink "$HOME/.claude/skills/mid")" ../../.agents/skills/mid
ok 'the manifest of the library has the root' grep -q "$U/skills/mid" "$MAPM_HOME/global/mapm.yaml"
ok 'the lock of the library has the dependency' grep -q 'name: acme/base' "$MAPM_HOME/global/mapm.lock"
is 'the folder of mapm is readable by the user only' "$(stat -c %a "$MAPM_HOME")" 700
exits 'list --global succeeds' 0 mapm list --global
like 'list --global lists the skill of the library' "$out" 'skill +acme/mid'
exits 'list in the workspace succeeds' 0 mapm list
unlike 'list in the workspace does not list the library' "$out" 'acme/mid'
exits 'tree --global succeeds' 0 mapm tree --global
is 'tree --global shows the skill and its dependency' "$out" "$(printf 'skill acme/mid 1.0.0\n└── skill acme/base 1.0.0')"
exits 'why -g succeeds' 0 mapm why -g base
exits 'verify --global succeeds' 0 mapm verify --global
exits 'outdated --global succeeds' 0 mapm outdated --global
exits 'a second install --global succeeds' 0 mapm install --global
like 'a second install --global has nothing to do' "$err" 'nothing to do'

# --- both layers ------------------------------------------------------------------

exits 'install of another package with the same name in the workspace succeeds' 0 mapm install beta/tools/skills/base
like 'the workspace has its own package of that name' "$(grep ^version .agents/skills/base/SKILL.md)" '2\.0\.0'
like 'the library keeps its own package of that name' "$(grep ^version "$HOME/.agents/skills/base/SKILL.md")" '1\.0\.0'
exits 'install -g of a second package with that name fails' 1 mapm install -g beta/tools/skills/base
like 'the error names the package with the taken name' "$err" 'claim the name of skill acme/base'
exits 'list -g succeeds in any folder' 0 mapm -C / list -g
exits 'install -g fails when an equal skill of another library is there' 1 env -u MAPM_HOME "$MAPM" install -g "$U/skills/base"
like 'the error names the skill that is there already' "$err" "$HOME/.agents/skills/base is there already"
exits 'install -g without MAPM_HOME succeeds' 0 env -u MAPM_HOME "$MAPM" install -g "$U/agents/boss"
ok 'XDG_DATA_HOME has the library without MAPM_HOME' test -f "$XDG_DATA_HOME/mapm/global/mapm.lock"
exits 'remove -g from that library succeeds' 0 env -u MAPM_HOME "$MAPM" remove -g boss
exits 'install -g of a server succeeds' 0 mapm install -g --yes "$U/mcps/io.acme_tool.json"
exits 'update -g succeeds' 0 mapm update -g
exits 'remove -g of all packages succeeds' 0 mapm remove -g mid io.acme/tool
unlike 'remove -g prints no warning' "$err" warning
is 'remove -g leaves no file in .agents and .claude' "$(ls -A "$HOME/.agents" "$HOME/.claude" 2>/dev/null)" ''
exits 'verify in the workspace succeeds after remove -g' 0 mapm verify
exits 'install -g into the emptied library succeeds' 0 mapm install -g "$U/skills/base"
ok 'the skill is in the home again' test -f "$HOME/.agents/skills/base/SKILL.md"
done_testing
