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

exits 'for the user' 0 mapm install --global "$U/skills/mid"
is 'nothing here' "$(ls -A)" ''
ok 'in the home, where clients look' diff -r "$s/skills/mid" "$HOME/.agents/skills/mid"
ok 'a folder of its own' test ! -L "$HOME/.agents/skills/base"
is 'a link to it for those that look elsewhere' "$(readlink "$HOME/.claude/skills/mid")" ../../.agents/skills/mid
ok 'with its own manifest' grep -q "$U/skills/mid" "$MAPM_HOME/global/mapm.yaml"
ok 'and lock' grep -q 'name: acme/base' "$MAPM_HOME/global/mapm.lock"
is 'for nobody else' "$(stat -c %a "$MAPM_HOME")" 700
exits 'list' 0 mapm list --global
like 'lists it' "$out" 'skill +acme/mid'
exits 'this workspace has nothing' 0 mapm list
unlike 'of it' "$out" 'acme/mid'
exits 'tree' 0 mapm tree --global
is 'as in a workspace' "$out" "$(printf 'skill acme/mid 1.0.0\n└── skill acme/base 1.0.0')"
exits 'why' 0 mapm why -g base
exits 'verify' 0 mapm verify --global
exits 'outdated' 0 mapm outdated --global
exits 'again' 0 mapm install --global
like 'nothing to do' "$err" 'nothing to do'

# --- both layers ------------------------------------------------------------------

exits 'another package of the same name in the workspace' 0 mapm install beta/tools/skills/base
like 'is no conflict' "$(grep ^version .agents/skills/base/SKILL.md)" '2\.0\.0'
like 'the library keeps its own' "$(grep ^version "$HOME/.agents/skills/base/SKILL.md")" '1\.0\.0'
exits 'a second package of it in the library is one' 1 mapm install -g beta/tools/skills/base
like 'with both origins' "$err" 'claim the name of skill acme/base'
exits 'from any folder' 0 mapm -C / list -g
exits 'a skill that is there and not ours, though it be equal' 1 env -u MAPM_HOME "$MAPM" install -g "$U/skills/base"
like 'is refused by name' "$err" "$HOME/.agents/skills/base is there already"
exits 'XDG_DATA_HOME decides without MAPM_HOME' 0 env -u MAPM_HOME "$MAPM" install -g "$U/agents/boss"
ok 'there' test -f "$XDG_DATA_HOME/mapm/global/mapm.lock"
exits 'and that library is emptied' 0 env -u MAPM_HOME "$MAPM" remove -g boss
exits 'a server' 0 mapm install -g --yes "$U/mcps/io.acme_tool.json"
exits 'update' 0 mapm update -g
exits 'and all goes again' 0 mapm remove -g mid io.acme/tool
unlike 'without a warning' "$err" warning
is 'leaving nothing' "$(ls -A "$HOME/.agents" "$HOME/.claude" 2>/dev/null)" ''
exits 'the workspace has what it had' 0 mapm verify
exits 'and the library may be filled again' 0 mapm install -g "$U/skills/base"
ok 'where it is looked for' test -f "$HOME/.agents/skills/base/SKILL.md"
done_testing
