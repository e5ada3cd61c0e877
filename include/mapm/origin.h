#ifndef MAPM_ORIGIN_H
#define MAPM_ORIGIN_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "mapm/host_config.h"

/*
 * origin: parses and compares the URLs of packages (H1, M13, M14, X13;
 * THREATS row 10).
 *
 *     https://github.com/<owner>/<repo>/tree/<ref>[/path]
 *     https://<host>[:port]/<repository>/-/tree/<ref>[/path]
 *     ssh://[user@]<host>[:port]/<repository>/-/tree/<ref>[/path]
 *     file:/<path>
 *     https://<host>/.well-known/agent-skills/index.json?skill=<name>
 *
 * Two origins are equal if these are equal: the host (ignoring case), its port,
 * the repository (without ".git", and ignoring case on built-in hosts that do
 * so), the ref and the path. The scheme (https or ssh) and the ssh user do not
 * matter, because they are only ways to reach the same repository.
 */

enum origin_scheme {
    ORIGIN_GIT,
    ORIGIN_INDEX, /* a skill of a host's index, or the index itself; has no
                     ref */
    ORIGIN_OWN,
    ORIGIN_FILE
};

/*
 * The origin of a package. For ORIGIN_GIT either `rest` is set (a URL, in
 * which only the refs of the repository can tell where the ref ends and the
 * path begins), or `path` and `ref` are set (short form; ref "" means the
 * default branch).
 */
struct origin {
    enum origin_scheme scheme;
    enum host_transport transport;
    unsigned port; /* 0 for the default */
    bool is_short;
    bool was_ssh; /* the user input was an ssh address, stored as https */
    /* The ref is a full name, which is shortened when the refs are known. */
    bool is_spelled_out;
    bool has_left_user_out; /* the user part, possibly a token, was dropped */
    /* canonical, without ".git" and trailing "/"; file:/x, ./x */
    struct str text;
    struct str key;              /* equal origins have equal keys (M14) */
    const struct git_host *kind; /* kind of the host; not NULL for ORIGIN_GIT */
    struct str user;             /* user of ssh; or "" */
    struct str host;             /* lower case, without port: "github.com" */
    /* As written: "acme/tools", "group/sub/tools"; for an index, its path
     * without the leading "/". */
    struct str repository;
    struct str rest; /* "<ref>[/path]", with %2F as written */
    struct str ref;  /* only in the short form */
    /* INDEX: name of the skill, "" for the index itself. FILE: absolute,
     * normalized. Short form: path in the repository. OWN: path in the
     * workspace, "" for a catalog of the whole workspace. */
    struct str path;
    /* Details of the input that an origin does not include (user, parts of a
     * page), or "". */
    struct str left_out;
    /* The part after "?" in text and key: a plugin ("plugin", or
     * "plugin=NAME" of a marketplace), which differs from a skill in the same
     * folder; its marketplace ("market"); a skill of an index ("skill=NAME");
     * or a part that is not a folder ("mcp=PLUGIN/SERVER",
     * "agent=PLUGIN/NAME"). "" for all others. */
    struct str part;
};

struct origin_rules {
    const struct host_config *hosts; /* from the user's config.yaml */
    size_t host_count;
    bool any_host; /* accept every host; the caller decides */
    /* The input lives as long as the arena, so an origin that is already
     * canonical borrows it. */
    bool keeps_text;
};

/* Parses an origin of a document: a full URL or file:. Allocated in `a`.
 * Errors: ERR_ORIGIN with a hint. */
MUST_CHECK bool origin_parse(struct str text, const struct origin_rules *rules,
                             struct arena *a, struct origin *out,
                             struct err *e);

/*
 * "./skills/x", a package of the workspace itself (D8), which is allowed in its
 * mapm.yaml, its lock and its own packages. Checked as text: no ".git" or
 * ".agents" in any case, no ".." and no blank; symbolic links are not followed
 * when it is opened.
 */
bool origin_is_own(struct str text);
MUST_CHECK bool origin_parse_own(struct str text, struct arena *a,
                                 struct origin *out, struct err *e);

/* Returns whether `text` is the URL of an index with "?skill=", which is
 * allowed in mapm.yaml and its lock. */
bool origin_is_of_index(struct str text);
/* Returns whether user input is the URL of an index itself, and not a
 * page of a git host. */
bool origin_is_index(struct str text, const struct origin_rules *rules);
/* Parses either of these. */
MUST_CHECK bool origin_parse_index(struct str text, struct arena *a,
                                   struct origin *out, struct err *e);
/* Return the URL of the index of an origin, and the origin of a
 * skill of an index. */
struct str origin_index_url(const struct origin *o);
struct str origin_of_index(struct str url, struct str name, struct arena *a);
/* Returns whether a package is fetched remotely and pinned by a lock, so that
 * there is a proof for it. */
bool origin_is_remote(const struct origin *o);

/* Parses an origin of mapm.yaml, its lock, or a package of the workspace: as
 * origin_parse or origin_parse_own. */
MUST_CHECK bool origin_parse_here(struct str text,
                                  const struct origin_rules *rules,
                                  struct arena *a, struct origin *out,
                                  struct err *e);

/* The same with a part, which is allowed only in locks and indexes. */
MUST_CHECK bool origin_parse_part(struct str text,
                                  const struct origin_rules *rules,
                                  struct arena *a, struct origin *out,
                                  struct err *e);
/* Returns `o` with another part, "" for none. */
struct origin origin_with_part(const struct origin *o, struct str part,
                               struct arena *a);
/* Return the origin of an entry of the marketplace at `market`, and the name of
 * the entry in such an origin; p is NULL for other origins. */
struct origin origin_of_entry(const struct origin *market, struct str name,
                              struct arena *a);
struct str origin_entry_name(const struct origin *o);
/* Returns the text before the part; for a skill of an index, the whole text. */
struct str origin_base(struct str text);

/*
 * Parses user input: besides the above, `owner/repo[/path][@ref]` (or
 * `@=1.2.3`, for the tag of that version), `https://host/owner/repo`, and a
 * local path that begins with "/", "./", "../" or "~/" (relative to `cwd`, an
 * absolute path; `home` may be "").
 */
MUST_CHECK bool origin_parse_argument(struct str text, struct str cwd,
                                      struct str home,
                                      const struct origin_rules *rules,
                                      struct arena *a, struct origin *out,
                                      struct err *e);

/* Returns why a path inside a repository is rejected, or NULL. Folders in git
 * may have names that no origin can have, such as "c#". */
const char *origin_path_fault(struct str path);

/* Makes the full URL when ref ("main", "v1", 40 hex digits) and path are
 * known. */
void origin_complete(const struct origin *o, struct str ref, struct str path,
                     struct arena *a, struct origin *out);

/* Makes the origin of a package of the repository of `o` at another ref or
 * range, as in the short form on the command line. `text` is the user
 * input, for messages. */
MUST_CHECK bool origin_at_ref(const struct origin *o, struct str path,
                              struct str ref, struct str text, struct arena *a,
                              struct origin *out, struct err *e);

/* Makes the origin with the same ref and path in the repository `name` of the
 * same host, to which the repository was renamed. Returns false if `name` is
 * invalid, or `o` is not a full URL. */
MUST_CHECK bool origin_in_repository(const struct origin *o, struct str name,
                                     struct arena *a, struct origin *out);

/* Returns the identity of a repository, "host[:port]/repository", which is the
 * same for equal repositories. */
struct str origin_repository(const struct origin *o, struct arena *a);
/* The same for the URL of a git remote over https or ssh, on any host;
 * "" for other URLs. */
struct str origin_of_remote(struct str url, struct arena *a);
/* Returns whether the host is built in or configured, with this port. */
bool origin_host_is_known(const struct origin *o,
                          const struct origin_rules *rules);
/* Returns "host[:port]". */
struct str origin_authority(const struct origin *o, struct arena *a);
/* Returns whether the host ignores case in names of repositories. */
bool origin_folds(const struct origin *o);
/* Returns the name of the repository: its last component without ".git". */
struct str origin_name(const struct origin *o);
/* Returns the short form for `path` in the repository at the default branch. */
struct str origin_typed(const struct origin *o, struct str path,
                        struct arena *a);
/* Returns the URL for git: "https://github.com/acme/tools.git". */
struct str origin_clone_url(const struct origin *o, struct arena *a);

/* Returns whether the ref is a commit of 40 digits, which never changes. */
bool origin_names_commit(const struct origin *o);

/* Returns the range of versions in place of the ref, in the syntax
 * of range_parse; "" if it has a ref. `slot` is `rest`, or the `ref`
 * of a short form. */
struct str origin_range(const struct origin *o, struct arena *a);
struct str origin_slot_range(struct str slot, struct arena *a);
/* Returns the path in the repository if the ref has one component (as a range
 * always does) or is a full name with one. */
struct str origin_slot_path(const struct origin *o);
/* Returns the ref before that path. */
struct str origin_slot(const struct origin *o);
/* Returns whether `o` may be the same package as `range`, an origin with a
 * range: the same repository and path, as far as the path of `o` is known
 * without its refs. */
bool origin_is_package_of(const struct origin *o, const struct origin *range,
                          struct arena *a);

/* Returns whether the host is localhost, 127.x.y.z or [::1] without port, for
 * which http is allowed. */
bool origin_host_is_loopback(struct str host);

bool origin_ref_is_valid(
    struct str ref); /* as git check-ref-format, and no leading "-" */

#endif
