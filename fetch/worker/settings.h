#ifndef FETCH_WORKER_SETTINGS_H
#define FETCH_WORKER_SETTINGS_H

#include "mapm/host_config.h"

#include "../remote_address.h"
#include "url.h"

/*
 * settings: what the user's git configuration and environment say about the
 * network, read once, before any right is given up.
 *
 *     /etc/gitconfig, $XDG_CONFIG_HOME/git/config, ~/.gitconfig,
 *     GIT_CONFIG_SYSTEM, _GLOBAL, _NOSYSTEM, _COUNT
 *         --> url.*.insteadOf, http[.<url>].proxy, .sslCAInfo, .sslCAPath,
 *             http.<url>.extraHeader, core.sshCommand, ssh.variant
 *     GIT_SSL_CAINFO, SSL_CERT_FILE, CURL_CA_BUNDLE, MAPM_GITHUB_HOSTS
 *
 * A repository around the working directory has no say. http.sslVerify=false
 * is not honoured: a certificate that is not trusted is named in sslCAInfo.
 * http.extraHeader without a URL is not honoured either: it would carry a secret
 * anywhere.
 * Proxies of the environment (https_proxy, NO_PROXY …) are libcurl's matter.
 *
 * Source: FETCH.md 9; THREATS.md rows 13, 15, 29.
 */

struct system_ca {
    bool is_known, is_in_folder;
    const char *bundle; /* NULL: libcurl has none */
};

struct settings {
    struct arena arena;
    struct rewrite *rewrites;
    size_t rewrite_count, rewrite_capacity;
    struct str ssh_command, ssh_variant; /* for mapm, which starts ssh */
    struct settings_rule *rules;
    size_t rule_count, rule_capacity;
    struct host_config *hosts; /* config.yaml, MAPM_GITHUB_HOSTS */
    size_t host_count, host_capacity;
    struct str home;             /* absolute; empty: none */
    bool wants_no_verify;        /* someone tried to switch verification off */
    struct system_ca *system_ca; /* found out at the first TLS connection */
};

/* `hosts`: of mapm's own configuration. Errors: ERR_FORMAT for a configuration
 * that git could not read either. */
MUST_CHECK bool settings_load(struct settings *s,
                              const struct host_config *hosts,
                              size_t host_count, struct err *e);
void settings_done(struct settings *s);

/*
 * The address that is really asked: the longest insteadOf that fits. Of ssh its
 * path is as the server gets it.
 * Errors: ERR_REFUSED when that is neither https, http nor ssh, or an address
 * that no ssh is started for.
 */
MUST_CHECK bool settings_rewrite(const struct settings *s, struct str url,
                                 struct arena *a, struct url *out,
                                 struct err *e);

/* NULL: neither a known host nor one that the user named. */
const struct git_host *settings_git_host(const struct settings *s,
                                         struct str host);

/* What the user's own configuration says of it; NULL: nothing. */
const struct host_config *settings_host(const struct settings *s,
                                        struct str host);

/* http.proxy for this address; p NULL: not set. */
struct str settings_proxy(const struct settings *s, const struct url *u);

/* False: neither the configuration nor the environment names one for it. */
bool settings_may_use_proxy(const struct settings *s, const struct url *u);

/* http.<url>.extraHeader of the pattern that fits this address best: each is
 * "Name: value". In `a`. */
const struct str *settings_headers(const struct settings *s,
                                   const struct url *u, struct arena *a,
                                   size_t *count);

struct settings_ca {
    struct str bundle; /* PEM, in memory; empty: the system's alone */
    struct str folder; /* http.sslCAPath; empty: the system's */
};

/* Errors: ERR_TLS for a bundle that could not be read. */
MUST_CHECK bool settings_ca(const struct settings *s, const struct url *u,
                            struct settings_ca *out, struct err *e);

/* Host names, with port where one is written, that rewrites lead to, and those
 * of mapm's configuration. In `a`. */
void settings_hosts(const struct settings *s, struct arena *a,
                    const struct str **hosts, size_t *count);

/* Folders of certificates that must stay readable; NULL at the end. In `a`. */
const char *const *settings_ca_folders(const struct settings *s,
                                       struct arena *a, size_t *count);

#endif
