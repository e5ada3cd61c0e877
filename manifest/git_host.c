#include "mapm/git_host.h"

#include "mapm/host_config.h"

#include "git_address.h"

#define TAGS "refs/tags/"

/* clang-format off */
const struct git_host git_hosts[] = {
    {.names = {"github"}, .title = "GitHub", .homes = {"github.com"},
     .folds = true, .hosts_variable = "MAPM_GITHUB_HOSTS",
     .tree = "tree", .parts = 2, .suffix = ".git",
     .addresses = {{"raw.githubusercontent.com/$1/$2", "github.com/$1/$2",
                    .page = "raw"},
                   {"gist.github.com/**", NULL, .page = "gist"},
                   {"ssh.github.com/$1/$2", "github.com/$1/$2"},
                   {"*/$1/$2"}},
     .pages = {{GIT_PAGE_FOLDER, "tree"},
               {GIT_PAGE_FILE, "blob"},
               {GIT_PAGE_FILE, "raw"},
               {GIT_PAGE_FILE, "blame"},
               {GIT_PAGE_FILE, "edit"},
               {GIT_PAGE_FOLDER, "commits"},
               {GIT_PAGE_REF, "releases/tag", TAGS},
               {GIT_PAGE_REF, "commit"},
               {GIT_PAGE_OTHER, "pull", .name = "a pull request"},
               {GIT_PAGE_OTHER, "gist", .name = "a gist"}},
     .ssh_user = "git",
     .user = "x-access-token", /* as in GitHub's own actions */
     /* Environment variables with a token for GitHub Enterprise, as read by
      * gh. */
     .tokens = {{.variable = "GH_ENTERPRISE_TOKEN", .own_host = true},
                {.variable = "GITHUB_ENTERPRISE_TOKEN", .own_host = true},
                {.variable = "GH_TOKEN"},
                {.variable = "GITHUB_TOKEN"}},
     .has_gh = true,
     .program = {"gh", {"auth", "token", "--hostname", "$host"},
                 .login = "gh auth login"},
     .probe = {"/api/v3/meta", "verifiable_password_authentication", NULL, 200},
     .protocol = 2, .shallow = true, .filter = true},

    {.names = {"gitlab"}, .title = "GitLab", .homes = {"gitlab.com"},
     .folds = true,
     .tree = "-/tree", .suffix = ".git",
     .addresses = {{"altssh.gitlab.com/**/$1/$2", "gitlab.com/**/$1/$2"},
                   {"*/**/$1/$2"}},
     .pages = {{GIT_PAGE_FOLDER, "-/tree", .tells = true},
               {GIT_PAGE_FILE, "-/blob", .tells = true},
               {GIT_PAGE_FILE, "-/raw", .tells = true},
               {GIT_PAGE_FILE, "-/blame"},
               {GIT_PAGE_FILE, "-/edit"},
               {GIT_PAGE_FOLDER, "-/commits"},
               /* Links from before GitLab 12, words that name no project. */
               {GIT_PAGE_FOLDER, "tree"},
               {GIT_PAGE_FILE, "blob"},
               {GIT_PAGE_FILE, "raw"},
               {GIT_PAGE_REF, "-/tags", TAGS},
               {GIT_PAGE_REF, "-/releases", TAGS},
               {GIT_PAGE_REF, "-/commit"},
               {GIT_PAGE_OTHER, "-/merge_requests", .name = "a merge request"},
               {GIT_PAGE_OTHER, "-", .name = "another page"}},
     .queries = {{GIT_QUERY_REF_KIND, "ref_type", "tags", TAGS}},
     .ssh_user = "git",
     .user = "oauth2",
     .tokens = {{.variable = "GITLAB_TOKEN"},
                {.variable = "CI_JOB_TOKEN", .user = "gitlab-ci-token",
                 .host_variable = "CI_SERVER_HOST"}},
     .program = {"glab", {"auth", "git-credential", "get"}, .is_helper = true,
                 .login = "glab auth login"},
     .probe = {"/api/v4/version", "message", "401 Unauthorized", 401},
     .protocol = 2, .shallow = true, .filter = true},

    {.names = {"bitbucket"}, .title = "Bitbucket", .homes = {"bitbucket.org"},
     .folds = true,
     .tree = "-/tree", .suffix = ".git",
     .addresses = {{"altssh.bitbucket.org/$1/$2", "bitbucket.org/$1/$2"},
                   {"*/$1/$2"}},
     .pages = {{GIT_PAGE_FOLDER, "src"},
               {GIT_PAGE_FILE, "raw"},
               {GIT_PAGE_REF, "branch"},
               {GIT_PAGE_REF, "commits/tag", TAGS},
               {GIT_PAGE_REF, "commits"},
               {GIT_PAGE_OTHER, "pull-requests", .name = "a pull request"}},
     .queries = {{GIT_QUERY_REF, "at", "refs/heads/", ""},
                 {GIT_QUERY_REF, "at", TAGS, TAGS},
                 {GIT_QUERY_REF, "at", "", ""}},
     .ssh_user = "git",
     .user = "x-token-auth",
     /* The prefix distinguishes a user's API token from an access token. */
     .tokens = {{.variable = "BITBUCKET_TOKEN", .begins = "ATATT",
                 .user = "x-bitbucket-api-token-auth"}},
     .protocol = 2, .shallow = true},

    {.names = {"bitbucket-dc"}, .title = "Bitbucket Data Center",
     .tree = "-/tree", .suffix = ".git",
     .addresses = {{"*/**/projects/$1/repos/$2", "*/**/scm/$1/$2",
                    .tells = true},
                   {"*/**/users/$1/repos/$2", "*/**/scm/~$1/$2",
                    .tells = true},
                   {"*/**/scm/$1/$2", .tells = true}},
     .pages = {{GIT_PAGE_PATH, "browse"},
               {GIT_PAGE_PATH, "raw"},
               {GIT_PAGE_REF, "commits"},
               {GIT_PAGE_OTHER, "pull-requests", .name = "a pull request"}},
     .queries = {{GIT_QUERY_REF, "at", "refs/heads/", ""},
                 {GIT_QUERY_REF, "at", TAGS, TAGS},
                 {GIT_QUERY_REF, "at", "", ""}},
     .ssh = {"*/**/scm/$1/$2", "*/$1/$2"}, .ssh_port = 7999,
     .ssh_user = "git",
     .user = "x-token-auth",
     .probe = {"/rest/api/1.0/application-properties", "displayName",
               "Bitbucket", 200},
     .protocol = 2, .shallow = true, .filter = true},

    {.names = {"gitea", "codeberg", "forgejo"}, .title = "Gitea",
     .homes = {"codeberg.org"}, .folds = true,
     .tree = "-/tree", .suffix = ".git",
     .addresses = {{"*/**/$1/$2"}},
     .pages = {{GIT_PAGE_FOLDER, "src/branch", .tells = true},
               {GIT_PAGE_FOLDER, "src/tag", TAGS, .tells = true},
               {GIT_PAGE_FOLDER, "src/commit", .tells = true},
               {GIT_PAGE_FILE, "raw/branch"},
               {GIT_PAGE_FILE, "raw/tag", TAGS},
               {GIT_PAGE_FILE, "raw/commit"},
               {GIT_PAGE_FILE, "blame/branch"},
               {GIT_PAGE_FILE, "blame/tag", TAGS},
               {GIT_PAGE_FILE, "blame/commit"},
               {GIT_PAGE_FOLDER, "commits/branch"},
               {GIT_PAGE_FOLDER, "commits/tag", TAGS},
               {GIT_PAGE_REF, "releases/tag", TAGS},
               {GIT_PAGE_REF, "commit"},
               {GIT_PAGE_OTHER, "pulls", .name = "a pull request"},
               {GIT_PAGE_OTHER, "issues", .name = "an issue"}},
     .ssh_user = "git",
     .user = "", .token_is_user = true,
     .tokens = {{.variable = "GITEA_TOKEN"}, {.variable = "FORGEJO_TOKEN"}},
     .probe = {"/api/v1/version", "version", NULL, 200},
     .protocol = 2, .shallow = true, .filter = true},

    {.names = {"azure"}, .title = "Azure DevOps",
     .homes = {"dev.azure.com", "*.visualstudio.com"}, .folds = true,
     .tree = "-/tree", .suffix = "",
     .addresses = {{"vs-ssh.visualstudio.com/v3/$1/$2/$3",
                    "dev.azure.com/$1/$2/_git/$3"},
                   {"$1.visualstudio.com/DefaultCollection/$2/_git/$3",
                    "dev.azure.com/$1/$2/_git/$3"},
                   {"$1.visualstudio.com/DefaultCollection/_git/$2",
                    "dev.azure.com/$1/$2/_git/$2"},
                   {"$1.visualstudio.com/$2/_git/$3",
                    "dev.azure.com/$1/$2/_git/$3"},
                   {"$1.visualstudio.com/_git/$2",
                    "dev.azure.com/$1/$2/_git/$2"},
                   {"dev.azure.com/$1/_git/$2", "dev.azure.com/$1/$2/_git/$2"},
                   {"*/**/_git/$1", .tells = true}},
     .pages = {{GIT_PAGE_REF, "commit"},
               {GIT_PAGE_OTHER, "pullrequest", .name = "a pull request"}},
     .queries = {{GIT_QUERY_PATH, "path", "", ""},
                 {GIT_QUERY_REF, "version", "GB", ""},
                 {GIT_QUERY_REF, "version", "GT", TAGS},
                 {GIT_QUERY_REF, "version", "GC", ""}},
     .ssh = {"dev.azure.com/$1/$2/_git/$3", "ssh.dev.azure.com/v3/$1/$2/$3"},
     .ssh_user = "git",
     .user = "",
     .token_hint = "a personal access token or a token of \"az account "
                   "get-access-token\"",
     .tokens = {{.variable = "AZURE_DEVOPS_EXT_PAT"}, {.variable = "SYSTEM_ACCESSTOKEN"}},
     .protocol = 2, .shallow = true, .filter = true},

    {.names = {"codecommit"}, .title = "CodeCommit",
     .homes = {"git-codecommit.*.amazonaws.com"},
     .tree = "-/tree", .suffix = "",
     .addresses = {{"codecommit::$1/$2",
                    "git-codecommit.$1.amazonaws.com/v1/repos/$2"},
                   {"$1.console.aws.amazon.com/codesuite/codecommit/"
                    "repositories/$2",
                    "git-codecommit.$1.amazonaws.com/v1/repos/$2"},
                   {"codecommit::$1/$2", "git-codecommit.$1.amazonaws.com/v1/repos/$2"},
                   {"*/v1/repos/$1"}},
     .pages = {{GIT_PAGE_FOLDER, "browse/refs/heads", .until = "--"},
               {GIT_PAGE_FOLDER, "browse/refs/tags", TAGS, .until = "--"},
               {GIT_PAGE_FOLDER, "browse", .until = "--"}},
     .ssh_user = "",
     .user = "",
     .protocol = 2, .shallow = true},

    {.names = {"sourcehut"}, .title = "SourceHut", .homes = {"git.sr.ht"},
     .tree = "-/tree", .suffix = "",
     .addresses = {{"*/~$1/$2"}},
     .pages = {{GIT_PAGE_FOLDER, "tree", .until = "item"},
               {GIT_PAGE_FILE, "blob"},
               {GIT_PAGE_REF, "refs", TAGS},
               {GIT_PAGE_REF, "commit"}},
     .ssh_user = "git",
     .user = "x-access-token",
     .protocol = 2, .shallow = true, .filter = true},

    {.names = {"huggingface"}, .title = "Hugging Face",
     .homes = {"huggingface.co"},
     .tree = "-/tree", .suffix = "",
     .addresses = {{"hf.co/spaces/$1/$2", "huggingface.co/spaces/$1/$2"},
                   {"hf.co/datasets/$1/$2", "huggingface.co/datasets/$1/$2"},
                   {"hf.co/$1/$2", "huggingface.co/$1/$2"},
                   {"*/spaces/$1/$2"}, {"*/datasets/$1/$2"}, {"*/$1/$2"}},
     .pages = {{GIT_PAGE_FOLDER, "tree"},
               {GIT_PAGE_FILE, "blob"},
               {GIT_PAGE_FILE, "raw"},
               {GIT_PAGE_FILE, "resolve"},
               {GIT_PAGE_REF, "commit"},
               {GIT_PAGE_OTHER, "discussions", .name = "a discussion"}},
     .ssh = {"huggingface.co/**", "hf.co/**"},
     .ssh_user = "git",
     .user = "x-access-token",
     .protocol = 2, .shallow = true, .filter = true},

    {.names = {"gitiles"}, .title = "Gitiles",
     .tree = "-/tree", .suffix = "",
     .addresses = {{"*/**/$1"}},
     .pages = {{GIT_PAGE_FOLDER, "+/refs/heads", .tells = true},
               {GIT_PAGE_FOLDER, "+/refs/tags", TAGS, .tells = true},
               {GIT_PAGE_FOLDER, "+", .tells = true}},
     .ssh_user = "",
     .user = "x-access-token",
     .protocol = 2, .shallow = true, .filter = true},

    {.names = {"git"}, .title = "git",
     .tree = "-/tree", .suffix = "", .keeps_suffix = true,
     .addresses = {{"*/**/$1.git", .tells = true}, {"*/**/$1"}},
     .ssh_user = "git",
     .user = "x-access-token",
     .protocol = 2, .shallow = true, .filter = true},
};
/* clang-format on */
const size_t git_host_count = sizeof git_hosts / sizeof *git_hosts;

/* --- finding ---------------------------------------------------------------- */

/* Matches a host name; "*" in `home` stands for one label. */
static bool home_fits(const char *home, struct str host)
{
    struct str pattern = str_cstr(home), end;
    size_t star = str_find_char(pattern, '*');

    if (star == SIZE_MAX)
        return str_eq_nocase(pattern, host);
    end = str_from_index(pattern, star + 1);
    if (host.n <= star + end.n ||
        !str_eq_nocase(str_slice(pattern, 0, star), str_slice(host, 0, star)) ||
        !str_eq_nocase(end, str_from_index(host, host.n - end.n)))
        return false;
    return !str_has_char(str_slice(host, star, host.n - end.n), '.');
}

bool git_host_is_home(const struct git_host *g, struct str host)
{
    for (size_t i = 0; i < GIT_HOST_MAX_HOMES && g->homes[i]; i++)
        if (home_fits(g->homes[i], host))
            return true;
    return false;
}

const struct git_host *git_host_of_home(struct str host)
{
    for (size_t i = 0; i < git_host_count; i++)
        if (git_host_is_home(&git_hosts[i], host))
            return git_address_moves(&git_hosts[i], host) ? NULL
                                                          : &git_hosts[i];
    return NULL;
}

const struct git_host *git_host_built_in(struct str host)
{
    for (size_t i = 0; i < git_host_count; i++)
        if (git_host_is_home(&git_hosts[i], host) ||
            git_address_has_host(&git_hosts[i], host))
            return &git_hosts[i];
    return NULL;
}

const struct git_host *git_host_find(struct str host,
                                     const struct host_config *known,
                                     size_t known_count)
{
    const struct git_host *g = git_host_built_in(host);
    const struct host_config *h =
        g ? NULL : host_config_find(host, known, known_count);

    return h ? h->kind : g;
}

/* --- tokens ----------------------------------------------------------------- */

bool git_host_takes(const struct git_host *g, const struct git_host_token *t,
                    struct str host)
{
    return t->variable && !(t->own_host && git_host_built_in(host) == g);
}

const char *git_host_variable(const struct git_host *g, struct str host)
{
    bool is_named = git_host_built_in(host) != g;

    for (size_t i = 0; i < GIT_HOST_MAX_TOKENS; i++)
        if (g->tokens[i].variable && g->tokens[i].own_host == is_named)
            return g->tokens[i].variable;
    return g->tokens[0].variable;
}
