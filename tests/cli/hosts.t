#!/bin/sh
# Which git hosts may be asked: built in, in the user's config.yaml, or typed by
# the person and answered with yes; and mapm host, which edits config.yaml.
# [row 47, row 50, row 52, row 54]
. "$(dirname "$0")/../lib/cli.sh"
. "$ROOT/tests/lib/terminal.sh"

CONFIG=$XDG_CONFIG_HOME/mapm/config.yaml
config()
{
    mkdir -p "${CONFIG%/*}" && printf "$@" >"$CONFIG"
}
# configured WHAT TEXT
configured()
{
    is "$1" "$(cat "$CONFIG" 2>/dev/null)" "$2"
}

# --- mapm host ----------------------------------------------------------------------

exits 'host list succeeds without a config.yaml' 0 mapm host list
like 'host list prints a built-in host with its kind' "$out" '^gitlab\.com  gitlab  built in$'
like 'host list prints a built-in pattern of hosts' "$out" '^\*\.visualstudio\.com  azure  built in$'
not_ok 'host list writes no config.yaml' test -e "$CONFIG"
exits 'host add succeeds' 0 mapm host add Git.Corp.example --kind gitlab --token env:CORP_TOKEN
configured 'host add writes an item into config.yaml' 'hosts:
  - {host: git.corp.example, kind: gitlab, token: env:CORP_TOKEN}'
is 'config.yaml and its folder are private to the user' "$(stat -c %a "$CONFIG" "${CONFIG%/*}" | tr '\n' ' ')" '600 700 '
exits 'host add fails for a host that is configured' 1 mapm host add git.corp.example --kind gitlab
like 'the error says that the host is configured already' "$err" 'git\.corp\.example is configured already'
like 'the hint names mapm host set for the configured host' "$err" 'mapm host set git\.corp\.example'
exits 'host add --kind github succeeds' 0 mapm host add ghe.corp.example --kind github
exits 'host set of a built-in host succeeds' 0 mapm host set github.com --transport ssh
exits 'host set of several keys succeeds' 0 mapm host set git.corp.example --ports 8443,9443 --token git --port 444
configured 'config.yaml has every key that was set' 'hosts:
  - {host: git.corp.example, kind: gitlab, token: git, port: 444, ports: [8443, 9443]}
  - ghe.corp.example
  - {host: github.com, transport: ssh}'
exits 'host list --json succeeds' 0 mapm host list --json
is 'host list --json has every key of the configured hosts' "$(printf '%s' "$out" | python3 -S -c '
import json, sys
h = [h for h in json.load(sys.stdin)["hosts"] if h["configured"]]
print(h[0]["ports"], h[0]["port"], h[0]["token"], h[0]["kind"], h[2]["transport"], h[2]["built_in"])')" \
    "[8443, 9443] 444 git gitlab ssh True"
exits 'host set with default values succeeds' 0 mapm host set git.corp.example --ports default --port default --token default
exits 'host remove --json succeeds' 0 mapm host remove ghe.corp.example --json
like 'host remove --json names its command' "$out" '"command": "remove"'
configured 'host remove and default values leave the other items unchanged' 'hosts:
  - {host: git.corp.example, kind: gitlab}
  - {host: github.com, transport: ssh}'
exits 'host remove fails for a host that is not configured' 1 mapm host remove ghe.corp.example
exits 'host set fails for a host that is not configured' 1 mapm host set ghe.corp.example --token none

config '# mine\nhosts: # all\n  # the forge\n  - host: git.corp.example # ours\n    # of the team\n    kind: gitlab\n\n  - a.example # GHE\nask: claude\n'
mapm host set git.corp.example --token none && mapm host add b.example --kind gitea &&
    mapm host set git.corp.example --token env:T && mapm host remove a.example
configured 'host commands keep comments and order of config.yaml' '# mine
hosts: # all
  # the forge
  - host: git.corp.example # ours
    # of the team
    kind: gitlab
    token: env:T

  - {host: b.example, kind: gitea}
ask: claude'
ln -sf "$T/dotfiles.yaml" "$CONFIG" && printf 'clients: [claude]\n' >"$T/dotfiles.yaml"
mapm host add b.example --kind git 2>/dev/null
ok 'host add keeps a config.yaml that is a link' test -L "$CONFIG"
is 'host add changes the target of the link' "$(cat "$T/dotfiles.yaml")" 'clients: [claude]
hosts:
  - {host: b.example, kind: git}'
rm "$CONFIG"

# refuses STATUS REGEX ARG...
refuses()
{
    code=$1 regex=$2
    shift 2
    exits "host is refused with the arguments: $*" "$code" mapm host "$@"
    like 'the error gives the reason' "$err" "$regex"
    not_ok 'the refused host command writes nothing' test -s "$CONFIG"
}
refuses 2 'is not one of: add set list remove' show
refuses 2 'host add needs HOST' add
refuses 2 'usage: mapm host .OPTION.... add HOST' add
refuses 2 'too many arguments' add a.example b.example
refuses 2 'too many arguments' list a.example
refuses 2 'host list has no option --kind' list --kind gitlab
refuses 2 'nothing to set' set github.com
refuses 1 'built in already' add gitlab.com
refuses 2 'is of kind gitlab' set gitlab.com --kind gitea
refuses 2 '"gitlub" is not one of' add a.example --kind gitlub
refuses 2 '"0" is not a number' add a.example --kind git --port 0
refuses 2 '"x" is not a number' add a.example --kind git --ports 80,x
refuses 2 'is not one of: https ssh' add a.example --kind git --transport http
refuses 2 'is env:NAME' add a.example --kind git --token ghp_0123456789
unlike 'the error does not repeat a possible token' "$err" 'ghp_'
for name in https://a.example a.example/x me@a.example a.example. a-.example 'a b.example' \
    gïtlab.example a_b.example localhost; do
    refuses 2 'is not the name of a host' add "$name" --kind git
done
refuses 1 'cannot be told what|none' add a.example --offline
config 'hosts: {a: b}\n'
exits 'host add fails for a config.yaml of another shape' 1 mapm host add a.example --kind git
configured 'a config.yaml of another shape stays unchanged' 'hosts: {a: b}'

# --- [row 54] a config.yaml that others may write -----------------------------------

config 'hosts: [ghe.example.com]\n'
chmod 664 "$CONFIG"
exits '[row 54] host list refuses a config.yaml that others may write' 4 mapm host list
like '[row 54] the error says that others may write config.yaml' "$err" 'may write|writable'
exits '[row 54] host add refuses a config.yaml that others may write' 4 mapm host add a.example --kind git
exits '[row 54] install refuses a config.yaml that others may write' 4 mapm install --yes https://ghe.example.com/a/b/tree/main/x
rm "$CONFIG"

# --- what a host answers ----------------------------------------------------------------

# It is asked at its port without credentials; no redirect is followed.
start_githost --tls
port=${GITHOST_URL##*:}
printf 'machine 127.0.0.1 login me password s3cr3t-netrc\n' >"$HOME/.netrc"
GITLAB_TOKEN=s3cr3t-token GITEA_TOKEN=s3cr3t-token GH_TOKEN=s3cr3t-token
export GITLAB_TOKEN GITEA_TOKEN GH_TOKEN
# answers PATH STATUS BODY
answers()
{
    fault '{"kind": "status", "match": {"path": "'"$1"'"}, "times": -1, "status": '"$2"', "body": "'"$3"'"}'
}
# kind_of KIND
kind_of()
{
    exits "host add recognizes a host of kind $1 by its answer" 0 mapm host add 127.0.0.1 --ports "$port"
    configured 'config.yaml has the recognized kind' "hosts:
  - {host: 127.0.0.1, kind: $1, ports: [$port]}"
    clear_faults
    rm "$CONFIG"
}
answers /api/v4/version 401 '{\"message\": \"401 Unauthorized\"}'
kind_of gitlab
answers /api/v1/version 200 '{\"version\": \"1.22.0\"}'
kind_of gitea
answers /rest/api/1.0/application-properties 200 '{\"displayName\": \"Bitbucket\"}'
kind_of bitbucket-dc
answers /api/v4/version 200 '{\"message\": \"401 Unauthorized\"}'
answers /api/v1/version 200 '<html>'
exits 'host add fails for a host of an unknown kind' 1 mapm host add 127.0.0.1 --ports "$port"
like 'the error asks for --kind' "$err" 'say it with --kind, one of github, gitlab'
fault '{"kind": "redirect", "to": "https://localhost:'"$port"'/api/v1/version", "status": 302, "times": -1}'
exits 'host add follows no redirect' 1 mapm host add 127.0.0.1 --ports "$port"
clear_faults
unset GITLAB_TOKEN GITEA_TOKEN GH_TOKEN
rm "$HOME/.netrc"

# --- [row 47] typed, on a terminal and without one -----------------------------------

NEW=https://git.corp.example/g/s/r/-/tree/main/skills/x
exits '[row 47] install fails for a new host without a person to ask' 1 mapm install --yes "$NEW"
like '[row 47] the error names the host that mapm may not ask' "$err" 'git\.corp\.example is not a host that mapm may ask'
like '[row 47] the error gives the command that adds the host' "$err" 'mapm host add git\.corp\.example --kind gitlab, or'
is '[row 47] the error ends with the lines for config.yaml' "$(printf '%s\n' "$err" | tail -n 2)" \
    '        hosts:
          - {host: git.corp.example, kind: gitlab}'
not_ok '[row 47] install writes no config.yaml without consent' test -e "$CONFIG"
on_terminal n "$MAPM" install "$NEW"
like '[row 47] install on a terminal asks about the new host' "$out" 'git\.corp\.example is new, and looks like GitLab'
is '[row 47] install fails when the answer is no' "$status" 1
not_ok '[row 47] the answer no writes no config.yaml' test -e "$CONFIG"
on_terminal y "$MAPM" install --yes "$NEW"
like '[row 47] install --yes on a terminal asks about the new host too' "$out" 'git\.corp\.example is new'
configured '[row 47] the answer yes adds the host to config.yaml' 'hosts:
  - {host: git.corp.example, kind: gitlab}'
on_terminal y "$MAPM" install "$NEW"
unlike '[row 47] install asks about a host only once' "$out" 'is new'
answers /api/v1/version 200 '{\"version\": \"1.22.0\"}'
on_terminal y "$MAPM" info "https://127.0.0.1:$port/o/r"
like '[row 47] the question names the kind that the host answers with' "$out" "127\\.0\\.0\\.1:$port is new, and looks like Gitea"
like '[row 47] config.yaml has kind and port of the new host' "$(cat "$CONFIG")" "host: 127\\.0\\.0\\.1, kind: gitea, ports: \\[$port\\]"
clear_faults
mapm host remove 127.0.0.1 2>/dev/null
on_terminal sourcehut "$MAPM" catalog add "https://127.0.0.1:$port/o/r"
like '[row 47] config.yaml has the kind that the person enters' "$(cat "$CONFIG")" 'host: 127\.0\.0\.1, kind: sourcehut'
mapm host remove 127.0.0.1 2>/dev/null
on_terminal '' "$MAPM" install "https://127.0.0.1:$port/o/r"
like '[row 47] an empty answer counts as no' "$out" 'is not a host that mapm may ask'
exits '[row 47] install fails for another port of a known host' 1 mapm install https://git.corp.example:8443/g/r/-/tree/main/x
like '[row 47] the error gives the command that adds the port' "$err" 'mapm host set git\.corp\.example --ports 8443'
is '[row 47] the error ends with the line for config.yaml with the port' "$(printf '%s\n' "$err" | tail -n 1)" \
    '          - {host: git.corp.example, kind: gitlab, ports: [8443]}'
rm "$CONFIG"

# --- [row 47, row 50, row 52] from a file ---------------------------------------------

reset_log
# named URL: in mapm.yaml, and in a package
named()
{
    printf 'dependencies:\n  skills:\n    - "%s"\n' "$1" >mapm.yaml
    exits "[row 47] install fails for a mapm.yaml that names $1" 1 mapm install --yes
    like '[row 47] the error gives the line of mapm.yaml' "$err" 'mapm\.yaml:3: '
    like '[row 47] the error for mapm.yaml gives the reason' "$err" "$2"
    rm mapm.yaml
    rm -rf "$T/theirs" && skill "$T/theirs" 'dependencies:' '  skills:' "    - \"$1\""
    exits "[row 47] install fails for a package that names $1" 1 mapm install --yes "$T/theirs"
    like '[row 47] the error names the package' "$err" 'theirs'
    like '[row 47] the error for the package gives the reason' "$err" "$2"
    not_ok '[row 47] install writes nothing for the package' test -e .agents
    rm -f mapm.yaml mapm.lock
}
named "$NEW" 'its host is neither built in'
named 'https://169.254.169.254/a/b/-/tree/main/x' 'its host is not a host name'
named 'https://git/a/b/-/tree/main/x' 'its host is not a host name with its domain'
named "https://127.0.0.1:$port/a/b/-/tree/main/x" 'its host is neither built in'
named 'https://[::1]/a/b/-/tree/main/x' 'origin'
named 'https://gitlab.com:8443/a/b/-/tree/main/x' 'a port that its host is not known for'
for host in gitlab.com.evil.example gitlab.com. me@gitlab.com gitlab.com@evil.example \
    evilgitlab.com gitlab-com.evil.example gіtlab.com xn--gtlab-9za.com; do
    named "https://$host/a/b/-/tree/main/x" '.'
done
is '[row 47] no request is sent for hosts named in files' "$(requests)" 0
printf 'hosts: [evil.example]\n' >mapm.local.yaml
exits '[row 52] install rejects hosts: in mapm.local.yaml' 1 mapm install --yes
like '[row 52] the error says that hosts may not stand in mapm.local.yaml' "$err" '"hosts" may not stand here'
rm mapm.local.yaml
printf 'hosts: [evil.example]\n' >mapm.yaml
exits '[row 52] install rejects hosts: in mapm.yaml' 1 mapm install --yes
like '[row 52] the error gives the line of hosts in mapm.yaml' "$err" 'mapm.yaml:[0-9]+: "hosts" may not stand here'
rm mapm.yaml

done_testing
