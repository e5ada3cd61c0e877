#!/bin/sh
# make install gives a program all it needs to use mapm as a library: header,
# archive, shared library, pkg-config file, manual page and the engine; the
# libraries export mapm_* names alone, and leave the process of a host as it is.
. "$(dirname "$0")/../lib/cli.sh"

BUILD=${MAPM_BUILD:-$ROOT/build}
CC=${CC:-cc}
prefix=$T/prefix
lib=$prefix/lib
make_here()
{
    env -u MAKEFLAGS -u MAKELEVEL make -s -C "$ROOT" "$@"
}
ok 'make install PREFIX=DIR' make_here -o all B="$BUILD" PREFIX="$prefix" install
for f in include/mapm.h lib/libmapm.a lib/libmapm.so lib/libmapm.so.0 lib/pkgconfig/mapm.pc \
    share/man/man3/mapm.3 libexec/mapm/mapm-engine; do
    ok "$f is installed" test -f "$prefix/$f"
done
# Built for another PREFIX: a library finds the engine where it was built for.
MAPM_LIBEXEC=$prefix/libexec/mapm
export MAPM_LIBEXEC

# --- names ------------------------------------------------------------------

foreign()
{
    nm "$1" --defined-only "$2" | sed -n 's/.* [A-TV-Z] //p' | grep -v '^mapm_'
}
is 'libmapm.a exports mapm_* alone' "$(foreign -g "$lib/libmapm.a")" ''
is 'libmapm.so.0 exports mapm_* alone' "$(foreign -D "$lib/libmapm.so.0")" ''
declared=$(tr '\n' ' ' <"$prefix/include/mapm.h" | sed 's|/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/||g' |
    grep -o '\bmapm_[a-z_]*(' | tr -d '(' | LC_ALL=C sort -u)
exported=$(nm -D --defined-only "$lib/libmapm.so.0" | sed 's/.* //' | LC_ALL=C sort)
is 'exactly the declared functions are exported' "$exported" "$declared"
is 'and stand in the manual page' "$(printf '%s\n' "$exported" | while read -r f; do
    grep -q "^\.F[no] $f\b" "$ROOT/man/mapm.3" || echo "$f"
done)" ''
flags=
if nm -D "$lib/libmapm.so.0" | grep -q __asan_init; then
    flags=-fsanitize=address,undefined
fi
nm "$lib/libmapm.a" | grep -q __gcov_init && flags="$flags --coverage"
[ -n "$flags" ] || is 'the library calls nothing that changes the process or ends it' \
    "$(nm -D --undefined-only "$lib/libmapm.so.0" | sed 's/.* U //; s/@.*//' |
        grep -xE 'sigaction|umask|setrlimit|exit|pthread_create|setenv|putenv|unsetenv|atexit')" ''

if command -v g++ >/dev/null; then
    printf '#include <mapm.h>\nint main() { mapm_close(mapm_open(0)); }\n' >"$T/x.cc"
    ok 'C++ finds the names of C' sh -c "g++ -Wall -Wextra -I'$prefix/include' -c -o '$T/x.o' '$T/x.cc' && nm -u '$T/x.o' | grep -q ' mapm_open'"
fi

# --- every operation ----------------------------------------------------------

pc()
{
    PKG_CONFIG_PATH=$lib/pkgconfig pkg-config "$@" mapm
}
is 'pkg-config knows the version' "$(pc --modversion)" "$("$prefix/bin/mapm" --version | grep -o '[0-9][0-9.]*' | sed -n 1p)"
# compile OUT SOURCE FLAG...: from the installed files alone.
compile()
{
    to=$1 from=$2
    shift 2
    # shellcheck disable=SC2046,SC2086 # several words each
    $CC -Wall -Wextra -Werror $flags "$from" $(pc --cflags --libs) -pthread -o "$to" "$@"
}
ok 'a program is compiled and linked' compile "$T/drive" "$ROOT/tests/lib/host_drive.c" "-Wl,-rpath,$lib"
drive()
{
    "$T/drive" "$@"
}

start_githost
skill "$T/src/skills/deploy" 'scope: acme' 'version: 1.2.0' 'metaskill: SKILL.star'
cat >"$T/src/skills/deploy/SKILL.star" <<'STAR'
def run(input):
    return {"status": "ok", "answer": ask("Deploy " + input["task"] + "?")["answer"]}
STAR
make_repo acme/catalog "$T/src"
URL=https://github.com/acme/catalog/tree/main/skills/deploy

exits 'an empty workspace has no packages' 0 drive list
is 'it is empty' "$out" ''
exits 'a plan changes nothing' 1 drive change install plan $URL
is 'the packages of a plan' "$out" "add skill acme/deploy
planned
usage (2): there is no plan to apply"
exits 'a discarded plan cannot be applied' 1 drive change install discard $URL
is 'nothing was changed' "$(ls -A)" ''
exits 'a plan that is canceled while it fetches' 1 env DRIVE_CANCEL=1 "$T/drive" change install apply $URL
like 'is interrupted' "$out" '^interrupted \(28\): '
is 'and changes nothing' "$(ls -A)" ''
exits 'a plan is applied' 0 drive change install apply $URL
like 'its packages' "$out" '^add skill acme/deploy$'
like 'its changes' "$out" '^add .agents/skills/deploy$'
exits 'a second time there is nothing to do' 0 drive change install apply $URL
is 'nothing' "$out" "keep skill acme/deploy
nothing to do"
exits 'the installed packages' 0 drive list
is 'are listed' "$out" 'skill acme/deploy 1.2.0 .agents/skills/deploy root=1 local=0'
exits 'a package that is not there' 1 drive change remove apply nothing
like 'is an error' "$out" '^not-found \(4\): '

exits 'mapm_verify finds nothing' 0 drive verify
is 'no finding' "$out" ''
echo more >>.agents/skills/deploy/SKILL.md
exits 'mapm_verify finds a change' 0 drive verify
is 'of the file' "$out" 'workspace: .agents/skills/deploy/SKILL.md: changed'
exits 'an update can be planned' 1 drive change update plan
like 'and names the edit that stays' "$out" '^edit .agents/skills/deploy/SKILL.md was changed$'
exits 'a removal can be planned' 1 drive change remove plan deploy
like 'and names its package' "$out" '^remove skill acme/deploy$'

# --- choices ----------------------------------------------------------------

skill "$T/catalog/skills/nuxt-a"
skill "$T/catalog/skills/nuxt-b"
skill "$T/catalog/skills/vue"
skill "$T/catalog/skills/broken" 'dependencies:' '  skills: ["../absent"]'
make_repo acme/many "$T/catalog"
mkdir "$T/chosen"
choose()
{
    DRIVE_WORKSPACE=$T/chosen "$T/drive" choose https://github.com/acme/many "$@"
}
exits 'a pattern of skills, without one, for one client' 0 choose skill 'nuxt-*' skip nuxt-b client codex
is 'is what is installed [F4]' "$(printf '%s\n' "$out" | grep '^add skill')" 'add skill nuxt-a'
is 'for that client alone' "$(cd "$T/chosen" && ls -A)" ".agents
mapm.lock
mapm.yaml"
exits 'an invalid package of a choice' 0 choose skill '*'
like 'is left out, with the reason [F4]' "$out" '^left-out skill broken, [a-z-]*: '
exits 'strictly' 1 choose skill '*' strict yes
like 'it is an error' "$out" '^origin-invalid \(8\): '

mkdir -p .agents/skills/pdf/references
cat >.agents/skills/pdf/SKILL.md <<'MD'
---
name: pdf
description: Reads PDF files
metadata:
  tags: documents, pdf
  author: acme
---
The body.
MD
printf 'notes' >.agents/skills/pdf/references/notes.md
exits 'mapm_skills' 0 drive skills
like 'finds what is there' "$out" '^pdf: Reads PDF files \(workspace, 0\)$'
like 'and knows metaskills' "$out" '^deploy: .* metaskill$'
exits 'mapm_search' 0 drive search pdf 3
is 'finds by name and description' "$out" 'pdf: Reads PDF files (workspace, 1)'
exits 'a limit of 0' 1 drive search pdf 0
is 'is wrong' "$out" 'usage (2): the limit must be from 1 to 50'
exits 'mapm_match' 0 drive match 'please read this pdf'
like 'finds by words' "$out" '^pdf: '
exits 'mapm_load' 0 drive load pdf
is 'returns text, tags, metadata and resources' "$out" '# Skill: pdf (source: workspace)

The body.

tag documents
tag pdf
tags = documents, pdf
author = acme
reference: references/notes.md, 5 bytes'
exits 'mapm_load of nothing' 1 drive load pfd
is 'is an error' "$out" "not-found (4): no skill registered with name 'pfd'"
exits 'mapm_read_resource' 0 drive resource pdf references/notes.md
is 'returns the bytes' "$out" notes
exits 'a file outside of the skill' 1 drive resource pdf ../deploy/SKILL.md
like 'is refused' "$out" '^(refused|not-found|usage) '
mkdir -p "$T/bad/Bad_Name"
printf -- '---\nname: Bad_Name\ndescription: x\n---\n' >"$T/bad/Bad_Name/SKILL.md"
exits 'mapm_lint' 0 drive lint "$T/bad" agentskills
like 'returns diagnostics' "$out" 'Bad_Name/SKILL.md:2: name-grammar: error'
exits 'an unknown profile' 1 drive lint "$T/bad" none
is 'is wrong' "$out" 'usage (2): unknown profile "none"'

# --- trust, runs ---------------------------------------------------------------

exits 'edited files do not run' 1 drive run deploy '{"task": "x"}'
like 'they are not those of the lock' "$out" '^edited '
sed -i '$d' .agents/skills/deploy/SKILL.md
exits '[X27] an untrusted metaskill does not run' 1 drive run deploy '{"task": "x"}'
like 'nobody was asked' "$out" '^refused \(27\): '
exits 'trust needs a confirmation' 1 drive trust deploy
like 'and nobody can be asked' "$out" '^refused '
exits 'a no' 1 env DRIVE_NO=1 "$T/drive" trust deploy
like 'is no trust' "$out" '^refused \(27\): acme/deploy was not trusted'
exits 'a yes' 0 env DRIVE_YES=1 "$T/drive" trust deploy
is 'after one question' "$out" 'confirm 1: Trust this program to run on this machine?'
like 'that shows the origin' "$err" github.com/acme/catalog
exits 'it is recorded' 0 drive trusted
is 'with its digest' "$out" 'metaskill acme/deploy sha256:'
exits 'it is trusted now' 0 env MAPM_ASK=none DRIVE_NO=1 "$T/drive" trust deploy
exits 'bad input' 1 drive run deploy '[]'
like 'is wrong' "$out" '^usage '
exits 'trust is revoked' 0 drive revoke deploy
exits 'nothing is trusted' 0 drive trusted
is 'nothing' "$out" ''
exits 'and cannot be revoked twice' 1 drive revoke deploy
like 'it is not there' "$out" '^not-found '

# --- the process of the host --------------------------------------------------------

mkdir -p .agents/skills/local
printf -- '---\nname: local\ndescription: x\nmetaskill: SKILL.star\n---\nBody\n' >.agents/skills/local/SKILL.md
echo 'def run(input): return "done"' >.agents/skills/local/SKILL.star
exits 'umask, limits, signals and children stay as they are' 0 drive untouched local
like 'and the operation works' "$out" '^1 ok: '
exits 'a host without descriptors 0 to 2 that ignores SIGCHLD' 0 drive odd
like 'is served' "$out" '^[0-9]+ skills$'
exits 'mapm_cancel before an operation' 0 drive cancel
like 'ends the next one' "$out" '^interrupted \(28\): interrupted$'
mkdir "$T/gate" && mkfifo "$T/gate/started" "$T/gate/go"
printf '#!/bin/sh\n: >"%s/started"\nread -r line <"%s/go"\nexec "%s/libexec/mapm/mapm-engine"\n' \
    "$T/gate" "$T/gate" "$prefix" >"$T/gate/mapm-engine" && chmod +x "$T/gate/mapm-engine"
mkdir "$T/empty"
exits 'mapm_cancel before the engine has begun' 1 env DRIVE_LIBEXEC="$T/gate" DRIVE_WORKSPACE="$T/empty" \
    "$T/drive" early "$T/gate/started" "$T/gate/go" $URL
like 'interrupts the operation' "$out" '^interrupted \(28\): '
exits 'an engine that is not there' 1 env DRIVE_LIBEXEC="$T/none" "$T/drive" list
like 'is named' "$out" "^not-found .*$T/none/mapm-engine"
exits 'a workspace that is not there' 1 env DRIVE_WORKSPACE="$T/none" "$T/drive" list
like 'is named too' "$out" "^io .*$T/none"
mkdir "$T/crash" && printf '#!/bin/sh\nexit 3\n' >"$T/crash/mapm-engine" && chmod +x "$T/crash/mapm-engine"
exits 'an engine that ends early' 1 env DRIVE_LIBEXEC="$T/crash" "$T/drive" list
is 'is an error' "$out" 'failed (1): mapm-engine ended early (exit 3)'
# nonsense WHAT BYTES: from an engine that goes on.
nonsense()
{
    printf '#!/bin/sh\nprintf "%s" >&3\nread -r never <"%s/never"\n' "$2" "$T" >"$T/crash/mapm-engine"
    exits "an engine that sends $1" 1 env DRIVE_LIBEXEC="$T/crash" "$T/drive" list
    is "$1: is ended, and said" "$out" 'format (5): invalid message from mapm-engine'
}
mkfifo "$T/never"
nonsense 'a length that no message has' '\377\377\377\377'
nonsense 'a kind that is none' '\006\000\000\000\177\000\000\000\000\000'
nonsense 'a request' '\006\000\000\000\001\004\000\000\000\000'
nonsense 'more records than bytes' '\006\000\000\000\012\013\377\377\377\000'
exits 'an engine that was not started by the library' 1 "$prefix/libexec/mapm/mapm-engine"

# Nothing is installed, but the workspace is locked as long as the engine lives.
mkfifo "$T/planned"
mkdir "$T/locked" && cd "$T/locked" || exit 1
"$T/drive" hang $URL >"$T/planned" &
hanging=$!
read -r line <"$T/planned"
is 'a plan is held' "$line" planned
mkdir "$T/beside"
exits '[F11] others need not wait for its repository' 0 timeout 60 "$MAPM" -C "$T/beside" install --yes $URL
kill -9 $hanging
exits 'the engine ends with the host' 0 drive change install apply $URL
like 'and leaves nothing behind' "$out" '^add skill acme/deploy$'
cd "$T/ws" || exit 1

# --- examples/host ---------------------------------------------------------------------

# told WHAT WORKSPACE: of a run of the example there.
told()
{
    like "$1: a package is planned" "$out" "^${2}add skill acme/deploy$"
    like "$1: changes are applied" "$out" "^${2}[1-9][0-9]* changes$"
    like "$1: a skill is found" "$out" "^${2}found deploy: "
    like "$1: its answer is used" "$out" 'an answer of the host'
    like "$1: a run is canceled" "$out" "^${2}canceled$"
}
ok 'examples/host/host.c is compiled' compile "$T/host" "$ROOT/examples/host/host.c" "-Wl,-rpath,$lib"
mkdir "$T/one" "$T/two"
exits 'the C example, two workspaces' 0 "$T/host" $URL deploy "$T/one" "$T/two"
told 'C, one' "$T/one: "
told 'C, two' "$T/two: "
like 'progress is shown' "$err" 'of 1 packages'

# A sanitizer or gcov is in the library then, and would have to be in Python.
if [ -z "$flags" ]; then
    mkdir "$T/three"
    LD_LIBRARY_PATH=$lib PYTHONPATH=$ROOT/examples/host python3 -B - >"$T/layout.c" <<'PY'
import ctypes, re, host
print('#include <mapm.h>\n#include <stdio.h>\nint main(void)\n{')
for name, s in vars(host).items():
    if isinstance(s, type) and issubclass(s, ctypes.Structure) and s is not ctypes.Structure:
        c = "struct mapm_" + re.sub("(?<!^)(?=[A-Z])", "_", name).lower()
        print(f'if (sizeof({c}) != {ctypes.sizeof(s)}) puts("{name}");')
        for field, *_ in s._fields_:
            print(f'if (offsetof({c}, {field}) != {getattr(s, field).offset}) puts("{name}.{field}");')
print('return 0;\n}')
PY
    ok 'the structures of the Python example are compiled' compile "$T/layout" "$T/layout.c" "-Wl,-rpath,$lib"
    is 'and are laid out as those of the header' "$("$T/layout")" ''
    exits 'the Python example' 0 env LD_LIBRARY_PATH="$lib" python3 "$ROOT/examples/host/host.py" $URL deploy "$T/three"
    told Python ''

    # The library itself under ThreadSanitizer; the engine is a process of its own.
    ok 'the library is built with ThreadSanitizer' make_here B="$T/tsan" SAN=thread CFLAGS='-O1 -g' \
        CC="$CC" "$T/tsan/libmapm.a"
    # shellcheck disable=SC2046 # several words
    ok 'and the example' $CC -g -fsanitize=thread $(pc --cflags) "$ROOT/examples/host/host.c" \
        "$T/tsan/libmapm.a" -pthread -o "$T/host-tsan"
    mkdir "$T/four" "$T/five"
    exits 'two threads, two workspaces: no data race' 0 \
        env TSAN_OPTIONS=halt_on_error=1:exitcode=66 "$T/host-tsan" $URL deploy "$T/four" "$T/five"
    told 'TSan, four' "$T/four: "
    told 'TSan, five' "$T/five: "
    unlike 'nothing is reported' "$err" ThreadSanitizer
fi
done_testing
