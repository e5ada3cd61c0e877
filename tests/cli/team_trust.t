#!/bin/sh
# Which stores count: those of the user, and those that mapm.yaml proposes once they
# were accepted as they are. Addresses of this machine and its network are for
# config.yaml to name. [S1]
. "$(dirname "$0")/../lib/cli.sh"

U=https://github.com/acme/catalog/tree
skill "$T/src/skills/base" 'scope: acme'
make_repo acme/catalog "$T/src"
start_githost
exits 'a workspace' 0 mapm install --yes "$U/main/skills/base"
mkdir -p "$XDG_CONFIG_HOME/mapm"

# again [ARG...]: an install from nothing; what is asked of stores is in $err.
again()
{
    rm -rf "$T/m" .agents .claude
    run env MAPM_HOME="$T/m" "$@" "$MAPM" -v install --locked --yes
}
propose()
{
    sed -i '/^store:/d' mapm.yaml
    printf 'store: %s\n' "$1" >>mapm.yaml
}
A=https://a.invalid/store B=oci://b.invalid/acme/mapm

# --- of mapm.yaml ----------------------------------------------------------------

propose "{remote: [\"$A\"]}"
again
is 'a store of mapm.yaml is not needed' "$status" 0
unlike 'nor asked' "$err" "store $A"
like 'a note says so' "$err" 'mapm.yaml names stores that are not accepted'
exits 'without consent it stays so' 4 mapm trust --workspace
like 'the URL is shown' "$out" "^ *$A\$"
again
unlike 'it is still not asked' "$err" "store $A"
mkdir "$T/trusted"
exits 'it is accepted' 0 env MAPM_HOME="$T/trusted" "$MAPM" trust --workspace --yes
like 'its URL is shown' "$out" "^ *$A\$"
like 'it is listed' "$(MAPM_HOME=$T/trusted mapm trust --list)" '^store'
# trusted [ARG...]: like again, on a machine that has accepted $A.
trusted()
{
    rm -rf "$T/m" .agents .claude
    cp -r "$T/trusted" "$T/m"
    run env MAPM_HOME="$T/m" "$@" "$MAPM" -v install --locked --yes
}
trusted
like 'it is asked' "$err" "store $A: mapm1"
unlike 'and no note' "$err" 'are not accepted'
for changed in "{remote: [\"$A/\", \"$B\"]}" "{remote: [\"$B\"]}" \
    "{remote: [\"$A\"], only: true}" "{remote: [\"${A}s\"]}"; do
    propose "$changed"
    trusted
    is "$changed: is another proposal" "$status" 0
    unlike "$changed: is not asked" "$err" 'mapm-fetch: store'
    like "$changed: a note says so" "$err" 'are not accepted'
done
propose "{remote: [\"$A\"]}"
mkdir "$T/clone" && cp -r . "$T/clone" && cd "$T/clone" || exit 1
trusted
unlike 'in another folder it is not accepted' "$err" "store $A"
cd "$T/ws" || exit 1
exits 'it is taken back' 0 env MAPM_HOME="$T/trusted" "$MAPM" trust --revoke --workspace
trusted
unlike 'and not asked' "$err" "store $A"

# --- addresses ------------------------------------------------------------------------

for url in http://localhost:1/x oci://127.0.0.1:5000/x 'https://[::1]/x' \
    http://a.example/x https://me:hunter2@a.example/x; do
    propose "{remote: [\"$url\"]}"
    exits "$url may not stand in mapm.yaml" 1 mapm install --locked
    like '... with its line' "$err" "mapm.yaml:[0-9]*: not the URL of a store"
    unlike '... without a password' "$err$out" hunter2
done
propose '{remote: ["http://localhost:1/x"]}'
exits 'one of this machine' 1 mapm install --locked
like '... is for another file' "$err" 'hint: move it to store: in your own .*/config.yaml'
for url in https://10.1.2.3/x https://169.254.169.254/x oci://192.168.0.9/x 'https://[fd00::1]/x' \
    https://2130706433/x; do
    propose "{remote: [\"$url\"]}"
    exits "mapm.yaml: $url is not shown to be accepted" 1 mapm trust --workspace --yes
    like '... with its line' "$err" 'mapm.yaml:[0-9]*: .*: only config.yaml may name a private address$'
    like '... and the file that may' "$err" 'hint: move it to store: in your own .*/config.yaml'
    exits '... MAPM_STORE' 1 env MAPM_STORE="$url" "$MAPM" install --locked
    like '... likewise' "$err" 'only config.yaml may name a private address$'
done
private='its name leads to .*, a private address, which only config.yaml may name'
propose '{remote: ["https://store.localhost:1/x"]}'
rm -rf "$T/trusted" && mkdir "$T/trusted"
exits 'mapm.yaml: a name is accepted' 0 env MAPM_HOME="$T/trusted" "$MAPM" trust --workspace --yes
trusted
like '... and its address looked at' "$err" "$private"
is '... and the host serves it' "$status" 0
sed -i '/^store:/d' mapm.yaml
again MAPM_STORE=http://127.0.0.1:1/x
unlike 'MAPM_STORE: this machine' "$err" "$private"
like '... is asked' "$err" 'store http://127.0.0.1:1/x: mapm1'
printf 'store: {remote: ["https://127.255.255.254:1/x"]}\n' >"$XDG_CONFIG_HOME/mapm/config.yaml"
again
unlike 'config.yaml: any address' "$err" "$private"
like '... is asked' "$err" 'store https://127.255.255.254:1/x: mapm1'

# --- what cannot be read -----------------------------------------------------------------

exits 'MAPM_STORE that is no URL' 1 env MAPM_HOME="$T/none" MAPM_STORE='ghcr.io/acme' \
    "$MAPM" install --locked --yes
is '[S1] is one error, not one of each package' "$err" \
    'mapm: cannot use MAPM_STORE
  because: not the URL of a store: "ghcr.io/acme": it does not begin with oci:// or https://
  hint: write oci://host/repository for a registry, or https://host/path for a folder on a web server'
exits 'which mapm remove does not ask' 0 env MAPM_STORE='ghcr.io/acme' "$MAPM" remove --dry-run base
exits 'a registry without a repository' 1 env MAPM_STORE='oci://ghcr.io' "$MAPM" install --locked
like 'lacks that' "$err" 'it names no repository'
again MAPM_STORE='  '
is 'blanks are no store' "$status" 0
echo 'store: {remote: x}' >"$XDG_CONFIG_HOME/mapm/config.yaml"
exits 'config.yaml that cannot be read' 1 mapm install --locked
like 'is named' "$err" 'config.yaml:1: remote must be a list'
done_testing
