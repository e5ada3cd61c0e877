#!/bin/sh
# Files that can widen rights count by their owner, and trust is bound to a
# folder, not to its path (F3). Files of another user need root to be made.
. "$(dirname "$0")/../lib/cli.sh"

CONFIG=$XDG_CONFIG_HOME/mapm/config.yaml
mkdir -p "$XDG_CONFIG_HOME/mapm"
OTHER=12345

# metaskill FOLDER: a program that says "ran".
metaskill()
{
    skill "$1" 'metaskill: SKILL.star'
    printf 'def run(input):\n    return {"status": "ok", "result": "ran"}\n' >"$1/SKILL.star"
}
# in_new NAME: an empty workspace.
in_new()
{
    rm -rf "${T:?}/$1"
    mkdir -p "$T/$1" && cd "$T/$1" || exit 1
}

# --- (e) a skill's folder that is a link ---------------------------------------

in_new links
mkdir -p .agents/skills skills
: >mapm.yaml
metaskill "$T/elsewhere/out"
metaskill "$T/links/parts/inner"
ln -s "$T/elsewhere/out" .agents/skills/out
ln -s ../../parts/inner .agents/skills/inner
ln -s "$T/elsewhere/out" skills/authored
exits '[F3] (e) mapm run refuses a skill that links out of the workspace' 4 mapm run out word=hi
like '[F3] (e) the refusal says that the link leads out of the workspace' "$err" "a link that leads out of $T/links"
exits '[F3] (e) mapm run refuses such a skill by its path' 4 mapm run ./.agents/skills/out word=hi
exits '[F3] (e) mapm run refuses such a skill by its path with a slash at the end' 4 mapm run ./.agents/skills/out/ word=hi
exits '[F3] (e) mapm run refuses such a skill from below the workspace' 4 mapm -C .agents/skills run ./out word=hi
exits '[F3] (e) mapm run refuses such a link in the skills folder of an author' 4 mapm run authored word=hi
exits '[F3] (e) skill load fails for a skill that links out of the workspace' 1 mapm skill load out
unlike '[F3] (e) skill list leaves out a skill that links out of the workspace' "$(mapm skill list 2>/dev/null)" '^out'
exits '[F3] (e) mapm run follows a link inside the workspace' 0 mapm run inner word=hi
exits '[F3] (e) mapm run accepts an outside folder named on the command line' 0 mapm run "$T/elsewhere/out" word=hi
ln -s "$T/elsewhere/out" named
exits '[F3] (e) mapm run accepts a named link that is not among the skills' 0 mapm run ./named word=hi
rm -rf .agents && ln -s "$T/elsewhere" .agents && mkdir -p "$T/elsewhere/skills"
metaskill "$T/elsewhere/skills/deep"
exits '[F3] (e) mapm run refuses every skill behind a link in place of .agents' 4 mapm run deep word=hi
cd "$T/ws" || exit 1

# --- (a) config.yaml --------------------------------------------------------------

echo 'ask: claude' >"$CONFIG"
for mode in 664 646 666; do
    chmod $mode "$CONFIG"
    exits "[F3] (a) a config.yaml of mode $mode is refused" 4 mapm list
    like "[F3] (a) the hint names chmod for a config.yaml of mode $mode" "$err" "hint: chmod go-w $CONFIG\$"
done
chmod 600 "$CONFIG"
exits '[F3] (a) a config.yaml that only the user can write is accepted' 0 mapm list
chmod 777 "${CONFIG%/*}"
exits '[F3] (a) config.yaml is refused in a folder that others can write' 4 mapm list
like '[F3] (a) the hint names chmod for the folder of config.yaml' "$err" "hint: chmod go-w ${CONFIG%/*}\$"
mv "$CONFIG" "$T/set-aside"
exits '[F3, row 54] (a) host add writes no config.yaml into a folder that others can write' 4 mapm host add git.example.com --kind gitlab --yes
exits '[F3] (a) such a folder without config.yaml refuses no command' 0 mapm list
chmod 755 "${CONFIG%/*}" && mv "$T/set-aside" "$CONFIG"
mv "$CONFIG" "$HOME/dotfile" && ln -s "$HOME/dotfile" "$CONFIG"
exits '[F3] (a) a config.yaml that is a link is accepted' 0 mapm list
rm "$CONFIG"
echo 'trusted_folders: [work]' >"$CONFIG"
exits '[F3] (a) a relative path in trusted_folders is an error' 1 mapm list
like '[F3] (a) the error says that the path is not absolute' "$err" 'config.yaml:1: not an absolute path'
rm "$CONFIG"
echo "trusted_folders: ['*']" >mapm.yaml
exits '[F3] (a) trusted_folders in mapm.yaml is an error' 1 mapm list
like '[F3] (a) the error says that trusted_folders may not stand in mapm.yaml' "$err" '"trusted_folders" may not stand here'
rm mapm.yaml

# --- (b) trust is of a folder, not of its path -----------------------------------

# The command of this metaskill runs where the rules of mapm.yaml are accepted.
is_allowed()
{
    run mapm run works word=hi
    unlike "$1" "$out" 'not allowed'
}
is_not_allowed()
{
    run mapm run works word=hi
    like "$1" "$out" 'error: not allowed: echo allowed'
    like "$1: the message says so" "$err" 'not accepted on this machine'
}
fill()
{
    metaskill .agents/skills/works
    echo 'policy: {commands: {allow: [[echo, "*"]]}}' >mapm.yaml
    cat >.agents/skills/works/SKILL.star <<'STAR'
def run(input):
    return {"status": "ok", "answer": command(["echo", "allo" + "wed"])["result"]}
STAR
}
in_new bound
fill
is_not_allowed '[F3] (b) rules of mapm.yaml do not count before they are accepted'
exits '[F3] (b) trust --workspace --yes succeeds' 0 mapm trust --workspace --yes
is_allowed '[F3] (b) rules of a trusted workspace count'
exits '[F3] (b) trust --workspace succeeds without a question for a trusted workspace' 0 mapm trust --workspace
touch . && chmod 700 . && echo >new
exits '[F3] (b) trust remains after content, time and mode of the folder changed' 0 mapm trust --workspace
cd "$T" && mv bound away && mv away bound && cd bound || exit 1
exits '[F3] (b) trust remains after the folder was moved away and back' 0 mapm trust --workspace
cd "$T" && mv bound away && mkdir bound && cp -a away/. bound && cd bound || exit 1
is_not_allowed '[F3] (b) rules do not count in a copy that replaced the folder'
like '[F3] (b) the message says that the folder was replaced' "$err" 'the folder was replaced, or has another owner'
exits '[F3] (b) trust --workspace asks again for the copy' 4 mapm trust --workspace
like '[F3] (b) trust --workspace says that the folder was replaced' "$out" '^  asked again: the folder was replaced'
exits '[F3] (b) trust --list succeeds with a folder that was replaced' 0 mapm trust --list
is '[F3] (b) trust --list marks workspace and rules as of another folder' "$(printf '%s\n' "$out" | grep -c "$T/bound .*another folder: asks again")" 2
run mapm trust --list --json
is '[F3] (b) trust --list --json marks workspace and rules as not valid' "$(printf '%s\n' "$out" | grep -c '"valid": false')" 2
exits '[F3] (b) trust --workspace --yes accepts the copy' 0 mapm trust --workspace --yes
is_allowed '[F3] (b) rules of the accepted copy count'
rm -rf "$T/away"
python3 -S - "$MAPM_HOME/mapm.db" <<'PYTHON'
import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
c.execute("update trust set folder = x''")
c.commit()
PYTHON
is_not_allowed '[F3] (b) a trust recorded without a folder does not count'
exits '[F3] (b) trust --workspace asks again for a trust without a folder' 4 mapm trust --workspace
like '[F3] (b) trust --workspace says that an older mapm recorded the trust' "$out" 'asked again: it was trusted by an older mapm'

# A file system that does not record when a folder was made.
if unshare -rm mount -t ramfs none "$T/ws" 2>/dev/null; then
    cat >"$T/unborn" <<'SH'
mount -t ramfs none "$T/ws" && mkdir "$T/ws/w" && cd "$T/ws/w" || exit 1
: >mapm.yaml
asks() { mapm=$("$MAPM" trust --workspace 2>/dev/null) && echo "$1: trusted" || echo "$1: $?"; }
asks first
ls -a .agents 2>/dev/null
"$MAPM" trust --workspace --yes >/dev/null 2>&1 || echo failed
asks then
stat -c '%a %s' .agents/.mapm/id
cat .agents/.mapm/.gitignore
cp .agents/.mapm/id "$T/id"
for bad in 'rm $id' ': >$id' 'echo 00000000000000000000000000000000 >$id' \
    'head -c 32 $T/id >$id' 'head -c 100000 /dev/urandom >$id' 'rm $id; mkdir $id' \
    'rm $id; mkfifo $id' 'rm $id; ln -s $T/id $id'; do
    id=.agents/.mapm/id
    eval "$bad"
    asks "$bad"
    "$MAPM" trust --workspace --yes >/dev/null 2>&1 || echo failed
    asks mended
    cmp -s $id "$T/id" && echo same
    cp $id "$T/id"
done
SH
    is '[F3] (b) without a birth time a random id counts' \
        "$(T=$T timeout 60 unshare -rm sh "$T/unborn" | grep -v '^mended: trusted$')" \
        'first: 4
then: trusted
600 33
*
rm $id: 4
: >$id: 4
echo 00000000000000000000000000000000 >$id: 4
head -c 32 $T/id >$id: 4
head -c 100000 /dev/urandom >$id: 4
rm $id; mkdir $id: 4
rm $id; mkfifo $id: 4
rm $id; ln -s $T/id $id: 4'
else
    skip '[F3] (b) without a birth time a random id counts' 'needs a user namespace and ramfs'
fi
cd "$T/ws" || exit 1

if ! can_chown; then
    skip '[F3] (a) files of another user' 'cannot change owners'
    done_testing
fi

# --- (a) the files of a workspace ----------------------------------------------

for file in mapm.yaml mapm.local.yaml mapm.lock mapm.local.lock; do
    in_new other
    case $file in
    *.lock) printf 'version: 1\npackages: []\n' >$file ;;
    *) : >$file ;;
    esac
    chown $OTHER $file
    before=$(snapshot .)
    exits "[F3] (a) list refuses a $file of another user" 4 mapm list
    like "[F3] (a) the error names the file and its owner: $file" "$err" \
        "$T/other/$file belongs to another user \\(uid $OTHER\\)"
    way=$(printf '%s\n' "$err" | sed -n 's/^.*\(export MAPM_TRUSTED_FOLDER=[^ ]*\).*/\1/p')
    is "[F3] (a) the error gives the way out as one line of shell: $file" "$way" "export MAPM_TRUSTED_FOLDER=$T/other"
    exits "[F3] (a) install refuses a $file of another user" 4 mapm install
    is "[F3] (a) a refused install changes nothing: $file" "$(snapshot .)" "$before"
    exits "[F3] (a) the line of the error makes list succeed: $file" 0 sh -c "$way; exec \"\$MAPM\" list"
done

# --- (a) files of the user, in a folder of another one ------------------------------

for file in mapm.yaml mapm.local.yaml mapm.lock; do
    in_new theirs
    case $file in
    *.lock) printf 'version: 1\npackages: []\n' >"$T/own" ;;
    *) : >"$T/own" ;;
    esac
    ln "$T/own" $file
    exits "[F3] (a) list accepts a hard link in a folder of the user: $file" 0 mapm list
    chown $OTHER .
    exits "[F3] (a) list refuses a hard link in a folder of another user: $file" 4 mapm list
    like "[F3] (a) the error names the folder and its owner: $file" "$err" \
        "$T/theirs belongs to another user \\(uid $OTHER\\)"
    mkdir below && cd below || exit 1
    run mapm list
    unlike "[F3] (a) list from a subfolder ignores the foreign workspace: $file" "$out" 'theirs$'
    cd ..
    exits "[F3] (a) list accepts the hard link in a trusted folder: $file" 0 env MAPM_TRUSTED_FOLDER="$T/theirs" "$MAPM" list
    rm $file
    exits "[F3] (a) list succeeds in a foreign folder without files: $file" 0 mapm list
done

# No workspace starts where none of its files would count.
skill "$T/src/skills/hello" && make_repo acme/catalog "$T/src" && start_githost
in_new theirs
chown $OTHER .
for command in init 'install --yes acme/catalog/skills/hello' 'install --dry-run acme/catalog/skills/hello'; do
    exits "[F3] (a) a folder of another user is refused by mapm $command" 4 mapm $command
    like "[F3] (a) the error names the folder and its owner: mapm $command" "$err" "$T/theirs belongs to another user \\(uid $OTHER\\)"
    is "[F3] (a) the foreign folder stays empty: mapm $command" "$(ls -A)" ''
done
exits '[F3] (a) install succeeds in a foreign folder that is trusted' 0 \
    env MAPM_TRUSTED_FOLDER="$PWD" "$MAPM" install --yes acme/catalog/skills/hello
exits '[F3] (a) verify succeeds in a foreign folder that is trusted' 0 env MAPM_TRUSTED_FOLDER="$PWD" "$MAPM" verify
exits '[F3] (a) init succeeds for a new folder of the user' 0 mapm init "$T/new"
stop_githost

in_new other
: >mapm.yaml
chown $OTHER mapm.yaml
for value in "$T/other" "$T/other/" "$T" '*' /; do
    exits "[F3] (a) MAPM_TRUSTED_FOLDER=$value covers the workspace" 0 env MAPM_TRUSTED_FOLDER="$value" "$MAPM" list
done
for value in '' . other "$T/oth" "$T/other/below" "$T/ws" '~' '**'; do
    exits "[F3] (a) MAPM_TRUSTED_FOLDER=$value does not cover the workspace" 4 env MAPM_TRUSTED_FOLDER="$value" "$MAPM" list
done
ln -sfn "$T/other" "$T/name"
exits '[F3] (a) MAPM_TRUSTED_FOLDER accepts a link to the workspace' 0 env MAPM_TRUSTED_FOLDER="$T/name" "$MAPM" list
for value in "$T/other" '*' "/none, $T"; do
    echo "trusted_folders: ['$(echo "$value" | sed "s/, /', '/")']" >"$CONFIG"
    exits "[F3] (a) trusted_folders: $value covers the workspace" 0 mapm list
done
mkdir -p "$HOME/work" && mv "$T/other" "$HOME/work/other" && cd "$HOME/work/other" || exit 1
echo 'trusted_folders: [~/work]' >"$CONFIG"
exits '[F3] (a) trusted_folders with ~ covers a workspace below the home folder' 0 mapm list
echo 'trusted_folders: [/nowhere]' >"$CONFIG"
exits '[F3] (a) trusted_folders of another folder does not cover the workspace' 4 mapm list
exits '[F3] (a) list accepts config.yaml in a folder of the user' 0 mapm -C / list
chown $OTHER "${CONFIG%/*}"
exits '[F3] (a) list refuses config.yaml in a folder of another user' 4 mapm -C / list
like '[F3] (a) the error names the folder of config.yaml and its owner' "$err" "${CONFIG%/*} belongs to another user \\(uid $OTHER\\)"
like '[F3] (a) the hint names chown for the folder of config.yaml' "$err" "hint: make it yours: chown 0 ${CONFIG%/*}\$"
exits '[F3] (a) trust --workspace refuses config.yaml in a folder of another user' 4 mapm -C / trust --workspace --yes
exits '[F3] (a) MAPM_TRUSTED_FOLDER makes the folder of config.yaml accepted' 0 env MAPM_TRUSTED_FOLDER="${CONFIG%/*}" "$MAPM" -C / list
chown 0 "${CONFIG%/*}"
rm "$CONFIG"
exits '[F3] (a) SUDO_UID of a third user does not cover the workspace' 4 env SUDO_UID=54321 "$MAPM" list
exits '[F3] (a) a malformed SUDO_UID does not cover the workspace' 4 env SUDO_UID=${OTHER}x "$MAPM" list
exits '[F3] (a) root under sudo accepts files of the calling user' 0 env SUDO_UID=$OTHER "$MAPM" list
in_new "it's an odd name"
: >mapm.yaml
chown $OTHER mapm.yaml
run mapm list
way=$(printf '%s\n' "$err" | sed -n 's/^.*\(export MAPM_TRUSTED_FOLDER=.*\) (or.*/\1/p')
exits '[F3] (a) the line of the error also works for an odd folder name' 0 sh -c "$way; exec \"\$MAPM\" list"

# --- (a) above the current folder: not counted, and noted -------------------------

in_new above
mkdir below
echo 'ask: claude' >mapm.yaml
chown $OTHER mapm.yaml
exits '[F3] (a) list ignores a foreign mapm.yaml above the working folder' 0 mapm -C below list
like '[F3] (a) the warning names the foreign mapm.yaml and its owner' "$err" "$T/above/mapm.yaml belongs to another user"
is '[F3] (a) the warning about the foreign mapm.yaml appears once' "$(printf '%s\n' "$err" | grep -c belongs)" 1
like '[F3] (a) the warning gives the way out' "$err" "export MAPM_TRUSTED_FOLDER=$T/above"
exits '[F3] (a) list succeeds with the folder above trusted' 0 \
    env MAPM_TRUSTED_FOLDER="$T/above" "$MAPM" -C below list
like '[F3] (a) list takes the trusted folder above as the workspace' "$err" "installed in $T/above\$"

# --- (a) as another user ------------------------------------------------------------

if command -v setpriv >/dev/null; then
    in_new theirs
    : >mapm.yaml
    chmod 755 "$T"
    mkdir "$T/data" "$T/config" && chown $OTHER "$T/data"
    # The checkout may be in a folder that only root may enter.
    mkdir "$T/programs" && cp "$MAPM" "${MAPM%/*}"/mapm-* "$T/programs"
    theirs=$T/programs/mapm
    user="setpriv --reuid=$OTHER --regid=$OTHER --clear-groups env HOME=$T/data
          MAPM_HOME=$T/data/mapm XDG_CONFIG_HOME=$T/config"
    exits "[F3] (a) list accepts files of root for every user" 0 $user "$theirs" list
    chown 54321 mapm.yaml
    exits '[F3] (a) list refuses files of a third user' 4 $user "$theirs" list
    exits '[F3] (a) SUDO_UID has no effect for users other than root' 4 $user SUDO_UID=54321 "$theirs" list
    rm mapm.yaml
    mkdir "$T/config/mapm" && echo 'ask: claude' >"$T/config/mapm/config.yaml"
    exits "[F3] (a) list accepts a config.yaml of root" 0 $user "$theirs" list
    chown 54321 "$T/config/mapm/config.yaml"
    exits '[F3] (a) list refuses a config.yaml of a third user' 4 $user "$theirs" list
    like '[F3] (a) the error names the owner of config.yaml' "$err" 'config.yaml belongs to another user \(uid 54321\)'
    like '[F3] (a) the hint names chown for config.yaml' "$err" "hint: make it yours: chown $OTHER $T/config/mapm/config.yaml\$"
else
    skip '[F3] (a) as another user' 'setpriv is missing'
fi

# --- (a) metaskills -----------------------------------------------------------------

in_new programs
metaskill .agents/skills/mine
metaskill .agents/skills/theirs
metaskill skills/draft
chown $OTHER .agents/skills/theirs skills/draft
exits '[F3] (a) run accepts a metaskill in a folder of the user' 0 mapm run mine word=hi
exits '[F3] (a) run refuses a metaskill in a folder of another user' 4 mapm run theirs word=hi
like '[F3] (a) the error names the folder of the metaskill and its owner' "$out" \
    "$T/programs/.agents/skills/theirs belongs to another user \\(uid $OTHER\\)"
exits '[F3] (a) run refuses the foreign metaskill by its path' 4 mapm run ./.agents/skills/theirs word=hi
exits '[F3] (a) run refuses a foreign metaskill in the skills folder of an author' 4 mapm run draft word=hi
exits '[F3] (a) run refuses a foreign metaskill by a path from elsewhere' 4 mapm -C / run "$T/programs/skills/draft" word=hi
exits '[F3] (a) run accepts a foreign metaskill in a trusted folder' 0 env MAPM_TRUSTED_FOLDER="$T/programs" "$MAPM" run theirs word=hi
exits '[F3] (a) run accepts a foreign metaskill by its path in a trusted folder' 0 env MAPM_TRUSTED_FOLDER="$T/programs" "$MAPM" run ./skills/draft word=hi
printf 'version: 1\npackages: []\n' >mapm.lock
chown $OTHER mapm.lock
exits '[F3] (a) run from elsewhere refuses a metaskill beside a foreign lock' 4 \
    mapm -C / run "$T/programs/.agents/skills/mine" word=hi

in_new patched
: >mapm.yaml
mkdir -p .mapm/patches && : >.mapm/patches/skill-x.patch
chown $OTHER .mapm/patches/skill-x.patch
exits '[D7] install refuses a patch of another user' 4 mapm install
like '[D7] the error names the foreign patch' "$err" '.mapm/patches/skill-x.patch'

# --- (b) another owner -----------------------------------------------------------------

in_new bound
fill
mapm trust --workspace --yes >/dev/null 2>&1
is_allowed '[F3] (b) rules count while the trusted folder is the user'"'"'s'
chown $OTHER .
exits '[F3] (b) run is refused after the folder was given to another user' 4 mapm run works word=hi
exits '[F3] (b) trust --workspace is refused for a folder of another user' 4 mapm trust --workspace --yes
MAPM_TRUSTED_FOLDER=$PWD
export MAPM_TRUSTED_FOLDER
is_not_allowed '[F3] (b) rules of a foreign folder do not count without a new trust'
exits '[F3] (b) trust --workspace --yes accepts a foreign folder that is covered' 0 mapm trust --workspace --yes
is_allowed '[F3] (b) rules of the accepted foreign folder count'
unset MAPM_TRUSTED_FOLDER
chown 0 .
is_not_allowed '[F3] (b) rules do not count after the folder returned to the user'

done_testing
