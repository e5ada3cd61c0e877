#!/bin/sh
# Which stores count: those of the user, and those that mapm.yaml proposes once they
# were accepted as they are. Addresses of this machine and its network are for
# config.yaml to name. [S1]
. "$(dirname "$0")/../lib/cli.sh"

U=https://github.com/acme/catalog/tree
skill "$T/src/skills/base" 'scope: acme'
make_repo acme/catalog "$T/src"
start_githost
exits 'install of a skill succeeds' 0 mapm install --yes "$U/main/skills/base"
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
is 'install succeeds without an accepted store of mapm.yaml' "$status" 0
unlike 'install does not ask a store that is not accepted' "$err" "store $A"
like 'a note says that the stores of mapm.yaml are not accepted' "$err" 'mapm.yaml names stores that are not accepted'
exits 'trust --workspace without consent is refused' 4 mapm trust --workspace
like 'trust --workspace shows the URL of the store' "$out" "^ *$A\$"
again
unlike 'install still does not ask the store' "$err" "store $A"
mkdir "$T/trusted"
exits 'trust --workspace --yes accepts the store' 0 env MAPM_HOME="$T/trusted" "$MAPM" trust --workspace --yes
like 'trust --workspace --yes shows the URL of the store' "$out" "^ *$A\$"
like 'trust --list shows the store' "$(MAPM_HOME=$T/trusted mapm trust --list)" '^store'
# trusted [ARG...]: like again, on a machine that has accepted $A.
trusted()
{
    rm -rf "$T/m" .agents .claude
    cp -r "$T/trusted" "$T/m"
    run env MAPM_HOME="$T/m" "$@" "$MAPM" -v install --locked --yes
}
trusted
like 'install asks the accepted store' "$err" "store $A: mapm1"
unlike 'install prints no note about an accepted store' "$err" 'are not accepted'
for changed in "{remote: [\"$A/\", \"$B\"]}" "{remote: [\"$B\"]}" \
    "{remote: [\"$A\"], only: true}" "{remote: [\"${A}s\"]}"; do
    propose "$changed"
    trusted
    is "install succeeds with the changed proposal $changed" "$status" 0
    unlike "install asks no store of the changed proposal $changed" "$err" 'mapm-fetch: store'
    like "a note says that the changed proposal is not accepted: $changed" "$err" 'are not accepted'
done
propose "{remote: [\"$A\"]}"
mkdir "$T/clone" && cp -r . "$T/clone" && cd "$T/clone" || exit 1
trusted
unlike 'install in another folder does not ask the accepted store' "$err" "store $A"
cd "$T/ws" || exit 1
exits 'trust --revoke --workspace succeeds' 0 env MAPM_HOME="$T/trusted" "$MAPM" trust --revoke --workspace
trusted
unlike 'install does not ask a store that was revoked' "$err" "store $A"

# --- addresses ------------------------------------------------------------------------

for url in http://localhost:1/x oci://127.0.0.1:5000/x 'https://[::1]/x' \
    http://a.example/x https://me:hunter2@a.example/x; do
    propose "{remote: [\"$url\"]}"
    exits "install rejects $url in mapm.yaml" 1 mapm install --locked
    like 'the error gives the line of mapm.yaml' "$err" "mapm.yaml:[0-9]*: not the URL of a store"
    unlike 'no output contains the password of the URL' "$err$out" hunter2
done
propose '{remote: ["http://localhost:1/x"]}'
exits 'install rejects a store of this machine in mapm.yaml' 1 mapm install --locked
like 'the hint names config.yaml for a store of this machine' "$err" 'hint: move it to store: in your own .*/config.yaml'
for url in https://10.1.2.3/x https://169.254.169.254/x oci://192.168.0.9/x 'https://[fd00::1]/x' \
    https://2130706433/x; do
    propose "{remote: [\"$url\"]}"
    exits "trust --workspace --yes rejects $url in mapm.yaml" 1 mapm trust --workspace --yes
    like 'the error gives the line and names config.yaml' "$err" 'mapm.yaml:[0-9]*: .*: only config.yaml may name a private address$'
    like 'the hint says to move the private address to config.yaml' "$err" 'hint: move it to store: in your own .*/config.yaml'
    exits 'install rejects a private address in MAPM_STORE' 1 env MAPM_STORE="$url" "$MAPM" install --locked
    like 'the error says that only config.yaml may name a private address' "$err" 'only config.yaml may name a private address$'
done
private='its name leads to .*, a private address, which only config.yaml may name'
propose '{remote: ["https://store.localhost:1/x"]}'
rm -rf "$T/trusted" && mkdir "$T/trusted"
exits 'trust --workspace --yes accepts a store by its name' 0 env MAPM_HOME="$T/trusted" "$MAPM" trust --workspace --yes
trusted
like 'install refuses a private address behind the name of a store' "$err" "$private"
is 'install succeeds from the git host instead' "$status" 0
sed -i '/^store:/d' mapm.yaml
again MAPM_STORE=http://127.0.0.1:1/x
unlike 'install does not refuse a store of this machine in MAPM_STORE' "$err" "$private"
like 'install asks the store of this machine in MAPM_STORE' "$err" 'store http://127.0.0.1:1/x: mapm1'
printf 'store: {remote: ["https://127.255.255.254:1/x"]}\n' >"$XDG_CONFIG_HOME/mapm/config.yaml"
again
unlike 'install does not refuse a private address in config.yaml' "$err" "$private"
like 'install asks the private address in config.yaml' "$err" 'store https://127.255.255.254:1/x: mapm1'

# --- what cannot be read -----------------------------------------------------------------

exits 'install rejects a MAPM_STORE that is no URL' 1 env MAPM_HOME="$T/none" MAPM_STORE='ghcr.io/acme' \
    "$MAPM" install --locked --yes
is '[S1] the error about MAPM_STORE appears once, not for each package' "$err" \
    'mapm: cannot use MAPM_STORE
  because: not the URL of a store: "ghcr.io/acme": it does not begin with oci:// or https://
  hint: write oci://host/repository for a registry, or https://host/path for a folder on a web server'
exits 'remove does not read MAPM_STORE' 0 env MAPM_STORE='ghcr.io/acme' "$MAPM" remove --dry-run base
exits 'install rejects a registry without a repository' 1 env MAPM_STORE='oci://ghcr.io' "$MAPM" install --locked
like 'the error says that the URL names no repository' "$err" 'it names no repository'
again MAPM_STORE='  '
is 'install ignores a MAPM_STORE of blanks' "$status" 0
echo 'store: {remote: x}' >"$XDG_CONFIG_HOME/mapm/config.yaml"
exits 'install fails for a malformed store in config.yaml' 1 mapm install --locked
like 'the error gives the line of config.yaml' "$err" 'config.yaml:1: remote must be a list'
done_testing
