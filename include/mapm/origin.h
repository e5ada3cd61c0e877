#ifndef MAPM_ORIGIN_H
#define MAPM_ORIGIN_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "mapm/host_config.h"

/*
 * origin: where a package is asked for (H1, M13, M14, X13; THREATS row 10).
 *
 *     https://github.com/<owner>/<repo>/tree/<ref>[/path]
 *     https://<host>[:port]/<repository>/-/tree/<ref>[/path]
 *     ssh://[user@]<host>[:port]/<repository>/-/tree/<ref>[/path]
 *     file:/<path>
 *     https://<host>/.well-known/agent-skills/index.json?skill=<name>
 *
 * What is equal: the host in any letter case, its port, the repository (without
 * ".git", in any letter case on built-in hosts that fold it), ref and path.
 * https or ssh, and the user of ssh, are ways to the same repository.
 */

enum origin_scheme {
    ORIGIN_GIT,
    ORIGIN_INDEX, /* a skill of an index of a host, or the index: no ref */
    ORIGIN_OWN,
    ORIGIN_FILE
};

/*
 * Where a package is asked for. For GIT either `rest` is set (a URL: where
 * the ref ends and the path begins is for the repository's refs to say), or
 * `path` and `ref` are known (short form; ref "" = the default branch).
 */
struct origin {
    enum origin_scheme scheme;
    struct str
        text; /* canonical: ".git" and trailing "/" dropped; file:/x, ./x */
    struct str key; /* two origins are equal when their keys are (M14) */
    const struct git_host *kind; /* of the host; GIT: never NULL */
    enum host_transport transport;
    struct str user;       /* of ssh; "" */
    struct str host;       /* lower case, without port: "github.com" */
    unsigned port;         /* 0: the scheme's own */
    struct str repository; /* as written: "acme/tools", "group/sub/tools"; of
                            * an index its path, without the first "/" */
    struct str rest;       /* "<ref>[/path]", %2F kept as written */
    struct str ref;        /* short form only */
    struct str
        path; /* INDEX: the name; "" = the index itself. FILE: absolute and normal. Short form: in the repo.
                      * OWN: in the workspace; "" for a catalog that is all of it */
    bool is_short;
    /* Of what was typed: it was an address of ssh, and is written as of https;
     * user and page details that an origin has not, "" for none. */
    bool was_ssh;
    /* Its ref is a full name, which is cut once the refs are known. */
    bool is_spelled_out;
    bool has_left_user_out; /* a token, perhaps: it is not kept */
    struct str left_out;
    /* Behind "?" in text and key: a plugin, which is no skill of the same
     * folder ("plugin", "plugin=NAME" of a marketplace), its marketplace
     * ("market"), a skill of an index ("skill=NAME"), or a part that is no folder ("mcp=PLUGIN/SERVER",
     * "agent=PLUGIN/NAME"). "" for all others. */
    struct str part;
};

struct origin_rules {
    const struct host_config *hosts; /* from the user's own file */
    size_t host_count;
    bool any_host;   /* none is refused: that is the caller's to decide */
    bool keeps_text; /* what is parsed lives as long as the arena: an origin
                      * that is written as it is canonical borrows it */
};

/* Full URLs and file: alone: what a document may say.
 * Errors: ERR_ORIGIN with a hint. Results in `a`. */
MUST_CHECK bool origin_parse(struct str text, const struct origin_rules *rules,
                             struct arena *a, struct origin *out,
                             struct err *e);

/*
 * "./skills/x": a package of the workspace itself (D8), as its mapm.yaml, its
 * lock and its own packages may name it. Judged as text: never ".git" or
 * ".agents" in any case, no ".." and no blank; no link is followed when it is opened.
 */
bool origin_is_own(struct str text);
MUST_CHECK bool origin_parse_own(struct str text, struct arena *a,
                                 struct origin *out, struct err *e);

/* A URL of an index with "?skill=": what mapm.yaml and its lock may say. */
bool origin_is_of_index(struct str text);
/* An index itself, as a person may type it: no page of a git host. */
bool origin_is_index(struct str text, const struct origin_rules *rules);
/* Either. */
MUST_CHECK bool origin_parse_index(struct str text, struct arena *a,
                                   struct origin *out, struct err *e);
/* The URL of the index; that of one of its skills as an origin has it. */
struct str origin_index_url(const struct origin *o);
struct str origin_of_index(struct str url, struct str name, struct arena *a);
/* Fetched from elsewhere and pinned by a lock, so what is locked has a proof. */
bool origin_is_remote(const struct origin *o);

/* Both: what mapm.yaml, its lock and own packages may say. */
MUST_CHECK bool origin_parse_here(struct str text,
                                  const struct origin_rules *rules,
                                  struct arena *a, struct origin *out,
                                  struct err *e);

/* The same with a part, as locks and indexes have it and no document may. */
MUST_CHECK bool origin_parse_part(struct str text,
                                  const struct origin_rules *rules,
                                  struct arena *a, struct origin *out,
                                  struct err *e);
/* `o` with another part, "" for none. */
struct origin origin_with_part(const struct origin *o, struct str part,
                               struct arena *a);
/* The text in front of the part; of a skill of an index all of it. */
struct str origin_base(struct str text);

/*
 * What a person may type: also `owner/repo[/path][@ref]` (or `@=1.2.3`, for
 * the tag of that version),
 * `https://host/owner/repo` and a local path that begins with "/", "./",
 * "../" or "~/" (relative to `cwd`, an absolute path; `home` may be empty).
 */
MUST_CHECK bool origin_parse_argument(struct str text, struct str cwd,
                                      struct str home,
                                      const struct origin_rules *rules,
                                      struct arena *a, struct origin *out,
                                      struct err *e);

/* The full URL once ref ("main", "v1", 40 hex) and path are known. */
void origin_complete(const struct origin *o, struct str ref, struct str path,
                     struct arena *a, struct origin *out);

/* A package of the repository of `o` at another ref or range, as a short form
 * on the command line has it. `text`: what was typed, for messages. */
MUST_CHECK bool origin_at_ref(const struct origin *o, struct str path,
                              struct str ref, struct str text, struct arena *a,
                              struct origin *out, struct err *e);

/* The same ref and path in the repository `name` of the same host: what its
 * host calls it now. False where that is no name, or `o` is no full URL. */
MUST_CHECK bool origin_in_repository(const struct origin *o, struct str name,
                                     struct arena *a, struct origin *out);

/* "host[:port]/repository", as equal ones have it: what a repository is known
 * by. */
struct str origin_repository(const struct origin *o, struct arena *a);
/* The same of the URL of a remote of git, over https or ssh, whatever its host;
 * "" for all else. */
struct str origin_of_remote(struct str url, struct arena *a);
/* Whether its host is of one of `known`, or built in: with this port. */
bool origin_host_is_known(const struct origin *o,
                          const struct origin_rules *rules);
/* "host[:port]" */
struct str origin_authority(const struct origin *o, struct arena *a);
/* Whether repositories are the same in any letter case there. */
bool origin_folds(const struct origin *o);
/* The last part of the repository, without ".git": its name. */
struct str origin_name(const struct origin *o);
/* A path in its repository, at the default branch, as a person may type it. */
struct str origin_typed(const struct origin *o, struct str path,
                        struct arena *a);
/* What git fetches: "https://github.com/acme/tools.git". */
struct str origin_clone_url(const struct origin *o, struct arena *a);

/* Whether its ref is a commit, by all 40 digits: what it names never moves. */
bool origin_names_commit(const struct origin *o);

/* The range of versions that stands for its ref, as range_parse takes it; ""
 * where it has a ref. `slot`: its `rest`, or the `ref` of a short form. */
struct str origin_range(const struct origin *o, struct arena *a);
struct str origin_slot_range(struct str slot, struct arena *a);
/* The path in the repository, where the ref is one part, or a full name with
 * one: always so where it is a range. */
struct str origin_slot_path(const struct origin *o);
/* The ref in front of it. */
struct str origin_slot(const struct origin *o);
/* Whether `o` may be of the package that `range`, which has one, is of: the same
 * repository and path, as far as the path of `o` is known without its refs. */
bool origin_is_package_of(const struct origin *o, const struct origin *range,
                          struct arena *a);

/* localhost, 127.x.y.z or [::1], without port: this machine, which plain http
 * may reach. */
bool origin_host_is_loopback(struct str host);

bool origin_ref_is_valid(
    struct str ref); /* git check-ref-format, no leading "-" */

#endif
