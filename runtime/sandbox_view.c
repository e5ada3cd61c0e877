#include "base/buf.h"
#include "base/fs.h"
#include "mapm/clients.h"

#include <stdlib.h>
#include <unistd.h>

#include "sandbox.h"

/* --- tables ------------------------------------------------------------------ */

/* Files of other users, sockets and removable media. */
static const char *const hidden[] = {
    "/home", "/root", "/run", "/mnt", "/media",
};

/* System paths: hidden from root as well. */
static const char *const system_secrets[] = {
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/security/opasswd",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/krb5.keytab",
    "/etc/ipsec.secrets",
    "/etc/wireguard",
    "/etc/openvpn",
    "/etc/ppp",
    "/etc/NetworkManager",
    "/etc/netplan",
    "/etc/wpa_supplicant",
    "/etc/docker",
    "/etc/containers",
    "/etc/kubernetes",
    "/etc/rancher",
    "/etc/letsencrypt",
    "/etc/cups",
    "/etc/samba",
    "/var/lib/docker",
    "/var/lib/kubelet",
    "/var/lib/containers",
    "/var/lib/containerd",
    "/var/lib/libvirt",
    "/var/lib/private",
    "/var/lib/sss",
    "/var/lib/NetworkManager",
    "/var/lib/bluetooth",
    "/var/lib/cloud",
    "/var/spool",
    "/var/mail",
    "/var/backups",
    "/var/log",
    "/var/crash",
    "/boot",
    "/sys/kernel/debug",
    "/sys/kernel/tracing",
    "/sys/firmware",
    "/sys/fs/bpf",
};

/* Below the home directory: keys, tokens, browsers, mail, histories. They stay
 * hidden when a home is shown, and inside of what PATH needs. */
static const char *const home_secrets[] = {
    /* keys and tokens */
    ".ssh",
    ".gnupg",
    ".pki",
    ".aws",
    ".azure",
    ".oci",
    ".kube",
    ".docker",
    ".minikube",
    ".netrc",
    "_netrc",
    ".authinfo",
    ".authinfo.gpg",
    ".git-credentials",
    ".gitcookies",
    ".config/git/credentials",
    ".config/gh",
    ".config/glab-cli",
    ".config/hub",
    ".config/gcloud",
    ".config/doctl",
    ".config/containers",
    ".config/op",
    ".config/sops",
    ".config/age",
    ".config/rclone",
    ".config/heroku",
    ".config/netlify",
    ".config/configstore",
    ".config/fly",
    ".fly",
    ".vercel",
    ".config/vercel",
    ".local/share/com.vercel.cli",
    ".terraformrc",
    ".terraform.d",
    ".tfrc",
    ".pulumi",
    ".vault-token",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".config/kwalletrc",
    ".local/share/pass",
    ".config/keepassxc",
    ".cache/keepassxc",
    ".config/Bitwarden",
    ".config/1Password",
    ".1password",
    ".op",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pypirc",
    ".config/pip",
    ".pip",
    ".config/pypoetry",
    ".config/hatch",
    ".gem/credentials",
    ".bundle/config",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".nuget/NuGet",
    ".config/NuGet",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".config/hub",
    ".hex",
    ".kaggle",
    ".huggingface",
    ".cache/huggingface/token",
    ".wandb",
    ".config/wandb",
    ".databrickscfg",
    ".snowflake",
    ".snowsql",
    ".dbt",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".s3cfg",
    ".boto",
    ".rclone.conf",
    ".ansible",
    ".chef",
    ".puppetlabs",
    ".circleci",
    ".travis",
    ".jenkins",
    ".config/sentry",
    ".sentryclirc",
    ".supabase",
    ".railway",
    ".putty",
    ".electrum",
    ".bitcoin",
    ".ethereum",
    ".config/solana",
    ".near-credentials",
    /* mapm itself, and agents that are no clients: keys and approvals */
    ".config/zed",
    ".local/share/zed",
    ".continue",
    ".aider.conf.yml",
    ".config/mapm",
    ".local/share/mapm",
    ".cache/mapm",
    ".local/state/mapm",
    /* browsers, mail, messages */
    ".mozilla",
    ".librewolf",
    ".waterfox",
    ".thunderbird",
    ".tor-browser",
    ".local/share/torbrowser",
    ".config/google-chrome",
    ".config/google-chrome-beta",
    ".config/google-chrome-unstable",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/opera",
    ".config/vivaldi",
    ".config/Slack",
    ".config/discord",
    ".config/Signal",
    ".local/share/TelegramDesktop",
    ".config/Element",
    ".config/evolution",
    ".local/share/evolution",
    ".config/geary",
    ".local/share/geary",
    ".mutt",
    ".config/mutt",
    ".config/neomutt",
    ".muttrc",
    ".msmtprc",
    ".mbsyncrc",
    ".offlineimaprc",
    ".fetchmailrc",
    ".cache/mozilla",
    ".cache/google-chrome",
    ".cache/chromium",
    ".var/app",
    "snap",
    ".config/epiphany",
    ".local/share/epiphany",
    ".config/falkon",
    ".config/qutebrowser",
    ".local/share/qutebrowser",
    /* histories of shells and of the clipboard */
    ".bash_history",
    ".zsh_history",
    ".zhistory",
    ".sh_history",
    ".history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".sqlite_history",
    ".rediscli_history",
    ".lesshst",
    ".viminfo",
    ".local/share/fish",
    ".local/state/bash",
    ".local/share/recently-used.xbel",
    ".local/share/zsh",
    /* displays and sessions */
    ".Xauthority",
    ".ICEauthority",
    ".dbus",
    ".config/pulse",
    ".local/share/gvfs-metadata",
    ".local/share/Trash",
};

/* Paths of keys in the environment. */
static const char *const secret_variables[] = {
    "MAPM_HOME",
    "GNUPGHOME",
    "DOCKER_CONFIG",
    "KUBECONFIG",
    "NETRC",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_CONFIG_FILE",
    "AZURE_CONFIG_DIR",
    "CLOUDSDK_CONFIG",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GH_CONFIG_DIR",
    "GLAB_CONFIG_DIR",
    "NPM_CONFIG_USERCONFIG",
    "npm_config_userconfig",
    "PIP_CONFIG_FILE",
    "TF_CLI_CONFIG_FILE",
    "VAULT_CONFIG_PATH",
    "ANSIBLE_VAULT_PASSWORD_FILE",
    "PASSWORD_STORE_DIR",
    "PGPASSFILE",
    "XAUTHORITY",
    "ICEAUTHORITY",
    "XDG_RUNTIME_DIR",
    "HISTFILE",
    "RCLONE_CONFIG",
};

/* The XDG folders, as configured and by default. */
static const struct {
    const char *variable, *usual;
} xdg[] = {
    {"XDG_CONFIG_HOME", ".config/"},
    {"XDG_DATA_HOME", ".local/share/"},
    {"XDG_CACHE_HOME", ".cache/"},
    {"XDG_STATE_HOME", ".local/state/"},
};

/* Folders of a home that hold many things of which a tool is only one. */
static const char *const mixed[] = {
    ".local", ".config", ".cache", ".var", ".ssh", ".gnupg",
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* --- hidden paths ------------------------------------------------------- */

static struct str variable(const char *name)
{
    struct str value = str_from(getenv(name));

    return str_starts(value, STR("/")) ? value : STR("");
}

struct str sandbox_home(struct arena *a)
{
    struct str home = path_real(variable("HOME"), a);

    return str_is(home, "/") ? STR("") : home;
}

/* An unreadable path needs no hiding; a mount costs time. */
static void hide(struct sandbox_job *job, struct str path)
{
    if (path.n && access(str_c(path, job->places.arena), R_OK) == 0)
        places_add(&job->places, PLACE_HIDDEN, path);
}

static void hide_secret(struct sandbox_job *job, struct str home,
                        const char *path)
{
    struct arena *a = job->places.arena;
    struct str name = str_from(path);

    if (home.n)
        hide(job, fs_join(home, name, a));
    for (size_t k = 0; k < COUNT(xdg); k++) {
        struct str usual = str_from(xdg[k].usual);
        struct str moved = variable(xdg[k].variable);

        if (moved.n && str_starts(name, usual))
            hide(job, fs_join(moved, str_from_index(name, usual.n), a));
    }
}

static void hide_secrets_of(struct sandbox_job *job, struct str home)
{
    for (size_t i = 0; i < COUNT(home_secrets); i++)
        hide_secret(job, home, home_secrets[i]);
    for (size_t i = 0; i < clients_count; i++) {
        const struct client *c = &clients_table[i];

        if (c->secret_variable)
            hide(job, variable(c->secret_variable));
        for (size_t k = 0; k < CLIENT_MAX_PATHS && c->secrets[k]; k++)
            hide_secret(job, home, c->secrets[k]);
    }
}

static void hide_all(struct sandbox_job *job, struct str home)
{
    for (size_t i = 0; i < COUNT(hidden); i++)
        places_add(&job->places, PLACE_HIDDEN, str_from(hidden[i]));
    for (size_t i = 0; i < COUNT(system_secrets); i++)
        hide(job, str_from(system_secrets[i]));
    for (size_t i = 0; i < COUNT(secret_variables); i++)
        hide(job, variable(secret_variables[i]));
    hide_secrets_of(job, home);
    if (job->mode == SANDBOX_HOME) {
        places_add(&job->places, PLACE_READ, home);
        return;
    }
    places_add(&job->places, PLACE_HIDDEN, home);
    for (size_t i = 0; i < COUNT(xdg); i++)
        hide(job, variable(xdg[i].variable));
}

/* --- what PATH needs --------------------------------------------------------------- */

struct str sandbox_path(const struct sandbox_job *job, struct arena *a,
                        void (*visit)(void *ctx, struct str real), void *ctx)
{
    const char *value = getenv("PATH");
    struct str rest = str_from(value ? value : ""), folder;
    struct buf path;
    struct str result;

    buf_init(&path, 1u << 20);
    while (rest.p && str_cut(&rest, ':', &folder)) {
        struct str real = path_real(folder, a);

        if (!real.n || fs_path_is_within(real, job->workspace))
            continue;
        if (visit)
            visit(ctx, real);
        /* A link in a hidden folder does not exist: use its target. */
        if (places_lookup(&job->places, folder) <= PLACE_SCRATCH)
            folder = real;
        if (path.n)
            buf_char(&path, ':');
        buf_append(&path, folder);
    }
    if (!path.n || path.overflowed) {
        buf_clear(&path);
        buf_text(&path, "/usr/local/bin:/usr/bin:/bin");
    }
    result = arena_str(a, buf_str(&path));
    buf_done(&path);
    return result;
}

static struct str parent_of(struct str path)
{
    return str_slice(path, 0, str_find_last(path, '/'));
}

static struct str name_of(struct str path)
{
    return str_from_index(path, str_find_last(path, '/') + 1);
}

/*
 * The installation around a folder of programs: for ~/.nvm/versions/x/bin all
 * of ~/.nvm, for ~/tools/bin all of ~/tools, for ~/.local/bin and ~/bin just
 * these.
 */
static struct str tool_root(struct str folder, struct str home, struct arena *a)
{
    struct str inside, first, above = parent_of(folder);

    if (home.n && folder.n > home.n && fs_path_is_within(folder, home)) {
        inside = str_from_index(folder, home.n + 1);
        first = str_slice(inside, 0, str_find_char(inside, '/'));
        if (str_starts(first, STR("."))) {
            for (size_t i = 0; i < COUNT(mixed); i++)
                if (str_is(first, mixed[i]))
                    return folder;
            return fs_join(home, first, a);
        }
    }
    if (!str_is(name_of(folder), "bin") || !above.n ||
        fs_path_is_within(home, above) || str_is(name_of(above), ".local"))
        return folder;
    return above;
}

struct needs {
    struct sandbox_job *job;
    struct str home;
};

static void need(void *ctx, struct str folder)
{
    struct needs *n = ctx;
    struct str root, workspace = n->job->workspace;

    /* It would show the neighbours of the workspace, or a whole home. */
    if (fs_path_is_within(workspace, folder) ||
        fs_path_is_within(n->home, folder))
        return;
    root = tool_root(folder, n->home, n->job->places.arena);
    if (fs_path_is_within(workspace, root))
        root = folder;
    places_add(&n->job->places, PLACE_READ, root);
}

/* --- all of it ----------------------------------------------------------------- */

void sandbox_view(struct sandbox_job *job)
{
    struct arena *a = job->places.arena;
    struct needs n = {.job = job, .home = sandbox_home(a)};
    struct places *p = &job->places;
    struct str real = path_real(job->program, a);

    if (job->way == SANDBOX_NONE)
        return;
    hide_all(job, n.home);
    places_add(p, PLACE_SCRATCH, STR("/tmp"));
    places_add(p, PLACE_SCRATCH, STR("/var/tmp"));
    places_add(p, PLACE_SCRATCH, STR("/dev/shm"));
    if (job->way == SANDBOX_HELPER) { /* those of the machine, not new ones */
        places_add(p, PLACE_HIDDEN, STR("/dev"));
        places_add(p, PLACE_HIDDEN, STR("/proc"));
    }
    (void)sandbox_path(job, a, need, &n);
    if (!fs_path_is_within(real, job->workspace))
        need(&n, parent_of(real));
    places_add(p, PLACE_READ, real);
    if (job->network)
        places_add(p, PLACE_READ, STR("/etc/resolv.conf"));
    places_add(p, PLACE_READ, job->helper);
    places_add(p, PLACE_WRITE, job->workspace);
    places_normalize(p);
}
