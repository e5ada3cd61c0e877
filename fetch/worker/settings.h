#ifndef FETCH_WORKER_SETTINGS_H
#define FETCH_WORKER_SETTINGS_H

#include "mapm/host_config.h"

#include "../remote_address.h"
#include "url.h"

/*
 * settings: network settings of the user's git configuration and environment,
 * read once before rights are dropped.
 *
 *     /etc/gitconfig, $XDG_CONFIG_HOME/git/config, ~/.gitconfig,
 *     GIT_CONFIG_SYSTEM, _GLOBAL, _NOSYSTEM, _COUNT
 *         --> url.*.insteadOf, http[.<url>].proxy, .sslCAInfo, .sslCAPath,
 *             http.<url>.extraHeader, core.sshCommand, ssh.variant
 *     GIT_SSL_CAINFO, SSL_CERT_FILE, CURL_CA_BUNDLE, MAPM_GITHUB_HOSTS
 *
 * The repository around the working directory is not read. http.sslVerify=false
 * is ignored: the user names a private certificate in sslCAInfo.
 * http.extraHeader without a URL is ignored, too: it would send a secret to
 * every host. libcurl reads the proxies of the environment (https_proxy,
 * NO_PROXY …).
 *
 * Source: FETCH.md 9; THREATS.md rows 13, 15, 29.
 */

struct system_ca {
    bool is_known, is_in_folder;
    const char *bundle; /* NULL if libcurl has none */
};

struct settings {
    struct arena arena;
    struct rewrite *rewrites;
    size_t rewrite_count, rewrite_capacity;
    struct str ssh_command, ssh_variant; /* for mapm, which starts ssh */
    struct settings_rule *rules;
    size_t rule_count, rule_capacity;
    struct host_config *hosts; /* of config.yaml and MAPM_GITHUB_HOSTS */
    size_t host_count, host_capacity;
    struct str home;             /* absolute; empty if unknown */
    bool wants_no_verify;        /* the configuration tries to disable
                                  * verification */
    struct system_ca *system_ca; /* determined at the first TLS connection */
};

/* Loads the settings; `hosts` are those of config.yaml. Errors: ERR_FORMAT for
 * a git configuration with invalid syntax. */
MUST_CHECK bool settings_load(struct settings *s,
                              const struct host_config *hosts,
                              size_t host_count, struct err *e);
void settings_done(struct settings *s);

/*
 * Returns the URL to contact, after the longest matching insteadOf. For ssh,
 * the path is as sent to the server. Errors: ERR_REFUSED if the URL is neither
 * https, http nor ssh, or not valid for ssh (ssh_address_parse).
 */
MUST_CHECK bool settings_rewrite(const struct settings *s, struct str url,
                                 struct arena *a, struct url *out,
                                 struct err *e);

/* Returns NULL if the host is neither well-known nor configured by the user. */
const struct git_host *settings_git_host(const struct settings *s,
                                         struct str host);

/* Returns the user's configuration of the host, or NULL. */
const struct host_config *settings_host(const struct settings *s,
                                        struct str host);

/* Returns http.proxy for this URL; p is NULL if it is not set. */
struct str settings_proxy(const struct settings *s, const struct url *u);

/* Returns whether a proxy may be used: the configuration or the environment
 * names one, and no_proxy does not exempt the host. */
bool settings_may_use_proxy(const struct settings *s, const struct url *u);

/* Returns http.<url>.extraHeader of the best matching pattern, each as "Name:
 * value". Allocated in `a`. */
const struct str *settings_headers(const struct settings *s,
                                   const struct url *u, struct arena *a,
                                   size_t *count);

struct settings_ca {
    struct str bundle; /* PEM text; empty for the system's bundle alone */
    struct str folder; /* http.sslCAPath; empty for the system's folder */
};

/* Errors: ERR_TLS for a bundle that could not be read. */
MUST_CHECK bool settings_ca(const struct settings *s, const struct url *u,
                            struct settings_ca *out, struct err *e);

/* Returns the hosts, with a port if given, that rewrites lead to, and those of
 * config.yaml. Allocated in `a`. */
void settings_hosts(const struct settings *s, struct arena *a,
                    const struct str **hosts, size_t *count);

/* Returns the certificate folders that must stay readable; ended by NULL.
 * Allocated in `a`. */
const char *const *settings_ca_folders(const struct settings *s,
                                       struct arena *a, size_t *count);

#endif
