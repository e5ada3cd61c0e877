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

if [ "$(id -u)" -ne 0 ]; then
    skip '[F3] (a) files of another user' 'needs root'
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
    user="setpriv --reuid=$OTHER --regid=$OTHER --clear-groups env HOME=$T/data
          MAPM_HOME=$T/data/mapm XDG_CONFIG_HOME=$T/config"
    exits "[F3] (a) root's file counts for everybody" 0 $user "$MAPM" list
    chown 54321 mapm.yaml
    exits '[F3] (a) that of a third user does not' 4 $user "$MAPM" list
    exits '[F3] (a) SUDO_UID means nothing to others than root' 4 $user SUDO_UID=54321 "$MAPM" list
    rm mapm.yaml
    mkdir "$T/config/mapm" && echo 'ask: claude' >"$T/config/mapm/config.yaml"
    exits "[F3] (a) root's config.yaml counts" 0 $user "$MAPM" list
    chown 54321 "$T/config/mapm/config.yaml"
    exits '[F3] (a) config.yaml of a third user is refused' 4 $user "$MAPM" list
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
like '[F3] (a) the folder and its owner are named' "$err" \
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

done_testing
