#!/bin/sh
# mapm-fetch: names of hosts and repositories, TLS, secrets, the configuration.
# [M32, row 10, row 13, row 15, row 52]; FETCH 8, 9.
. "$(dirname "$0")/../lib/cli.sh"

. "$ROOT/tests/lib/fetch.sh"

# sent: what was sent as Authorization, of all requests
secret=s3cr3t-0123456789
unsaid()
{
    unlike "$1: no output contains the secret" "$out$err" "$secret"
}

make_repo acme/private "$T/src"
make_repo new/name "$T/src"
PRIVATE=$GH/acme/private/tree/main/skills/hello

# --- moved ------------------------------------------------------------------
start_githost --moved old/name=new/name
want 'a repository that moved is fetched' 0 '^DONE' "$GH/old/name/tree/main/skills/hello"
like 'a note names the new repository' "$out" 'note: old/name has moved to new/name$'
is 'the old name is asked for only once' "$(request_log | grep -c '^301')" 1
want '[F6] the error for a missing folder names the new repository' 1 \
    '\[path-not-found\] .*helo.*old/name has moved to new/name' "$GH/old/name/tree/main/skills/helo"
port=${GITHOST_URL##*:}
fault '{"kind": "redirect", "to": "http://localhost:'"$port"'/new/name.git/git-upload-pack", "status": 302}'
want 'a redirect to another name of the host is refused' 1 'redirects to another host, http://localhost:[0-9]+/new/name.git' "$HELLO"
clear_faults

# --- secrets ----------------------------------------------------------------
start_githost --token "$secret" --private 'acme/private'
want 'a private repository without a token is not authorized' 1 '\[not-authorized\] .*HTTP 401.*no such repository, or it is private' "$PRIVATE"
want 'an unknown repository without a token is not authorized' 1 '\[not-authorized\] .*HTTP 401' "$GH/acme/unknown/tree/main/x"
GH_TOKEN=$secret
export GH_TOKEN
want 'a GitHub token is not sent to a host that is not GitHub' 1 '\[not-authorized\]' "$PRIVATE"
MAPM_GITHUB_HOSTS=127.0.0.1
export MAPM_GITHUB_HOSTS
want 'a GitHub token is sent to a host in MAPM_GITHUB_HOSTS' 0 '^DONE' "$PRIVATE"
unsaid 'GH_TOKEN'
is 'the token is sent without a first refused request' "$(request_log | grep -c '^401')" 3
GH_TOKEN=wrong-$secret
want 'the error for a wrong token names GH_TOKEN' 1 'HTTP 401.*the token from GH_TOKEN was not accepted' "$PRIVATE"
unsaid 'a wrong token'
unset GH_TOKEN
want 'the error without a token says that the repository may be private' 1 'HTTP 401.*there is no such repository, or it is private' "$PRIVATE"
like 'the hint names GH_ENTERPRISE_TOKEN for a GitHub host of an enterprise' "$out" 'set GH_ENTERPRISE_TOKEN or log in'
GITHUB_TOKEN=$secret
export GITHUB_TOKEN
want 'the token in GITHUB_TOKEN is accepted' 0 '^DONE' "$PRIVATE"
want 'the error names GITHUB_TOKEN when it may not see the repository' 1 '\[not-found\] .*404.*the token from GITHUB_TOKEN may not' "$GH/acme/unknown/tree/main/x"
unset GITHUB_TOKEN

mkdir -p "$HOME/.config/gh"
printf '127.0.0.1:\n    oauth_token: %s\n    user: me\n' "$secret" >"$HOME/.config/gh/hosts.yml"
want "the token in the file of gh is accepted" 0 '^DONE' "$PRIVATE"
unsaid "gh's file"
rm -r "$HOME/.config/gh"

mkdir "$T/bin"
printf '#!/bin/sh\n[ "$*" = "auth token --hostname 127.0.0.1" ] && echo %s\n' "$secret" >"$T/bin/gh"
chmod 755 "$T/bin/gh"
OLDPATH=$PATH
PATH=$T/bin:$PATH
want 'the token that gh prints is accepted' 0 '^DONE' "$PRIVATE"
PATH=bin:$OLDPATH
cp -r "$T/bin" bin
want 'a gh in a relative folder of PATH is not started' 1 '\[not-authorized\]' "$PRIVATE"
PATH=$PWD/bin:$OLDPATH
want 'a gh in the working folder is not started by its absolute path' 1 '\[not-authorized\]' "$PRIVATE"
PATH=$OLDPATH
unset MAPM_GITHUB_HOSTS

printf 'machine elsewhere login a password b\nmachine 127.0.0.1\n login me\n password %s\n' "$secret" >"$HOME/.netrc"
want 'the password in netrc is accepted' 0 '^DONE' "$PRIVATE"
unsaid netrc
printf 'default login me password %s\n' "$secret" >"$HOME/.netrc"
want 'a default entry of netrc is not used' 1 '\[not-authorized\]' "$PRIVATE"
rm "$HOME/.netrc"

git config --global credential.helper '!f() { test "$1" = get && echo username=me && echo password='"$secret"'; }; f'
want "the password of a git credential helper is accepted" 0 '^DONE' "$PRIVATE"
unsaid 'a helper'
git config --global credential.helper '!f() { test "$1" = get && echo username=me && echo password=wrong-'"$secret"'; }; f'
want 'the error for a wrong password names the credential helper' 1 "the password from git's credential helper was not accepted" "$PRIVATE"
unsaid 'a wrong helper'
git config --global --unset credential.helper
git init -q .
git config credential.helper '!f() { echo password=x; touch '"$T"'/ran; }; f'
want 'a credential helper of a repository is not used' 1 '\[not-authorized\]' "$PRIVATE"
not_ok 'the credential helper of a repository is not started' test -e "$T/ran"
rm -rf .git bin

url=$GITHOST_URL
git config --global --unset-all "url.$url/.insteadOf"
git config --global "url.http://me:$secret@${url#http://}/.insteadOf" $GH/
want 'a password in insteadOf is accepted' 0 '^DONE' "$PRIVATE"
unsaid 'insteadOf'
git config --global --remove-section "url.http://me:$secret@${url#http://}/"
git config --global "url.$url/.insteadOf" $GH/

# --- where it may lead ------------------------------------------------------
start_githost
url=$GITHOST_URL
git config --global --unset-all "url.$url/.insteadOf"
for to in "file://$T/repos/" "$T/repos/" 'git://github.com/' 'ext::sh -c id '; do
    git config --global "url.$to.insteadOf" $GH/
    want "an insteadOf that leads to $to is refused" 1 '\[refused\] .*insteadOf.*over https or ssh only' "$HELLO"
    git config --global --remove-section "url.$to"
done
git config --global "url.file:///nowhere/.insteadOf" $GH/
git config --global "url.$url/acme/.insteadOf" $GH/acme/
want 'the longest insteadOf decides' 0 '^DONE' "$HELLO"
git config --global --remove-section "url.file:///nowhere/"
git config --global --remove-section "url.$url/acme/"

GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=url.$url/.insteadOf GIT_CONFIG_VALUE_0=$GH/
export GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0
want 'insteadOf in GIT_CONFIG_COUNT is used' 0 '^DONE' "$HELLO"
unset GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0
printf '[url "%s/"]\n\tinsteadOf = %s/\n' "$url" "$GH" >"$T/other.config"
GIT_CONFIG_GLOBAL=$T/other.config
export GIT_CONFIG_GLOBAL
want 'insteadOf in GIT_CONFIG_GLOBAL is used' 0 '^DONE' "$HELLO"
printf '[url "file:///x/"]\n\tinsteadOf = %s/\n' "$GH" >"$HOME/.gitconfig.old"
unset GIT_CONFIG_GLOBAL
git config --global include.path "$T/other.config"
want 'insteadOf in an included file is used' 0 '^DONE' "$HELLO"
git config --global --unset include.path
mkdir -p "$HOME/.config/git"
cp "$T/other.config" "$HOME/.config/git/config"
want 'insteadOf in the configuration below .config/git is used' 0 '^DONE' "$HELLO"
rm -r "$HOME/.config/git"
git init -q .
git config "url.$url/.insteadOf" $GH/
git config --global "url.https://127.0.0.1:1/.insteadOf" $GH/
want 'insteadOf of a surrounding repository is ignored' 1 '\[fetch\] .*cannot reach https://127.0.0.1:1' "$HELLO"
rm -rf .git
git config --global --remove-section 'url.https://127.0.0.1:1/'
git config --global "url.https://no-such-host.invalid/.insteadOf" $GH/
want 'an unknown host is reported as host not found' 1 '\[host-not-found\]' "$HELLO"
git config --global --remove-section 'url.https://no-such-host.invalid/'
printf '[broken\n' >>"$HOME/.gitconfig"
want 'a malformed git configuration is reported as a format error' 3 '\[format\]' "$HELLO"
sed -i '$d' "$HOME/.gitconfig"

# --- a proxy ----------------------------------------------------------------
git config --global "url.http://far.example/.insteadOf" $GH/
http_proxy=$url
export http_proxy
drive "$T/incoming" "$HELLO"
like 'the proxy of http_proxy is asked' "$out" 'HTTP 4|HTTP 5|DONE|not a git'
unset http_proxy
git config --global http.proxy "$url"
drive "$T/incoming" "$HELLO"
unlike 'the proxy of http.proxy is asked' "$out" 'host-not-found'
git config --global --unset http.proxy
git config --global --remove-section 'url.http://far.example/'

# --- TLS --------------------------------------------------------------------
start_githost --tls
want 'a host with a certificate of the configured authority is accepted' 0 '^DONE' "$HELLO"
unset GIT_SSL_CAINFO CURL_CA_BUNDLE
want 'SSL_CERT_FILE alone makes the certificate accepted' 0 '^DONE' "$HELLO"
unset SSL_CERT_FILE
want 'a certificate of an unknown authority is rejected' 1 '\[tls\] ' "$HELLO"
GIT_SSL_NO_VERIFY=1
export GIT_SSL_NO_VERIFY
want 'GIT_SSL_NO_VERIFY does not switch off verification' 1 '\[tls\] .*cannot be switched off' "$HELLO"
unset GIT_SSL_NO_VERIFY
git config --global http.sslCAInfo "$GITHOST_CA"
want 'http.sslCAInfo makes the certificate accepted' 0 '^DONE' "$HELLO"
git config --global http.sslCAInfo /nowhere
want 'a missing http.sslCAInfo is an error with its path' 1 '\[tls\] .*/nowhere' "$HELLO"
git config --global "http.$GITHOST_URL.sslCAInfo" "$GITHOST_CA"
want 'http.<url>.sslCAInfo takes precedence over http.sslCAInfo' 0 '^DONE' "$HELLO"
git config --global --remove-section "http.$GITHOST_URL"
git config --global --unset http.sslCAInfo
CURL_CA_BUNDLE=$GITHOST_CA SSL_CERT_FILE=$GITHOST_CA
export CURL_CA_BUNDLE SSL_CERT_FILE
like 'a certificate without a configured authority is rejected' "$(unset CURL_CA_BUNDLE SSL_CERT_FILE; drive "$T/incoming" "$HELLO"; echo "$out")" 'certificate'
ip=${GITHOST_URL##*:}
git config --global "url.https://other.localhost:$ip/.insteadOf" $GH/acme/
want 'a certificate for another name is rejected' 1 '\[tls\] ' "$HELLO"
git config --global --remove-section "url.https://other.localhost:$ip/"

# to another GitHub host, too: that is for a person to write down
start_githost --tls --token "$secret" --private 'acme/private'
port=${GITHOST_URL##*:}
MAPM_GITHUB_HOSTS='localhost,127.0.0.1' GH_TOKEN=$secret
export MAPM_GITHUB_HOSTS GH_TOKEN
want 'a token is accepted over TLS' 0 '^DONE' "$PRIVATE"
to='"match": {"cmd": "ls-refs"}, "kind": "redirect", "status": 307, "to": "https://localhost:'$port
fault "{$to/acme/catalog.git/git-upload-pack\"}"
want 'a redirect to another GitHub host is refused' 1 '\[refused\] .*redirects to another host, https://localhost:[0-9]+/acme/catalog.git' "$HELLO"
fault "{$to/acme/private.git/git-upload-pack\"}"
reset_log
want 'a redirect to another GitHub host is refused with a token' 1 '\[refused\] .*redirects to another host' "$PRIVATE"
is 'nothing is sent to the other GitHub host' "$(requests)" 1
unsaid 'a redirect'
clear_faults
unset MAPM_GITHUB_HOSTS GH_TOKEN

if command -v nginx >/dev/null; then
    start_githost --h2
    want 'two packages are fetched over HTTP/2' 0 '^DONE' "$HELLO" "$GH/new/name/tree/main/skills/hello"
else
    skip 'HTTP/2' 'nginx is not installed'
fi
# --- [M32] the text of an error is never shown: it may repeat what we sent -----
start_githost
fault '{"kind": "status", "status": 418, "body": "Authorization: echoed", "times": -1}'
want 'an odd status is reported with its number' 1 'HTTP 418' "$HELLO"
unlike 'the body of an error response is not shown' "$out$err" 'echoed'

done_testing
