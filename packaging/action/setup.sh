#!/bin/sh
# Step of action.yml: downloads mapm, verifies it, and puts it on the PATH.
# INPUT_URL is where the archives are; the runner gives GITHUB_*, RUNNER_TEMP.
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
version=@VERSION@

fail()
{
    echo "::error::setup-mapm: $*"
    exit 1
}

system=$(uname -s) machine=$(uname -m)
[ "$system" = Linux ] || fail "there is no mapm for $system: use a Linux runner"
case $machine in
x86_64) ;;
aarch64 | arm64) machine=aarch64 ;;
*) fail "there is no mapm for $machine" ;;
esac
archive=mapm-$version-linux-$machine.tar.gz
sum=$(sed -n "s/^\([0-9a-f]\{64\}\)  $archive\$/\1/p" "$here/SHA256SUMS")
[ -n "$sum" ] || fail "SHA256SUMS has no $archive"

url=${INPUT_URL:-}
if [ -z "$url" ]; then
    # github.action_repository is empty in composite actions (actions/runner#2473).
    repository=$(printf '%s\n' "$here" | sed -n 's|.*/_actions/\([^/]*/[^/]*\)/.*|\1|p')
    [ -n "$repository" ] || fail 'where is the release of a local copy of this action? Say it with "url"'
    url=${GITHUB_SERVER_URL:-https://github.com}/$repository/releases/download/v$version
fi

folder=$RUNNER_TEMP/mapm-$version
mkdir -p "$folder"
curl -fsSL --retry 3 --max-filesize 104857600 -o "$folder/$archive" "${url%/}/$archive" ||
    fail "cannot download ${url%/}/$archive"
echo "$sum  $folder/$archive" | sha256sum -c --status - ||
    fail "$archive is not what was released: its SHA-256 is $(sha256sum <"$folder/$archive" | cut -d' ' -f1) instead of $sum"
tar -xzf "$folder/$archive" -C "$folder" --strip-components=1
rm "$folder/$archive"

echo "$folder/bin" >>"$GITHUB_PATH"
{
    echo "version=$version"
    echo "store=$("$folder/bin/mapm" store path)"
} >>"$GITHUB_OUTPUT"
echo "mapm $version in $folder"
