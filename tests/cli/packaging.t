#!/bin/sh
# [S7, S8] What a release is made with, as far as it can be checked cheaply; the rest
# is `make release-check`: tests/release.
. "$(dirname "$0")/../lib/cli.sh"

parts=$T/parts
mkdir -p "$parts/tests" && cp -r "$ROOT/packaging" "$ROOT/Makefile" "$ROOT/CHANGELOG.md" "$parts"
cd "$parts" || exit 1
rm -rf packaging/*/
# part NAME STATUS: a part that prints its artifact and ends so.
part()
{
    mkdir -p "packaging/$1"
    printf '#!/bin/sh\necho "$VERSION of $SOURCE_DATE_EPOCH" >"$1/%s.txt" && echo %s.txt\necho why it ends >&2\nexit %d\n' \
        "$1" "$1" "$2" >"packaging/$1/build"
    chmod +x "packaging/$1/build"
}
version=$(sed -n 's/^VERSION := //p' "$ROOT/Makefile")

# --- packaging/dist ---------------------------------------------------------------
part static 0
part a 0
part b 77
exits '[S7] dist succeeds when a part cannot be built' 0 env SOURCE_DATE_EPOCH=1700000000 packaging/dist out
is 'dist builds the static programs first' "$(printf '%s\n' "$out" | sed -n 's/^== //p' | tr '\n' ' ')" 'static a b '
like '[S7] dist lists the part that was not built with its reason' "$out" 'b: why it ends'
is 'a part receives version and time' "$(cat out/a.txt)" "$version of 1700000000"
ok 'SHA256SUMS has the hashes of the artifacts' sh -c 'cd out && sha256sum -c --quiet SHA256SUMS'
is 'SHA256SUMS has every artifact' "$(sed 's/.*  //' out/SHA256SUMS | tr '\n' ' ')" 'a.txt b.txt static.txt '
not_ok 'dist without a key writes no signature' test -e out/SHA256SUMS.sig
ssh-keygen -q -t ed25519 -N '' -f "$T/key" && echo "release $(cat "$T/key.pub")" >"$T/signers"
exits '[S7] dist succeeds with a release key' 0 env MAPM_RELEASE_KEY="$T/key" packaging/dist out a
# signed FILE: whether the signature is of this file.
signed()
{
    ssh-keygen -q -Y verify -f "$T/signers" -I release -n mapm-release -s out/SHA256SUMS.sig <"$1"
}
ok 'the signature verifies for SHA256SUMS' signed out/SHA256SUMS
not_ok 'the signature does not verify for another file' signed out/a.txt
exits 'dist succeeds again with a release key' 0 env MAPM_RELEASE_KEY="$T/key" packaging/dist out a
unlike 'SHA256SUMS does not list its signature' "$(cat out/SHA256SUMS)" 'sig$'
not_ok 'dist fails when the release key is missing' env MAPM_RELEASE_KEY="$T/none" packaging/dist out a 2>/dev/null
exits 'dist succeeds without a key after a signed build' 0 packaging/dist out
not_ok 'dist without a key deletes an earlier signature' test -e out/SHA256SUMS.sig
exits '[S7] dist fails in CI when a part cannot be built' 1 env CI=true packaging/dist out
part c 3
exits 'dist fails when a part fails' 1 packaging/dist out
like 'dist prints the reason of the failed part' "$err" 'why it ends'
exits 'dist builds the named part alone' 0 packaging/dist out a
printf '#!/bin/sh\necho "checks $1" && [ "$MAPM_VERSION" ]\n' >packaging/a/check && chmod +x packaging/a/check
printf '#!/bin/sh\necho 1..1\n[ -s "$MAPM_DIST/a.txt" ] && echo ok 1 || echo not ok 1\n' >release.t
mkdir tests/release && mv release.t tests/release && chmod +x tests/release/release.t
exits '[S7] dist --check succeeds' 0 packaging/dist --check out a
like 'dist --check runs the check of the part' "$out" '^checks .*/out$'
like 'dist --check runs the tests of tests/release' "$out" 'Result: PASS'
printf '#!/bin/sh\nexit 1\n' >packaging/a/check
exits 'dist --check fails when the check of a part fails' 1 packaging/dist --check out a

# --- packaging/tar ----------------------------------------------------------------
SOURCE_DATE_EPOCH=1700000000
export SOURCE_DATE_EPOCH
for way in 022 077; do
    mkdir -p "$T/$way/tree/b"
    (umask $way && cd "$T/$way/tree" && if [ $way = 022 ]; then echo x >a && echo y >b/c; else echo y >b/c && echo x >a; fi)
    chmod 755 "$T/$way/tree/b" && touch -d "2001-0${way#0}-01" "$T/$way/tree/a" 2>/dev/null
    chmod u+x "$T/$way/tree/a"
    "$ROOT/packaging/tar" "$T/$way/tree" "$T/$way.tar.gz"
done
ok '[S8] an archive depends on names, bytes and execute bits alone' cmp "$T/022.tar.gz" "$T/077.tar.gz"

# --- what each part says -----------------------------------------------------------
cd "$ROOT" || exit 1
for f in packaging/dist packaging/tar packaging/reproducible packaging/*/build packaging/static/*; do
    case $(head -n 1 "$f") in
    *sh) ok "$f can be read" sh -n "$f" ;;
    *python3) ok "$f can be read" python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$f" ;;
    *) fail "$f: what reads it?" ;;
    esac
    ok "$f is executable" test -x "$f"
done
printf 'curl 7.88.1-10 source %064d\nlibedit-dev 3 package %064d\nzlib1g-dev 1:1.2 package %064d\n' 1 2 3 >"$T/versions"
exits '[S7] the SBOM is written' 0 env VERSION=1.2.3 packaging/static/sbom x86_64 abc "$T/versions"
is 'the SBOM lists mapm and the libraries inside with versions' \
    "$(printf '%s\n' "$out" | python3 -c 'import json, sys; print(" ".join(p["name"] + "=" + p["versionInfo"] for p in json.load(sys.stdin)["packages"]))')" \
    'mapm=1.2.3 curl=7.88.1-10 zlib1g-dev=1:1.2'
first=$out
run env VERSION=1.2.3 TZ=Asia/Kathmandu LC_ALL=C packaging/static/sbom x86_64 abc "$T/versions"
is '[S8] the SBOM has the same bytes in any locale and time zone' "$out" "$first"
exits 'libraries rejects an unknown machine' 2 packaging/static/libraries m68k
like 'the error of libraries names the known machines' "$err" 'x86_64'

# --- what is built in ---------------------------------------------------------------
exits '[S7] version --json succeeds' 0 mapm version --json
is 'version --json has libraries, channel and commit' "$(printf '%s\n' "$out" | python3 -c 'import json, sys; d = json.load(sys.stdin); print(sorted(d), d["libraries"], d["channel"])')" \
    "['channel', 'commit', 'libraries', 'schema', 'version'] [] source"
exits 'doctor succeeds in a build from source' 0 mapm doctor
like 'doctor prints version and channel' "$out" "version +$version, source"
done_testing
