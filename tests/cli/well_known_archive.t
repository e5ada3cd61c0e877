#!/bin/sh
# Archives of an index, each as .zip and .tar.gz: what may be in one, and what is
# refused as a whole [X42, W5, W6, W7, row 45].
. "$(dirname "$0")/../lib/cli.sh"
. "$ROOT/tests/lib/index.sh"

S=$T/site index=$T/site/.well-known/agent-skills/index.json
mkdir -p "$S/.well-known/agent-skills"
ok 'the archives for the test are written' python3 -S "$ROOT/tests/lib/archives.py" "$S"
serve_index "$S" "$T/log"
H=$served
U=http://$H/.well-known/agent-skills/index.json
mapm trust --index "$H" >/dev/null 2>&1
# entry FILE [TYPE [URL]]: the index has the skill "packed", whose artifact it is.
entry()
{
    printf '{"$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json", "skills": [
        {"name": "packed", "type": "%s", "description": "Comes in an archive.", "url": "%s", "digest": "sha256:%s"}]}' \
        "${2:-archive}" "${3:-/${1##*/}}" "$(sha256sum <"$1" | cut -d' ' -f1)" >"$index"
}
fresh()
{
    rm -rf .agents .claude mapm.*
}
mkdir "$T/want" "$T/want/scripts"
printf -- '---\nname: packed\ndescription: Comes in an archive.\n---\nRun scripts/x.\n' >"$T/want/SKILL.md"
printf '#!/bin/sh\necho x\n' >"$T/want/scripts/x"
chmod 755 "$T/want/scripts/x"

tree=
for file in "$S"/good-*; do
    entry "$file"
    exits "[W6] install of a good archive succeeds: ${file##*/good-}" 0 mapm install "$U" --skill packed
    ok 'the files of the archive equal the source' diff -r "$T/want" .agents/skills/packed
    ok 'an executable file of the archive is executable' test -x .agents/skills/packed/scripts/x
    tree="$tree$(grep ' digest: ' mapm.lock)
"
    fresh
done
is 'all good archives give one digest of the tree' "$(printf '%s' "$tree" | sort -u | grep -c .)" 1

# What tar and zip themselves write, with a path of more than 100 bytes as real skills have it.
long=references/$(printf 'a-rather-long-name-%.0s' 1 2 3 4 5).md
mkdir "$T/want/references" && echo text >"$T/want/$long"
tar -C "$T/want" --format=gnu -czf "$S/real-gnu.tar.gz" .
tar -C "$T/want" --format=posix -czf "$S/real-posix.tar.gz" SKILL.md scripts references
! command -v zip >/dev/null || (cd "$T/want" && zip -qr "$S/real.zip" .)
for file in "$S"/real*; do
    entry "$file"
    exits "[W6] install of ${file##*/} as the program itself writes it succeeds" 0 mapm install "$U" --skill packed
    ok 'the files of the archive with a long path equal the source' diff -r "$T/want" .agents/skills/packed
    fresh
done
rm -r "$T/want/references"

for file in "$S"/bad-*; do
    entry "$file"
    run mapm install "$U" --skill packed
    case $status in
    1 | 4) pass "[W7, V74, row 45] ${file##*/bad-} is refused" ;;
    *) fail "[W7, row 45] ${file##*/bad-}: $status" && show_run ;;
    esac
    printf '# %s: %s\n' "${file##*/}" "$(printf '%s' "$err" | sed 1,2d | tr '\n' ' ')"
    like 'the error names the refused archive' "$err" "${file##*/}"
    case ${file##*/bad-} in
    link.tar.gz) why='l: a symbolic link' ;;
    hard-link.tar.gz) why='l: a hard link' ;;
    device.tar.gz | block.tar.gz | fifo.tar.gz) why='d: a device or a pipe' ;;
    gnu-long-link.tar.gz) why='LongLink: a link of GNU tar' ;;
    sparse.tar.gz) why='s: a sparse file' ;;
    *) why= ;;
    esac
    [ -z "$why" ] || like "[W7] the error names the reason: ${file##*/bad-}" "$err" "$why\$"
    is 'a refused archive writes nothing to the workspace' "$(ls -A)" ''
done
is 'refused archives write nothing beside the workspace' "$(ls -A "$T" | grep -x x)" ''

# --- which reader -----------------------------------------------------------------------

good=$S/good-stored.zip
cp "$good" "$S/archive"
entry "$S/archive"
exits '[W6] install fails when neither media type nor name shows an archive' 1 mapm install "$U" --skill packed
like 'the error says that the type is not that of an archive' "$err" 'that of an archive'
echo 'application/zip' >"$S/archive.type"
exits 'install accepts an archive by its media type' 0 mapm install "$U" --skill packed
fresh
echo 'Application/ZIP; charset=binary' >"$S/archive.type"
exits 'install accepts a media type in any case and with parameters' 0 mapm install "$U" --skill packed
fresh
echo 'application/gzip' >"$S/archive.type"
exits '[W6] install fails for a media type of another format' 1 mapm install "$U" --skill packed
like 'the error says that it is not the archive of the media type' "$err" 'not the archive that its media type says'
cp "$good" "$S/page.zip"
echo 'text/html' >"$S/page.zip.type"
entry "$S/page.zip"
exits '[V77] install accepts an archive by its name when the media type is text/html' 0 mapm install "$U" --skill packed
fresh
printf '<html>Not found</html>' >"$S/page.zip"
exits '[W5] install fails for a page in place of the archive' 1 mapm install "$U" --skill packed
like 'the error shows the digest of the index' "$err" 'the index says sha256:'
entry "$S/page.zip"
exits 'install fails for a page with the digest of the index' 1 mapm install "$U" --skill packed
cp "$good" "$S/zip.tar.gz"
entry "$S/zip.tar.gz"
exits 'install fails for a zip archive with the name .tar.gz' 1 mapm install "$U" --skill packed
entry "$good" skill-md
exits '[W5] install fails for an archive of type skill-md' 1 mapm install "$U" --skill packed
like 'the error says that the archive is not a SKILL.md' "$err" 'is an archive, and no SKILL.md'
cp "$T/want/SKILL.md" "$S/SKILL.zip"
entry "$S/SKILL.zip"
exits 'install fails for a SKILL.md of type archive' 1 mapm install "$U" --skill packed
mkdir unpacked && cp -R "$T/want" unpacked/packed
digest=$(cat unpacked/packed/SKILL.md | sha256sum | cut -d' ' -f1)
rm -rf unpacked
entry "$good"
sed -i "s/sha256:[0-9a-f]*/sha256:$digest/" "$index"
exits '[W5, V75] install fails for the digest of a file in the archive' 1 mapm install "$U" --skill packed
like 'the error of that digest shows the digest of the index' "$err" 'the index says sha256:'

# --- limits ------------------------------------------------------------------------------

entry "$good"
printf 'limits:\n  package_max_files: 1\n' >mapm.yaml
exits '[row 45] install fails for an archive beyond package_max_files' 1 mapm install "$U" --skill packed
like 'the error says that the archive has more than 1 files' "$err" 'more than 1 files'
printf 'limits:\n  file_max_bytes: 40\n' >mapm.yaml
exits 'install fails for an archive beyond file_max_bytes' 1 mapm install "$U" --skill packed
like 'the error names file_max_bytes' "$err" 'file_max_bytes'
rm mapm.yaml
head -c 34000000 /dev/zero >"$S/huge.zip"
entry "$S/huge.zip"
exits '[row 45] install fails for an artifact of more than 32 MiB' 1 mapm install "$U" --skill packed
like 'the error of a large artifact names the limit of bytes' "$err" 'more than 33554432 bytes'
done_testing
