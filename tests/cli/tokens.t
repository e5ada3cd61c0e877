#!/bin/sh
# Which token goes where: each kind's variables, config.yaml, netrc and helpers,
# for their host alone; never over a redirect, whatever its kind; and what is said
# of hosts that refuse. [H4, row 13, row 49]
. "$(dirname "$0")/../lib/cli.sh"

. "$ROOT/tests/lib/fetch.sh"

secret=s3cr3t-0123456789
make_repo acme/private "$T/src"
make_repo new/name "$T/src"
LAB=https://gitlab.com
PRIVATE=$LAB/acme/private/-/tree/main/skills/hello
unsaid()
{
    unlike "$1: the output never shows the token" "$out$err" "$secret"
}

# Another host: what it is sent is in $T/caught.
cat >"$T/catch.py" <<'PYTHON'
import http.server, sys
class Catch(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open(sys.argv[1], "a") as f:
            f.write(f"{self.command} {self.path} {self.headers.get('Authorization')}\n")
        self.send_error(404)
    do_POST = do_GET
    def log_message(self, *a):
        pass
s = http.server.HTTPServer(("127.0.0.1", 0), Catch)
with open(sys.argv[2], "w") as f:
    f.write(str(s.server_address[1]))
s.serve_forever()
PYTHON
python3 -S "$T/catch.py" "$T/caught" "$T/catch.port" &
catch_pid=$!
trap 'kill $catch_pid 2>/dev/null; leave' EXIT
await test -s "$T/catch.port"
elsewhere=$(cat "$T/catch.port")

# lab KIND: gitlab.com is the stand-in, a host of this kind.
lab()
{
    git config --global --replace-all "url.$GITHOST_URL/.insteadOf" $LAB/
    kind=$1
}
go()
{
    drive --host "127.0.0.1,$kind" --host "localhost,$kind" "$T/incoming" "$@"
}

# --- each variable ---------------------------------------------------------------------

start_githost --token "$secret" --private 'acme/private'
lab gitlab
unset CI_JOB_TOKEN CI_SERVER_HOST
# sends VARIABLE KIND OTHER: it opens the repository on a host of the kind, and not on
# one of the other (tests/unit/fetch_secrets_test.c has all pairs).
sends()
{
    for kind in $2 $3; do
        eval "$1=\$secret && export $1"
        go "$PRIVATE"
        eval "unset $1"
        if [ $kind = "$2" ]; then
            like "[H4] $1 is sent to a host of kind $kind" "$out" '^DONE'
        else
            like "[H4] $1 is not sent to a host of kind $kind" "$out" '\[not-authorized\]'
        fi
    done
    unsaid "$1"
}
sends GH_TOKEN github gitlab
sends GITLAB_TOKEN gitlab gitea
sends BITBUCKET_TOKEN bitbucket bitbucket-dc
sends AZURE_DEVOPS_EXT_PAT azure git
kind=gitlab
CI_JOB_TOKEN=$secret CI_SERVER_HOST=gitlab.example
export CI_JOB_TOKEN CI_SERVER_HOST
go "$PRIVATE"
like '[H4] CI_JOB_TOKEN is not sent to another host' "$out" '\[not-authorized\]'
CI_SERVER_HOST=127.0.0.1
go "$PRIVATE"
like '[H4] CI_JOB_TOKEN is sent to the host of CI_SERVER_HOST' "$out" '^DONE'
unset CI_JOB_TOKEN CI_SERVER_HOST
MAPM_TOKEN_127_0_0_1=$secret
export MAPM_TOKEN_127_0_0_1
kind=git
go "$PRIVATE"
like '[H4] a variable with the name of the host is sent to it' "$out" '^DONE'
unset MAPM_TOKEN_127_0_0_1
MINE=$secret GITLAB_TOKEN=wrong
export MINE GITLAB_TOKEN
drive --host 127.0.0.1,gitlab,env:MINE "$T/incoming" "$PRIVATE"
like '[H4] a variable of config.yaml has precedence' "$out" '^DONE'
unset GITLAB_TOKEN
printf 'machine 127.0.0.1 login me password %s\n' "$secret" >"$HOME/.netrc"
drive --host 127.0.0.1,gitlab,none "$T/incoming" "$PRIVATE"
like '[H4] token: none sends no credential' "$out" '\[not-authorized\].*mapm host set 127.0.0.1 --token default'
drive --host 127.0.0.1,gitlab,git "$T/incoming" "$PRIVATE"
like '[H4] token: git uses netrc' "$out" '^DONE'
rm "$HOME/.netrc"
mkdir "$T/bin"
printf '#!/bin/sh\n[ "$*" = "auth git-credential get" ] && grep -q "^host=127.0.0.1:" && echo username=oauth2 && echo password=%s\n' \
    "$secret" >"$T/bin/glab"
chmod 755 "$T/bin/glab"
OLDPATH=$PATH PATH=$T/bin:$PATH
kind=gitlab
go "$PRIVATE"
like '[H4] a host of GitLab uses the credential of glab' "$out" '^DONE'
drive --host 127.0.0.1,gitlab,git "$T/incoming" "$PRIVATE"
like '[H4] token: git does not use glab' "$out" '\[not-authorized\]'
kind=gitea
go "$PRIVATE"
like '[H4] a host of Gitea does not use glab' "$out" '\[not-authorized\]'
PATH=$OLDPATH

# Two repositories, each with a password of its own: one of them is $secret.
cat >"$T/helper" <<'HELPER'
#!/bin/sh
[ "$1" = get ] || exit 0
path=$(sed -n 's/^path=//p')
echo "asked for $path" >>"$F"
case $path in
    acme/other.git) echo username=me && echo "password=$SECRET" ;;
    *) [ -z "$OTHER" ] || { echo username=me && echo "password=$OTHER"; } ;;
esac
HELPER
chmod 755 "$T/helper"
make_repo acme/other "$T/src"
OTHER_REPO=$LAB/acme/other/-/tree/main/skills/hello
start_githost --token "$secret" --private 'acme/*'
lab git
F=$T/paths SECRET=$secret OTHER=wrong-$secret
export F SECRET OTHER
git config --global credential.helper "!$T/helper"
go "$PRIVATE" "$OTHER_REPO"
is '[H4] a credential helper is asked once for each host' "$(sort "$F")" 'asked for '
git config --global credential.useHttpPath true
for OTHER in "$OTHER" ''; do
    : >"$F"
    go "$PRIVATE" "$OTHER_REPO"
    is '[H4] with credential.useHttpPath a password holds for one repository' \
        "$(echo "$out" | grep -c ^DONE)-$(echo "$out" | grep -c '^FAILED.*not-authorized')" 1-1
    is '[H4] with credential.useHttpPath the helper is asked once for each repository' "$(sort "$F")" "asked for acme/other.git
asked for acme/private.git"
done
unsaid 'a helper that asks by path'
git config --global --remove-section credential
start_githost --token "$secret" --private 'acme/private'
lab gitlab

# --- what is said ------------------------------------------------------------------------

kind=gitlab
go "$PRIVATE"
like '[H4] the error of HTTP 401 says that the repository is absent or private' "$out" '\[not-authorized\].*HTTP 401.*there is no such repository, or it is private'
like '[H4] the error suggests GITLAB_TOKEN or a login with glab' "$out" 'set GITLAB_TOKEN or log in with "glab auth login"'
go "$LAB/acme/unknown/-/tree/main/x"
like '[H4] the error of an absent repository equals that of a private one' "$out" '\[not-authorized\].*HTTP 401.*there is no such repository, or it is private'
kind=azure
go "$PRIVATE"
like '[H4] the error of Azure DevOps suggests AZURE_DEVOPS_EXT_PAT' "$out" 'set AZURE_DEVOPS_EXT_PAT, to a personal access token or a token of "az account get-access-token"'
kind=git
go "$PRIVATE"
like '[H4] the error of a host of kind git suggests MAPM_TOKEN with its name' "$out" 'set MAPM_TOKEN_127_0_0_1'
kind=gitlab GITLAB_TOKEN=wrong-$secret
export GITLAB_TOKEN
go "$PRIVATE"
like '[H4] the error says that the token from GITLAB_TOKEN was not accepted' "$out" 'the token from GITLAB_TOKEN was not accepted'
unsaid 'a wrong token'
GITLAB_TOKEN=$secret
go "$LAB/acme/unknown/-/tree/main/x"
like '[H4] the error says that the token may not read the repository' "$out" '\[not-found\].*there is no such repository, or the token from GITLAB_TOKEN may not read it'
fault '{"kind": "html", "status": 203, "times": -1}'
go "$PRIVATE"
like '[H4] the error of a sign-in page says that the token was not accepted' "$out" '\[not-authorized\].*HTTP 203.*a page to sign in, in place of git.s answer; the token from GITLAB_TOKEN was not accepted'
clear_faults
fault '{"kind": "html", "status": 203}'
unset GITLAB_TOKEN
printf 'machine 127.0.0.1 login me password %s\n' "$secret" >"$HOME/.netrc"
go "$PRIVATE"
like '[H4] the next credential is used after a sign-in page' "$out" '^DONE'
rm "$HOME/.netrc"
fault '{"kind": "html", "status": 401, "size": 200000, "times": -1}'
go "$PRIVATE"
like '[H4] the error of a long HTML page with 401 has no text of it' "$out" 'HTTP 401.*there is no such repository'
clear_faults
fault '{"kind": "html", "status": 500, "times": -1}'
go "$PRIVATE"
like '[H4] the error of an HTML page with 500 names the status' "$out" 'HTTP 500.*a page in place of git.s answer'
clear_faults
soon=$(($(date +%s) + 5000))
fault '{"kind": "status", "status": 429, "headers": {"RateLimit-Remaining": 0, "RateLimit-Reset": '$soon'}, "times": -1}'
go "$HELLO" "$LAB/acme/catalog/-/tree/main/skills/hello"
like '[H4] the error of a rate limit shows when it ends' "$out" 'HTTP 429.*rate limit exceeded, until 20[0-9-]+ [0-9:]+ UTC'
like '[H4] the error of a rate limit suggests a token' "$out" 'set GITLAB_TOKEN or log in with "glab auth login" for a higher limit'
clear_faults
fault '{"kind": "status", "status": 429, "headers": {"RateLimit-Remaining": 0, "RateLimit-Reset": 1}}'
go "$LAB/acme/catalog/-/tree/main/skills/hello"
like '[H4] a short rate limit is waited for' "$out" '^DONE'
fault '{"kind": "status", "status": 503, "retry_after": 3000, "times": -1}'
go "$LAB/acme/catalog/-/tree/main/skills/hello"
like '[H4] the error of a long Retry-After shows the seconds' "$out" 'HTTP 503.*come back in 3000 seconds'
clear_faults

# --- redirects -----------------------------------------------------------------------------

GITLAB_TOKEN=$secret MAPM_TOKEN_LOCALHOST=$secret MAPM_TOKEN_127_0_0_1=$secret
export GITLAB_TOKEN MAPM_TOKEN_LOCALHOST MAPM_TOKEN_127_0_0_1
printf 'machine localhost login me password %s\nmachine 127.0.0.1 login me password %s\n' \
    "$secret" "$secret" >"$HOME/.netrc"
git config --global credential.helper '!f() { test "$1" = get && echo username=me && echo password='"$secret"'; }; f'
kind=gitlab
port=${GITHOST_URL##*:}
# leads CODE TO ERROR: a redirect with this status ends there.
leads()
{
    fault '{"kind": "redirect", "status": '"$1"', "to": "'"$2"'/acme/private.git/git-upload-pack"}'
    go "$PRIVATE"
    like "[H4, row 13] a redirect with $1 to $2 is refused" "$out" "^FAILED.*\\[refused\\].*redirects to another $3"
    clear_faults
}
for code in 301 302 307 308; do
    leads $code "http://localhost:$elsewhere" host
    leads $code "http://127.0.0.1:$elsewhere" port
    leads $code "https://127.0.0.1:$port" scheme
done
leads 301 "http://me:x@127.0.0.1:$elsewhere" port
leads 302 "//localhost:$elsewhere" host
fault '{"kind": "status", "status": 404, "match": {"cmd": "ls-refs"}}'
fault '{"kind": "redirect", "status": 301, "match": {"cmd": "info-refs"}, "to": "http://localhost:'"$elsewhere"'/acme/private.git/info/refs?service=git-upload-pack"}'
go "$PRIVATE"
like '[H4, row 13] a redirect of a GET to another host is refused' "$out" '^FAILED.*\[refused\].*another host'
clear_faults
is '[H4, row 13] redirects send nothing to another host' "$(cat "$T/caught" 2>/dev/null)" ''
fault '{"kind": "redirect", "status": 301, "to": "http://127.0.0.1:'"$port"'/acme/private.git/git-upload-pack"}'
go "$LAB/old/private/-/tree/main/skills/hello"
like '[H4] a redirect on the same host keeps the token' "$out" '^DONE'
unsaid 'a redirect'

# --- [row 49] a host that asks for more --------------------------------------------------

reset_log
for realm in 'Basic realm=\"https://localhost:'"$elsewhere"'/login\"' \
    'Bearer realm=\"http://localhost:'"$elsewhere"'/token\",service=\"x\"' \
    'Digest realm=\"x\", nonce=\"y\"' \
    'Basic realm=\"\u001b[31m GITLAB_TOKEN='"$secret"'\"'; do
    fault '{"kind": "status", "status": 401, "headers": {"WWW-Authenticate": "'"$realm"'"}, "times": -1}'
    go "$LAB/acme/catalog/-/tree/main/skills/hello"
    like '[row 49] the challenge of a host is refused' "$out" '\[not-authorized\].*HTTP 401'
    unlike '[row 49] the text of a challenge is not shown' "$out" 'realm|localhost|login"'
    clear_faults
done
is '[row 49] a challenge leads to no request to another host' "$(cat "$T/caught" 2>/dev/null)" ''

# --- http.extraHeader ------------------------------------------------------------------------

unset GITLAB_TOKEN MAPM_TOKEN_LOCALHOST MAPM_TOKEN_127_0_0_1
rm "$HOME/.netrc"
git config --global --remove-section credential
lab github
opens()
{
    go "$PRIVATE"
    like "[H4] access is allowed: $1" "$out" '^DONE'
}
closed()
{
    go "$PRIVATE"
    like "[H4] access is denied: $1" "$out" '\[not-authorized\]'
    unsaid "$1"
}
auth="AUTHORIZATION: basic $(printf 'x-access-token:%s' "$secret" | base64 -w0)"
bad="AUTHORIZATION: basic $(printf 'x-access-token:%s' wrong | base64 -w0)"
git config --global "http.$GITHOST_URL/.extraheader" "$auth"
opens 'http.<url>.extraHeader is sent to its URL'
git config --global --add "http.$GITHOST_URL/acme/private.git.extraheader" "$bad"
closed 'the extraHeader of the longest matching URL is used'
like '[H4] the error says that http.extraHeader was not accepted' "$out" 'http.extraHeader of the git configuration was not accepted'
GH_TOKEN=$secret
export GH_TOKEN
opens 'a variable has precedence over extraHeader'
unset GH_TOKEN
git config --global --remove-section "http.$GITHOST_URL/acme/private.git"
drive --host 127.0.0.1,github,none "$T/incoming" "$PRIVATE"
like '[H4] token: none does not use extraHeader' "$out" '\[not-authorized\]'
drive --host 127.0.0.1,github,git "$T/incoming" "$PRIVATE"
like '[H4] token: git uses extraHeader' "$out" '^DONE'
git config --global --add "http.$GITHOST_URL/.extraheader" ''
closed 'an empty value removes an extraHeader'
git config --global --remove-section "http.$GITHOST_URL/"
for section in http "http.$GITHOST_URL/acme/priv" "http.http://localhost:$port/" \
    "http.http://127.0.0.1:$elsewhere/" "http.http://someone@127.0.0.1:$port/"; do
    git config --global "$section.extraheader" "$auth"
    closed "the extraHeader of $section is not used"
    git config --global --remove-section "$section"
done
# Below one repository, a redirect leads to another one, and to another host.
git config --global "http.$GITHOST_URL/old/.extraheader" "$auth"
git config --global "http.http://localhost:$elsewhere/.extraheader" "$auth"
fault '{"kind": "redirect", "status": 301, "to": "http://127.0.0.1:'"$port"'/acme/private.git/git-upload-pack"}'
go "$LAB/old/private/-/tree/main/skills/hello"
like '[H4, row 13] extraHeader does not follow a redirect out of its URL' "$out" '\[not-authorized\]'
clear_faults
leads 301 "http://localhost:$elsewhere" host
is '[H4, row 13] extraHeader does not follow a redirect to another host' "$(cat "$T/caught" 2>/dev/null)" ''
git config --global --remove-section "http.$GITHOST_URL/old/"
git config --global --remove-section "http.http://localhost:$elsewhere/"

# What actions/checkout leaves: in the repository around the working directory.
mkdir "$T/checkout"
git init -q "$T/checkout"
cd "$T/checkout" || exit 1
git config "http.$GITHOST_URL/.extraheader" "$auth"
opens 'the extraHeader of a checkout is used'
git config "http.$GITHOST_URL/.extraheader" "AUTHORIZATION: bearer $secret"
opens 'a bearer token in the extraHeader of a checkout is used'
drive --host 127.0.0.1,github,none "$T/incoming" "$PRIVATE"
like '[H4] token: none does not use the extraHeader of a checkout' "$out" '\[not-authorized\]'
git config --file "$T/included" "http.$GITHOST_URL/.extraheader" "$auth"
git config --unset "http.$GITHOST_URL/.extraheader"
git config "includeIf.gitdir:$T/checkout/.git.path" "$T/included"
opens 'the extraHeader in an included file of a checkout is used'
git config --unset "includeIf.gitdir:$T/checkout/.git.path"
git config "http.$GITHOST_URL/.extraheader" "$bad"
closed 'a wrong extraHeader of a checkout is not accepted'
like '[H4] the error names http.extraHeader of this checkout' "$out" 'http.extraHeader of this checkout was not accepted'
for value in "AUTHORIZATION: bear $secret" "AUTHORIZATION: basic $secret" "x-token: basic ${auth##* }"; do
    git config "http.$GITHOST_URL/.extraheader" "$value"
    closed 'an extraHeader of a checkout without user and password is not used'
done
git config --remove-section "http.$GITHOST_URL/"
# … and Azure Pipelines, for one repository, with its organisation as the user.
for section in "$GITHOST_URL/acme/private" "$GITHOST_URL/acme/private.git" "$GITHOST_URL/acme/" \
    "http://acme@127.0.0.1:$port/acme/private"; do
    git config "http.$section.extraheader" "$auth"
    opens "the extraHeader of a checkout for $section is used"
    git config --remove-section "http.$section"
done
git config "http.$GITHOST_URL/.extraheader" "$auth"
git config "http.$GITHOST_URL/acme/private.extraheader" "$bad"
closed "the extraHeader of the longest matching URL of a checkout is used"
git config --remove-section "http.$GITHOST_URL/acme/private"
git config --remove-section "http.$GITHOST_URL/"
for section in http "http.$GITHOST_URL/acme/priv" "http.$GITHOST_URL/acme/private/x" "http.http://localhost:$port/" \
    "http.http://someone@127.0.0.1:$port/acme/private" "http.http://127.0.0.1:$elsewhere/acme/"; do
    git config "$section.extraheader" "$auth"
    closed "[row 52] the extraHeader of a checkout for $section is not used"
    git config --remove-section "$section"
done
# Its header does not follow a rename.
git config "http.$GITHOST_URL/old/.extraheader" "$auth"
fault '{"kind": "redirect", "status": 301, "to": "http://127.0.0.1:'"$port"'/acme/private.git/git-upload-pack"}'
go "$LAB/old/private/-/tree/main/skills/hello"
like '[H4, row 13] the extraHeader of a checkout does not follow a redirect' "$out" '\[not-authorized\]'
clear_faults
git config --remove-section "http.$GITHOST_URL/old/"
git config credential.helper "!touch $T/ran"
git config core.fsmonitor "touch $T/ran; false"
git config core.pager "touch $T/ran"
git config pager.config true
closed '[row 52] the configuration of a checkout runs no command'
is '[row 52] no command of the configuration of a checkout has run' "$(ls "$T/ran" 2>/dev/null)" ''
cd "$T" || exit 1

# --- in what is pasted ---------------------------------------------------------------------

for url in "https://$secret@gitlab.com/acme/none" "https://me:$secret@gitlab.com/acme/none" \
    "https://gitlab.com/acme/none/-/raw/main/x/SKILL.md?private_token=$secret"; do
    run mapm install -v "$url"
    isnt '[H4, row 50] install with a token in the URL fails' "$status" 0
    unsaid '[H4, row 50] a token in a URL'
done
done_testing
