#!/bin/sh
# Every flaw that tests/githost/catalog-gen can put into a catalog: refused with
# its reason and nothing written, or installed with its warning.
# [row 1, row 2, row 3, row 4, row 5, row 6, row 8, row 9, row 10, row 11, M25, M26]
. "$(dirname "$0")/../lib/cli.sh"

"$ROOT/tests/githost/catalog-gen" --out "$T/flaws" --repos 2 --skills 5 --depth 2 \
    --flaws >/dev/null || broken 'catalog-gen has failed'
start_githost --root "$T/flaws"
python3 -S - "$T/flaws/index.json" >"$T/list" <<'PYTHON'
import json, sys
for name, f in json.load(open(sys.argv[1]))["flaws"].items():
    print(name, f["level"], f["url"])
PYTHON
is 'the catalog has 38 flaws' "$(wc -l <"$T/list")" 38

# words NAME: what the message for it has to speak of.
words()
{
    case $1 in
    agent-prereqs) echo 'prereqs' ;;
    bad-origin) echo 'git\.example\.org|origin|host' ;;
    bad-version | no-version) echo 'version' ;;
    bad-yaml) echo 'YAML|yaml|SKILL\.md:[0-9]' ;;
    big-blob) echo 'more than the [0-9]+ allowed' ;;
    case-clash) echo 'the same name' ;;
    changelog-mismatch) echo 'CHANGELOG' ;;
    cycle-*) echo 'cycle|needs itself' ;;
    lfs) echo 'LFS' ;;
    link-in | link-out) echo 'link' ;;
    long-description | no-description) echo 'description' ;;
    mcp-file) echo 'file.*name|name.*file' ;;
    mcp-nometa) echo '_meta' ;;
    mcp-shell) echo 'shell' ;;
    mcp-typo) echo 'placeholder|[$][{]' ;;
    missing-path) echo 'there is no "does-not-exist"' ;;
    missing-ref) echo 'no branch or tag' ;;
    missing-repo) echo 'no such repository|401|404' ;;
    name-mismatch) echo 'name' ;;
    no-frontmatter) echo 'frontmatter' ;;
    submodule) echo 'submodule' ;;
    tree-dupe) echo 'twice|duplicate|same name|one name|order' ;;
    tree-odd-mode) echo 'mode' ;;
    tree-empty-name) echo 'empty|damaged' ;;
    tree-*) echo 'name' ;;
    twin-fqn) echo 'flaw/twin|both|conflict' ;;
    *) echo 'no words for this one' ;;
    esac
}
# All of it; the index's shared memory is rebuilt by whoever reads.
store()
{
    snapshot "$MAPM_HOME" | grep -v -e 'mapm\.db' -e 'store/locks'
}
raw_bytes()
{
    LC_ALL=C grep -Pq '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]' \
        "$T/out" "$T/err"
}
# once, so that the store and its index are there
exits 'install of a package without a flaw succeeds' 0 mapm install --yes \
    "$(python3 -S -c '
import json, sys
print(json.load(open(sys.argv[1]))["roots"][0])' "$T/flaws/index.json")"
while read -r name level url; do
    rm -rf "$T/ws" && mkdir "$T/ws" && cd "$T/ws" || exit 1
    echo mine >mine.txt
    snapshot . >"$T/before"
    store >"$T/store-before"
    run mapm install --yes "$url"
    case $level/$status in
    error/0 | limit/0)
        fail "install of $name is refused"
        show_run
        ;;
    warning/0 | ok-or-refuse/0)
        pass "install of $name succeeds"
        # To the user, or to the author by mapm check [D15].
        [ "$level" = warning ] && like "$name: install or check prints a warning" \
            "$err
$(mapm check .agents 2>&1)" "$(words "$name")"
        exits "$name: verify succeeds" 0 mapm verify
        ;;
    */1 | */4)
        isnt "install of $name is refused" "$level" warning
        like "$name: the error gives the reason" "$err" "$(words "$name")"
        is "$name: the workspace is unchanged" "$(snapshot .)" "$(cat "$T/before")"
        is "$name: the store is unchanged" \
            "$(store)" "$(cat "$T/store-before")"
        ;;
    *)
        fail "install of $name ends with 0, 1 or 4, not $status"
        show_run
        ;;
    esac
    not_ok "$name: the output has no raw control byte" raw_bytes
    [ -z "${FLAWS_SHOW:-}" ] || diag "$name [$status]: $err"
done <"$T/list"
done_testing
