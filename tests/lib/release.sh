# release.sh: what tests of a release need, and cli.sh. `make release-check` gives
# MAPM_DIST, the folder of the artifacts, and MAPM_VERSION.
DIST=${MAPM_DIST:-$(dirname "$0")/../../build/dist}
DIST=$(cd "$DIST" 2>/dev/null && pwd -P)
VERSION=${MAPM_VERSION:-$(sed -n 's/^VERSION := //p' "$(dirname "$0")/../../Makefile")}
# What is costly to make stands outside the tree.
CACHE=${MAPM_PACKAGING_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mapm-packaging}
. "$(dirname "$0")/../lib/cli.sh"

AGENT=https://github.com/mapm-examples/catalog/tree/main/agents/code-reviewer

# needs_artifact PATTERN: without a file of the release that fits the test is skipped.
needs_artifact()
{
    for file in "$DIST"/$1; do
        [ -f "$file" ] || skip_all "the release has no $1"
    done
}
# serve_catalog: the example catalog as on GitHub, over TLS with a certificate of its own.
serve_catalog()
{
    make_repo mapm-examples/catalog "$ROOT/examples/catalog"
    repo mapm-examples/catalog tag v1 "$COMMIT"
    start_githost --tls
}
# quickstart WHO WORKSPACE COMMAND...: the install of `make quickstart` by COMMAND, a
# mapm that runs in WORKSPACE.
quickstart()
{
    who=$1 workspace=$2
    shift 2
    reset_log
    exits "[S7] $who: installs over TLS" 0 "$@" install --yes "$AGENT"
    ok "$who: from the host" test "$(requests)" -gt 0
    ok "$who: with what it needs" test -f "$workspace/.agents/skills/semver-bump/SKILL.md"
    exits "$who: the same from the lock" 0 "$@" install --locked
    exits "$who: and it is verified" 0 "$@" verify
}
# in_root FOLDER COMMAND...: the command in a chroot, with nothing of the environment,
# and the certificate of the catalog's host as /ca.pem. What it mounts goes with it.
in_root()
{
    root=$1
    shift
    mkdir -p "$root/proc" "$root/dev" "$root/tmp"
    unshare --mount --pid --fork sh -c 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" &&
        exec env -i HOME=/root LC_ALL=C.UTF-8 TERM=dumb PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        GIT_SSL_CAINFO=/ca.pem DEBIAN_FRONTEND=noninteractive chroot "$0" "$@"' "$root" "$@"
}
