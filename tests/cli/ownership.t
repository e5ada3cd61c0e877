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
like '[F3] (e) the message names the workspace' "$err" "a link that leads out of $T/links"
exits '[F3] (e) also by its path' 4 mapm run ./.agents/skills/out word=hi
exits '[F3] (e) also with a slash at the end' 4 mapm run ./.agents/skills/out/ word=hi
exits '[F3] (e) also from below' 4 mapm -C .agents/skills run ./out word=hi
exits '[F3] (e) also in the folder of an author' 4 mapm run authored word=hi
exits '[F3] (e) skill load refuses the same one' 1 mapm skill load out
unlike '[F3] (e) skill list leaves it out' "$(mapm skill list 2>/dev/null)" '^out'
exits '[F3] (e) a link inside the workspace is followed' 0 mapm run inner word=hi
exits '[F3] (e) the folder that the user names runs' 0 mapm run "$T/elsewhere/out" word=hi
ln -s "$T/elsewhere/out" named
exits '[F3] (e) also by a link that is not among the skills' 0 mapm run ./named word=hi
rm -rf .agents && ln -s "$T/elsewhere" .agents && mkdir -p "$T/elsewhere/skills"
metaskill "$T/elsewhere/skills/deep"
exits '[F3] (e) a folder of skills that leads out is refused as a whole' 4 mapm run deep word=hi
cd "$T/ws" || exit 1

# --- (a) config.yaml --------------------------------------------------------------

echo 'ask: claude' >"$CONFIG"
for mode in 664 646 666; do
    chmod $mode "$CONFIG"
    exits "[F3] (a) config.yaml of mode $mode is refused" 4 mapm list
    like "[F3] (a) with the way out ($mode)" "$err" "hint: chmod go-w $CONFIG\$"
done
chmod 600 "$CONFIG"
exits '[F3] (a) one that only the user can write counts' 0 mapm list
chmod 777 "${CONFIG%/*}"
exits '[F3] (a) not in a folder where others could put another one' 4 mapm list
like '[F3] (a) with the way out of that' "$err" "hint: chmod go-w ${CONFIG%/*}\$"
mv "$CONFIG" "$T/set-aside"
exits '[F3, row 54] (a) nor is a new one written there' 4 mapm host add git.example.com --kind gitlab --yes
exits '[F3] (a) a folder without the file refuses nothing' 0 mapm list
chmod 755 "${CONFIG%/*}" && mv "$T/set-aside" "$CONFIG"
mv "$CONFIG" "$HOME/dotfile" && ln -s "$HOME/dotfile" "$CONFIG"
exits '[F3] (a) also where it is a link' 0 mapm list
rm "$CONFIG"
echo 'trusted_folders: [work]' >"$CONFIG"
exits '[F3] (a) a relative path is no trusted folder' 1 mapm list
like '[F3] (a) which is said' "$err" 'config.yaml:1: not an absolute path'
rm "$CONFIG"
echo "trusted_folders: ['*']" >mapm.yaml
exits '[F3] (a) a workspace cannot trust itself' 1 mapm list
like '[F3] (a) the key belongs in config.yaml' "$err" '"trusted_folders" may not stand here'
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
    like "$1: which is noted" "$err" 'not accepted on this machine'
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
is_not_allowed '[F3] (b) rules count once they are accepted'
exits '[F3] (b) a workspace is trusted' 0 mapm trust --workspace --yes
is_allowed '[F3] (b) its rules count'
exits '[F3] (b) it is trusted already' 0 mapm trust --workspace
touch . && chmod 700 . && echo >new
exits '[F3] (b) also after its content, time and mode changed' 0 mapm trust --workspace
cd "$T" && mv bound away && mv away bound && cd bound || exit 1
exits '[F3] (b) also after it was away' 0 mapm trust --workspace
cd "$T" && mv bound away && mkdir bound && cp -a away/. bound && cd bound || exit 1
is_not_allowed '[F3] (b) a folder that replaced it is not trusted'
like '[F3] (b) and why is said' "$err" 'the folder was replaced, or has another owner'
exits '[F3] (b) it is asked for again' 4 mapm trust --workspace
like '[F3] (b) with the reason' "$out" '^  asked again: the folder was replaced'
exits '[F3] (b) the list says so' 0 mapm trust --list
is '[F3] (b) for the workspace and its rules' "$(printf '%s\n' "$out" | grep -c "$T/bound .*another folder: asks again")" 2
run mapm trust --list --json
is '[F3] (b) in JSON' "$(printf '%s\n' "$out" | grep -c '"valid": false')" 2
exits '[F3] (b) accepted again' 0 mapm trust --workspace --yes
is_allowed '[F3] (b) it is trusted again'
rm -rf "$T/away"
python3 -S - "$MAPM_HOME/mapm.db" <<'PYTHON'
import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
c.execute("update trust set folder = x''")
c.commit()
PYTHON
is_not_allowed '[F3] (b) what an older mapm recorded without a folder does not count'
exits '[F3] (b) that is asked for again, too' 4 mapm trust --workspace
like '[F3] (b) with its reason' "$out" 'asked again: it was trusted by an older mapm'

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
    exits "[F3] (a) $file of another user is refused" 4 mapm list
    like "[F3] (a) the file and its owner are named: $file" "$err" \
        "$T/other/$file belongs to another user \\(uid $OTHER\\)"
    way=$(printf '%s\n' "$err" | sed -n 's/^.*\(export MAPM_TRUSTED_FOLDER=[^ ]*\).*/\1/p')
    is "[F3] (a) the way out is one line: $file" "$way" "export MAPM_TRUSTED_FOLDER=$T/other"
    exits "[F3] (a) mapm install refuses it, too: $file" 4 mapm install
    is "[F3] (a) and changes nothing: $file" "$(snapshot .)" "$before"
    exits "[F3] (a) pasted, it helps: $file" 0 sh -c "$way; exec \"\$MAPM\" list"
done

# --- (a) files of the user, in a folder of another one ------------------------------

for file in mapm.yaml mapm.local.yaml mapm.lock; do
    in_new theirs
    case $file in
    *.lock) printf 'version: 1\npackages: []\n' >"$T/own" ;;
    *) : >"$T/own" ;;
    esac
    ln "$T/own" $file
    exits "[F3] (a) a hard link in a folder of the user: $file" 0 mapm list
    chown $OTHER .
    exits "[F3] (a) a hard link in a folder of another user is refused: $file" 4 mapm list
    like "[F3] (a) the folder and its owner are named: $file" "$err" \
        "$T/theirs belongs to another user \\(uid $OTHER\\)"
    mkdir below && cd below || exit 1
    run mapm list
    unlike "[F3] (a) nor does it count from below: $file" "$out" 'theirs$'
    cd ..
    exits "[F3] (a) in a folder that is trusted it counts: $file" 0 env MAPM_TRUSTED_FOLDER="$T/theirs" "$MAPM" list
    rm $file
    exits "[F3] (a) a folder without files refuses nothing: $file" 0 mapm list
done

# No workspace starts where none of its files would count.
skill "$T/src/skills/hello" && make_repo acme/catalog "$T/src" && start_githost
in_new theirs
chown $OTHER .
for command in init 'install --yes acme/catalog/skills/hello' 'install --dry-run acme/catalog/skills/hello'; do
    exits "[F3] (a) nothing starts in a folder of another user: $command" 4 mapm $command
    like "[F3] (a) which is named: $command" "$err" "$T/theirs belongs to another user \\(uid $OTHER\\)"
    is "[F3] (a) and stays empty: $command" "$(ls -A)" ''
done
exits '[F3] (a) in a trusted one it does' 0 \
    env MAPM_TRUSTED_FOLDER="$PWD" "$MAPM" install --yes acme/catalog/skills/hello
exits '[F3] (a) and goes on' 0 env MAPM_TRUSTED_FOLDER="$PWD" "$MAPM" verify
exits '[F3] (a) mapm init in a new folder of the user' 0 mapm init "$T/new"
stop_githost

in_new other
: >mapm.yaml
chown $OTHER mapm.yaml
for value in "$T/other" "$T/other/" "$T" '*' /; do
    exits "[F3] (a) MAPM_TRUSTED_FOLDER=$value covers it" 0 env MAPM_TRUSTED_FOLDER="$value" "$MAPM" list
done
for value in '' . other "$T/oth" "$T/other/below" "$T/ws" '~' '**'; do
    exits "[F3] (a) MAPM_TRUSTED_FOLDER=$value does not" 4 env MAPM_TRUSTED_FOLDER="$value" "$MAPM" list
done
ln -sfn "$T/other" "$T/name"
exits '[F3] (a) a link to it names it' 0 env MAPM_TRUSTED_FOLDER="$T/name" "$MAPM" list
for value in "$T/other" '*' "/none, $T"; do
    echo "trusted_folders: ['$(echo "$value" | sed "s/, /', '/")']" >"$CONFIG"
    exits "[F3] (a) trusted_folders: $value" 0 mapm list
done
mkdir -p "$HOME/work" && mv "$T/other" "$HOME/work/other" && cd "$HOME/work/other" || exit 1
echo 'trusted_folders: [~/work]' >"$CONFIG"
exits '[F3] (a) trusted_folders below the home folder' 0 mapm list
echo 'trusted_folders: [/nowhere]' >"$CONFIG"
exits '[F3] (a) trusted_folders elsewhere' 4 mapm list
exits '[F3] (a) config.yaml in a folder of the user' 0 mapm -C / list
chown $OTHER "${CONFIG%/*}"
exits '[F3] (a) its folder of another user is refused' 4 mapm -C / list
like '[F3] (a) by name' "$err" "${CONFIG%/*} belongs to another user \\(uid $OTHER\\)"
like '[F3] (a) with what to do' "$err" "hint: make it yours: chown 0 ${CONFIG%/*}\$"
exits '[F3] (a) also for programs' 4 mapm -C / trust --workspace --yes
exits '[F3] (a) unless it is trusted' 0 env MAPM_TRUSTED_FOLDER="${CONFIG%/*}" "$MAPM" -C / list
chown 0 "${CONFIG%/*}"
rm "$CONFIG"
exits '[F3] (a) SUDO_UID of another one' 4 env SUDO_UID=54321 "$MAPM" list
exits '[F3] (a) SUDO_UID that is none' 4 env SUDO_UID=${OTHER}x "$MAPM" list
exits '[F3] (a) root under sudo of its owner, as git' 0 env SUDO_UID=$OTHER "$MAPM" list
in_new "it's an odd name"
: >mapm.yaml
chown $OTHER mapm.yaml
run mapm list
way=$(printf '%s\n' "$err" | sed -n 's/^.*\(export MAPM_TRUSTED_FOLDER=.*\) (or.*/\1/p')
exits '[F3] (a) an odd name can be pasted, too' 0 sh -c "$way; exec \"\$MAPM\" list"

# --- (a) above the current folder: not counted, and noted -------------------------

in_new above
mkdir below
echo 'ask: claude' >mapm.yaml
chown $OTHER mapm.yaml
exits '[F3] (a) a mapm.yaml of another user above does not count' 0 mapm -C below list
like '[F3] (a) which is noted' "$err" "$T/above/mapm.yaml belongs to another user"
is '[F3] (a) once' "$(printf '%s\n' "$err" | grep -c belongs)" 1
like '[F3] (a) with the way out' "$err" "export MAPM_TRUSTED_FOLDER=$T/above"
exits '[F3] (a) of a trusted folder it counts' 0 \
    env MAPM_TRUSTED_FOLDER="$T/above" "$MAPM" -C below list
like '[F3] (a) so that is the workspace' "$err" "installed in $T/above\$"

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
    exits "[F3] (a) root's file counts for everybody" 0 $user "$theirs" list
    chown 54321 mapm.yaml
    exits '[F3] (a) that of a third user does not' 4 $user "$theirs" list
    exits '[F3] (a) SUDO_UID means nothing to others than root' 4 $user SUDO_UID=54321 "$theirs" list
    rm mapm.yaml
    mkdir "$T/config/mapm" && echo 'ask: claude' >"$T/config/mapm/config.yaml"
    exits "[F3] (a) root's config.yaml counts" 0 $user "$theirs" list
    chown 54321 "$T/config/mapm/config.yaml"
    exits '[F3] (a) config.yaml of a third user is refused' 4 $user "$theirs" list
    like '[F3] (a) its owner is named' "$err" 'config.yaml belongs to another user \(uid 54321\)'
    like '[F3] (a) with what to do' "$err" "hint: make it yours: chown $OTHER $T/config/mapm/config.yaml\$"
else
    skip '[F3] (a) as another user' 'setpriv is missing'
fi

# --- (a) metaskills -----------------------------------------------------------------

in_new programs
metaskill .agents/skills/mine
metaskill .agents/skills/theirs
metaskill skills/draft
chown $OTHER .agents/skills/theirs skills/draft
exits '[F3] (a) a metaskill in a folder of the user runs' 0 mapm run mine word=hi
exits '[F3] (a) one in a folder of another user does not' 4 mapm run theirs word=hi
like '[F3] (a) the folder and its owner are named' "$out" \
    "$T/programs/.agents/skills/theirs belongs to another user \\(uid $OTHER\\)"
exits '[F3] (a) nor by its path' 4 mapm run ./.agents/skills/theirs word=hi
exits '[F3] (a) nor in the folder of an author' 4 mapm run draft word=hi
exits '[F3] (a) nor by a path from elsewhere' 4 mapm -C / run "$T/programs/skills/draft" word=hi
exits '[F3] (a) in a trusted folder it does' 0 env MAPM_TRUSTED_FOLDER="$T/programs" "$MAPM" run theirs word=hi
exits '[F3] (a) by its path, too' 0 env MAPM_TRUSTED_FOLDER="$T/programs" "$MAPM" run ./skills/draft word=hi
printf 'version: 1\npackages: []\n' >mapm.lock
chown $OTHER mapm.lock
exits '[F3] (a) a lock of another user beside it is refused from elsewhere' 4 \
    mapm -C / run "$T/programs/.agents/skills/mine" word=hi

in_new patched
: >mapm.yaml
mkdir -p .mapm/patches && : >.mapm/patches/skill-x.patch
chown $OTHER .mapm/patches/skill-x.patch
exits '[D7] a patch of another user is refused' 4 mapm install
like '[D7] by its name' "$err" '.mapm/patches/skill-x.patch'

# --- (b) another owner -----------------------------------------------------------------

in_new bound
fill
mapm trust --workspace --yes >/dev/null 2>&1
is_allowed '[F3] (b) trusted while the folder is the user'"'"'s'
chown $OTHER .
exits '[F3] (b) not after it was given to another user' 4 mapm run works word=hi
exits '[F3] (b) nor is it accepted' 4 mapm trust --workspace --yes
MAPM_TRUSTED_FOLDER=$PWD
export MAPM_TRUSTED_FOLDER
is_not_allowed '[F3] (b) in a trusted folder it is asked for again, too'
exits '[F3] (b) and can be accepted' 0 mapm trust --workspace --yes
is_allowed '[F3] (b) so that it counts'
unset MAPM_TRUSTED_FOLDER
chown 0 .
is_not_allowed '[F3] (b) given back, it is the folder of another owner again'

done_testing
