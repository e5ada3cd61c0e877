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
ok 'make install with PREFIX succeeds' make_here -o all B="$BUILD" PREFIX="$prefix" install
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
is 'the manual page has all exported functions' "$(printf '%s\n' "$exported" | while read -r f; do
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
    ok 'a C++ program links to the function names of C' sh -c "g++ -Wall -Wextra -I'$prefix/include' -c -o '$T/x.o' '$T/x.cc' && nm -u '$T/x.o' | grep -q ' mapm_open'"
fi

# --- every operation ----------------------------------------------------------

pc()
{
    PKG_CONFIG_PATH=$lib/pkgconfig pkg-config "$@" mapm
}
is 'pkg-config reports the version of the program' "$(pc --modversion)" "$("$prefix/bin/mapm" --version | grep -o '[0-9][0-9.]*' | sed -n 1p)"
# compile OUT SOURCE FLAG...: from the installed files alone.
compile()
{
    to=$1 from=$2
    shift 2
    # shellcheck disable=SC2046,SC2086 # several words each
    $CC -Wall -Wextra -Werror $flags "$from" $(pc --cflags --libs) -pthread -o "$to" "$@"
}
ok 'a program is compiled and linked with the installed files' compile "$T/drive" "$ROOT/tests/lib/host_drive.c" "-Wl,-rpath,$lib"
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

exits 'the list of packages succeeds in an empty workspace' 0 drive list
is 'the list of packages is empty in an empty workspace' "$out" ''
exits 'mapm_apply after the plan of a dry run fails' 1 drive change install plan $URL
is 'a dry run lists its packages and leaves no plan to apply' "$out" "add skill acme/deploy
planned
usage (2): there is no plan to apply"
exits 'mapm_apply of a discarded plan fails' 1 drive change install discard $URL
is 'plans alone leave the workspace empty' "$(ls -A)" ''
exits 'a plan canceled during the fetch fails' 1 env DRIVE_CANCEL=1 "$T/drive" change install apply $URL
like 'the error of a canceled plan is interrupted' "$out" '^interrupted \(28\): '
is 'a canceled plan leaves the workspace empty' "$(ls -A)" ''
exits 'a plan for an install is applied' 0 drive change install apply $URL
like 'the plan lists the package to add' "$out" '^add skill acme/deploy$'
like 'the plan lists the path to add' "$out" '^add .agents/skills/deploy$'
exits 'a second plan for the same install succeeds' 0 drive change install apply $URL
is 'a second plan for the same install has nothing to do' "$out" "keep skill acme/deploy
nothing to do"
exits 'the list of installed packages succeeds' 0 drive list
is 'the list has version, path, root and origin of the package' "$out" 'skill acme/deploy 1.2.0 .agents/skills/deploy root=1 local=0'
exits 'a plan to remove an unknown package fails' 1 drive change remove apply nothing
like 'the error of an unknown package is not-found' "$out" '^not-found \(4\): '

exits 'mapm_verify succeeds in an unchanged workspace' 0 drive verify
is 'mapm_verify has no finding in an unchanged workspace' "$out" ''
echo more >>.agents/skills/deploy/SKILL.md
exits 'mapm_verify succeeds in a changed workspace' 0 drive verify
is 'mapm_verify finds the changed file' "$out" 'workspace: .agents/skills/deploy/SKILL.md: changed'
exits 'the plan of a dry run of an update cannot be applied' 1 drive change update plan
like 'the dry run of an update lists the edited file' "$out" '^edit .agents/skills/deploy/SKILL.md was changed$'
exits 'the plan of a dry run of a removal cannot be applied' 1 drive change remove plan deploy
like 'the dry run of a removal lists its package' "$out" '^remove skill acme/deploy$'

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
exits 'a choice with a pattern, a skip and a client is applied' 0 choose skill 'nuxt-*' skip nuxt-b client codex
is 'the choice installs what the pattern chooses [F4]' "$(printf '%s\n' "$out" | grep '^add skill')" 'add skill nuxt-a'
is 'the choice for one client writes no file for another' "$(cd "$T/chosen" && ls -A)" ".agents
mapm.lock
mapm.yaml"
exits 'a choice with an invalid package succeeds' 0 choose skill '*'
like 'the invalid package is left out with a reason [F4]' "$out" '^left-out skill broken, [a-z-]*: '
exits 'a strict choice with an invalid package fails' 1 choose skill '*' strict yes
like 'the error of a strict choice is origin-invalid' "$out" '^origin-invalid \(8\): '

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
exits 'mapm_skills succeeds' 0 drive skills
like 'mapm_skills returns a local skill' "$out" '^pdf: Reads PDF files \(workspace, 0\)$'
like 'mapm_skills marks a metaskill' "$out" '^deploy: .* metaskill$'
exits 'mapm_search succeeds' 0 drive search pdf 3
is 'mapm_search finds a skill by name and description' "$out" 'pdf: Reads PDF files (workspace, 1)'
exits 'mapm_search with a limit of 0 fails' 1 drive search pdf 0
is 'the error of a limit of 0 is usage' "$out" 'usage (2): the limit must be from 1 to 50'
exits 'mapm_match succeeds' 0 drive match 'please read this pdf'
like 'mapm_match finds a skill by words of a request' "$out" '^pdf: '
exits 'mapm_load succeeds' 0 drive load pdf
is 'mapm_load returns text, tags, metadata and resources' "$out" '# Skill: pdf (source: workspace)

The body.

tag documents
tag pdf
tags = documents, pdf
author = acme
reference: references/notes.md, 5 bytes'
exits 'mapm_load of an unknown skill fails' 1 drive load pfd
is 'the error of an unknown skill is not-found' "$out" "not-found (4): no skill registered with name 'pfd'"
exits 'mapm_read_resource succeeds' 0 drive resource pdf references/notes.md
is 'mapm_read_resource returns the bytes of the file' "$out" notes
exits 'mapm_read_resource of a file outside the skill fails' 1 drive resource pdf ../deploy/SKILL.md
like 'the error of a file outside the skill gives a code' "$out" '^(refused|not-found|usage) '
mkdir -p "$T/bad/Bad_Name"
printf -- '---\nname: Bad_Name\ndescription: x\n---\n' >"$T/bad/Bad_Name/SKILL.md"
exits 'mapm_lint succeeds' 0 drive lint "$T/bad" agentskills
like 'mapm_lint returns diagnostics with file and line' "$out" 'Bad_Name/SKILL.md:2: name-grammar: error'
exits 'mapm_lint with an unknown profile fails' 1 drive lint "$T/bad" none
is 'the error of an unknown profile is usage' "$out" 'usage (2): unknown profile "none"'

# --- trust, runs ---------------------------------------------------------------

exits 'a run of an edited metaskill fails' 1 drive run deploy '{"task": "x"}'
like 'the error of an edited metaskill is edited' "$out" '^edited '
sed -i '$d' .agents/skills/deploy/SKILL.md
exits '[X27] a run of an untrusted metaskill fails' 1 drive run deploy '{"task": "x"}'
like 'the error of an untrusted metaskill is refused' "$out" '^refused \(27\): '
exits 'trust without a callback for questions fails' 1 drive trust deploy
like 'the error of trust without a callback is refused' "$out" '^refused '
exits 'a no to the question of trust fails' 1 env DRIVE_NO=1 "$T/drive" trust deploy
like 'the error of a no to trust is refused' "$out" '^refused \(27\): acme/deploy was not trusted'
exits 'a yes to the question of trust succeeds' 0 env DRIVE_YES=1 "$T/drive" trust deploy
is 'trust asks one question' "$out" 'confirm 1: Trust this program to run on this machine?'
like 'the question of trust shows the origin' "$err" github.com/acme/catalog
exits 'the list of trusted programs succeeds' 0 drive trusted
is 'the list of trusted programs has the digest' "$out" 'metaskill acme/deploy sha256:'
exits 'trust of a trusted program asks no question' 0 env MAPM_ASK=none DRIVE_NO=1 "$T/drive" trust deploy
exits 'a run with input that is no object fails' 1 drive run deploy '[]'
like 'the error of such input is usage' "$out" '^usage '
exits 'a revocation of trust succeeds' 0 drive revoke deploy
exits 'the list of trusted programs succeeds after the revocation' 0 drive trusted
is 'the list of trusted programs is empty after the revocation' "$out" ''
exits 'a second revocation of trust fails' 1 drive revoke deploy
like 'the error of a second revocation is not-found' "$out" '^not-found '

# --- the process of the host --------------------------------------------------------

mkdir -p .agents/skills/local
printf -- '---\nname: local\ndescription: x\nmetaskill: SKILL.star\n---\nBody\n' >.agents/skills/local/SKILL.md
echo 'def run(input): return "done"' >.agents/skills/local/SKILL.star
exits 'umask, limits, signals and children of the host are unchanged' 0 drive untouched local
like 'the operation in that host succeeds' "$out" '^1 ok: '
exits 'a host without descriptors 0 to 2 that ignores SIGCHLD succeeds' 0 drive odd
like 'mapm_skills works in such a host' "$out" '^[0-9]+ skills$'
exits 'mapm_cancel before an operation succeeds' 0 drive cancel
like 'mapm_cancel ends the next operation as interrupted' "$out" '^interrupted \(28\): interrupted$'
mkdir "$T/gate" && mkfifo "$T/gate/started" "$T/gate/go"
printf '#!/bin/sh\n: >"%s/started"\nread -r line <"%s/go"\nexec "%s/libexec/mapm/mapm-engine"\n' \
    "$T/gate" "$T/gate" "$prefix" >"$T/gate/mapm-engine" && chmod +x "$T/gate/mapm-engine"
mkdir "$T/empty"
exits 'mapm_cancel before the engine has begun ends the operation' 1 env DRIVE_LIBEXEC="$T/gate" DRIVE_WORKSPACE="$T/empty" \
    "$T/drive" early "$T/gate/started" "$T/gate/go" $URL
like 'the error of an early mapm_cancel is interrupted' "$out" '^interrupted \(28\): '
exits 'an operation without the engine file fails' 1 env DRIVE_LIBEXEC="$T/none" "$T/drive" list
like 'the error names the absent engine file' "$out" "^not-found .*$T/none/mapm-engine"
exits 'an operation in an absent workspace fails' 1 env DRIVE_WORKSPACE="$T/none" "$T/drive" list
like 'the error names the absent workspace' "$out" "^io .*$T/none"
mkdir "$T/crash" && printf '#!/bin/sh\nexit 3\n' >"$T/crash/mapm-engine" && chmod +x "$T/crash/mapm-engine"
exits 'an operation with an engine that ends early fails' 1 env DRIVE_LIBEXEC="$T/crash" "$T/drive" list
is 'the error gives the exit code of the engine' "$out" 'failed (1): mapm-engine ended early (exit 3)'
# nonsense WHAT BYTES: from an engine that goes on.
nonsense()
{
    printf '#!/bin/sh\nprintf "%s" >&3\nread -r never <"%s/never"\n' "$2" "$T" >"$T/crash/mapm-engine"
    exits "an operation fails with an engine that sends $1" 1 env DRIVE_LIBEXEC="$T/crash" "$T/drive" list
    is "$1: the error reports an invalid message" "$out" 'format (5): invalid message from mapm-engine'
}
mkfifo "$T/never"
nonsense 'a length beyond the limit' '\377\377\377\377'
nonsense 'an unknown kind of message' '\006\000\000\000\177\000\000\000\000\000'
nonsense 'a request' '\006\000\000\000\001\004\000\000\000\000'
nonsense 'more records than bytes' '\006\000\000\000\012\013\377\377\377\000'
exits 'the engine fails when the library did not start it' 1 "$prefix/libexec/mapm/mapm-engine"

# Nothing is installed, but the workspace is locked as long as the engine lives.
mkfifo "$T/planned"
mkdir "$T/locked" && cd "$T/locked" || exit 1
"$T/drive" hang $URL >"$T/planned" &
hanging=$!
read -r line <"$T/planned"
is 'a program holds a plan that is not applied' "$line" planned
mkdir "$T/beside"
exits '[F11] install elsewhere does not wait for the held plan' 0 timeout 60 "$MAPM" -C "$T/beside" install --yes $URL
kill -9 $hanging
exits 'an install after the host was killed succeeds' 0 drive change install apply $URL
like 'the install after the host was killed adds the package' "$out" '^add skill acme/deploy$'
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
ok 'the example in C is compiled' compile "$T/host" "$ROOT/examples/host/host.c" "-Wl,-rpath,$lib"
mkdir "$T/one" "$T/two"
exits 'the example in C succeeds with two workspaces' 0 "$T/host" $URL deploy "$T/one" "$T/two"
told 'C, one' "$T/one: "
told 'C, two' "$T/two: "
like 'the example in C shows progress' "$err" 'of 1 packages'

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
    ok 'the program that compares the structures is compiled' compile "$T/layout" "$T/layout.c" "-Wl,-rpath,$lib"
    is 'the structures of the Python example equal those of the header' "$("$T/layout")" ''
    exits 'the example in Python succeeds' 0 env LD_LIBRARY_PATH="$lib" python3 "$ROOT/examples/host/host.py" $URL deploy "$T/three"
    told Python ''

    # The library itself under ThreadSanitizer; the engine is a process of its own.
    ok 'the library is built with ThreadSanitizer' make_here B="$T/tsan" SAN=thread CFLAGS='-O1 -g' \
        CC="$CC" "$T/tsan/libmapm.a"
    # shellcheck disable=SC2046 # several words
    ok 'the example is built with ThreadSanitizer' $CC -g -fsanitize=thread $(pc --cflags) "$ROOT/examples/host/host.c" \
        "$T/tsan/libmapm.a" -pthread -o "$T/host-tsan"
    mkdir "$T/four" "$T/five"
    exits 'two threads in two workspaces succeed under ThreadSanitizer' 0 \
        env TSAN_OPTIONS=halt_on_error=1:exitcode=66 "$T/host-tsan" $URL deploy "$T/four" "$T/five"
    told 'TSan, four' "$T/four: "
    told 'TSan, five' "$T/five: "
    unlike 'ThreadSanitizer reports nothing' "$err" ThreadSanitizer
fi
done_testing
