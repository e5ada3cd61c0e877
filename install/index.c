#include "index.h"

#include "base/digest.h"
#include "base/text.h"
#include "mapm/lock.h"

#include "closure_resolve.h"
#include "ingest.h"
#include "proof.h"

#define ACCEPT_INDEX "Accept: application/json"

/* --- one request ----------------------------------------------------------- */

/* Checks that the network may be used; indexes are neither in stores nor in
 * bundles. */
static bool check_network(const struct closure *c, struct str url,
                          struct err *e)
{
    struct team_remotes stores;

    if (c->options.offline || c->options.bundle) {
        err_set(e, ERR_OFFLINE, "%.*s is on the network", STR_ARG(url));
        return err_hint(e, c->options.bundle
                               ? "it was written for another lock, or is "
                                 "damaged: mapm bundle, or mapm vendor, writes "
                                 "all of a lock"
                               : "run the command once without --offline");
    }
    if (!layer_stores(c->layer, c->cx, c->store, &stores, e))
        return false;
    if (!stores.only)
        return true;
    err_set(e, ERR_OFFLINE, "%.*s must not be contacted", STR_ARG(url));
    return err_hint(e, "store: {only: true} asks nothing but the stores");
}

static bool check_answer(struct str url, const struct fetch_reply *reply,
                         struct err *e)
{
    if (reply->status == 200)
        return true;
    if (reply->location.n == 0)
        return err_set(e, reply->status == 404 ? ERR_NOT_FOUND : ERR_FETCH,
                       "HTTP %ld from %.*s", reply->status, STR_ARG(url));
    err_set(e, ERR_FETCH, "HTTP %ld from %.*s: it redirects to %.*s",
            reply->status, STR_ARG(url), STR_ARG(reply->location));
    return err_hint(e, "another host is not followed: its publisher has to "
                       "name that address");
}

/* Fetches a document; `what` describes it in the question about its host. */
static bool get(struct closure *c, struct fetch_document *in, struct str what,
                struct str *url, struct fetch_reply *out, struct err *e)
{
    struct context *cx = c->cx;

    return context_check_cancelled(cx, e) && check_network(c, in->url, e) &&
           authorize_index_host(cx, c->store, &c->layer->rules, in->url, what,
                                &in->public_only, e) &&
           fetch_document(in, &cx->arena, url, out, e) &&
           check_answer(*url, out, e);
}

/* --- the index ------------------------------------------------------------- */

static bool read_index(struct closure *c, struct str url,
                       const struct well_known_index **out, struct err *e)
{
    struct arena *a = &c->cx->arena;
    struct fetch_document in = {.url = url,
                                .accept = STR(ACCEPT_INDEX),
                                .max_bytes = AGENT_INDEX_MAX_BYTES};
    struct map_entry *known = map_entry(&c->indexes, url);
    struct well_known_index *index;
    struct fetch_reply reply;
    struct str from = url;

    if (known->value) {
        *out = known->value;
        return true;
    }
    index = arena_new(a, struct well_known_index);
    if (!get(c, &in, url, &from, &reply, e) ||
        !well_known_parse(reply.body, from, a, index, e))
        return !err_names(e, str_dup0(url, a)) &&
               err_wrap(e, "%.*s", STR_ARG(url));
    if (index->left_out)
        context_warn(c->cx,
                     "%.*s: %zu entries are left out, which are not as "
                     "the format has them",
                     STR_ARG(url), index->left_out);
    map_entry(&c->indexes, url)->value = index;
    *out = index;
    return true;
}

bool index_list(struct closure *c, struct node *n, struct err *e)
{
    const struct well_known_index *index;

    if (!read_index(c, origin_index_url(n->origin), &index, e))
        return false;
    if (index->count == 0)
        return err_set(e, ERR_NOT_FOUND, "%.*s offers no skill",
                       STR_ARG(n->origin->text));
    n->offers = arena_array(&c->cx->arena, index->count, sizeof *n->offers);
    n->offer_count = index->count;
    for (size_t i = 0; i < index->count; i++)
        n->offers[i] =
            (struct fetch_offer){DOC_SKILL, index->skills[i].name, false};
    return true;
}

const struct well_known_skill *
index_offer(const struct closure *c, const struct node *n, struct str name)
{
    const struct well_known_index *index =
        map_find(&c->indexes, origin_index_url(n->origin));

    return index ? well_known_find(index, name) : NULL;
}

bool index_find(struct closure *c, const struct origin *o,
                const struct well_known_skill **out, struct err *e)
{
    const struct well_known_index *index;
    struct str url = origin_index_url(o);

    if (!read_index(c, url, &index, e))
        return false;
    *out = well_known_find(index, o->path);
    if (*out)
        return true;
    err_set(e, ERR_NOT_FOUND, "%.*s offers no skill named \"%.*s\"",
            STR_ARG(url), STR_ARG(o->path));
    return err_hint(e, "mapm install --list %.*s lists what it offers",
                    STR_ARG(url));
}

/* --- the artifact ---------------------------------------------------------- */

struct str index_artifact(const struct node *n)
{
    return n->locked ? n->locked->artifact : node_rare(n)->artifact;
}

struct str index_url(const struct node *n)
{
    return n->locked ? n->locked->url : node_rare(n)->url;
}

/* Checks the hash of an artifact; a mismatch affects only this skill. */
static bool check_hash(struct str bytes, struct str expected, struct str url,
                       bool is_locked, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str digest = digest_of(bytes, &a);

    if (str_eq(digest, expected))
        return true;
    err_set(e, is_locked ? ERR_DAMAGED : ERR_FORMAT,
            "%.*s is %.*s, and %s says %.*s", STR_ARG(url), STR_ARG(digest),
            is_locked ? "mapm.lock" : "the index", STR_ARG(expected));
    return err_hint(e, "what was published has changed, or was tampered with: "
                       "ask its publisher");
}

/* Checks the type of an artifact (W6); locked ones were checked before. */
static bool check_type(const struct well_known_skill *skill, struct str type,
                       struct str bytes, struct err *e)
{
    enum artifact_format format = well_known_format(bytes), told;

    if (!skill->is_archive)
        return format == ARTIFACT_SKILL_MD ||
               err_set(e, ERR_FORMAT, "%.*s is an archive, and no SKILL.md",
                       STR_ARG(skill->url));
    if (!well_known_archive(type, skill->url, &told)) {
        err_set(e, ERR_FORMAT,
                "%.*s: neither its media type nor its name is "
                "that of an archive",
                STR_ARG(skill->url));
        return err_hint(e, "an archive is a .zip or .tar.gz");
    }
    return told == format ||
           err_set(e, ERR_FORMAT, "%.*s is not the archive that its %s says",
                   STR_ARG(skill->url), type.n ? "media type" : "name");
}

static bool put_file(struct closure *c, struct str path, bool executable,
                     struct str content, struct package_file *out,
                     struct err *e)
{
    *out = (struct package_file){.executable = executable, .path = path};
    return store_put(c->store, content, &out->hash, e);
}

static bool unpack(struct closure *c, struct str bytes, struct arena *a,
                   struct package_file **files, size_t *count, struct err *e)
{
    enum artifact_format format = well_known_format(bytes);
    struct archive_file *list;

    if (format == ARTIFACT_SKILL_MD) {
        *files = arena_new(a, struct package_file);
        *count = 1;
        return put_file(c, STR("SKILL.md"), false, bytes, *files, e);
    }
    if (!fetch_unpack(bytes, format, &c->layer->limits, a, &list, count, e))
        return false;
    *files = arena_array(a, *count + 1, sizeof **files);
    for (size_t i = 0; i < *count; i++)
        if (!put_file(c, list[i].path, list[i].executable, list[i].bytes,
                      &(*files)[i], e))
            return false;
    return true;
}

static bool has_entry_file(const struct package_file *files, size_t count,
                           struct err *e)
{
    for (size_t i = 0; i < count; i++)
        if (str_is(files[i].path, "SKILL.md"))
            return true;
    return err_set(e, ERR_PATH,
                   "there is no SKILL.md at the root of the "
                   "archive");
}

/* The artifact is kept beside what it holds: it is what proves the package to
 * others. */
static bool take_artifact(struct closure *c, struct node *n, struct str url,
                          struct str bytes, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct package_file *files;
    struct hash artifact;
    size_t count;

    n->path = n->origin->path;
    if (!unpack(c, bytes, &scratch, &files, &count, e) ||
        !has_entry_file(files, count, e) ||
        !store_put(c->store, bytes, &artifact, e))
        return err_wrap(e, "%.*s", STR_ARG(url));
    if (!ingest_files(c, n, DOC_SKILL, files, count, n->path, &scratch, e) ||
        !ingest_note(c, n, e))
        return false;
    node_ready(c, n);
    return true;
}

/* policy.sources holds for where it leads, too, of a host that many share as
 * well [row 32]. */
static bool check_source(const struct closure *c, struct str url, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str host = well_known_host(url);
    size_t path = (size_t)(host.p - url.p) + host.n + 1;
    struct origin o = {.scheme = ORIGIN_INDEX,
                       .host = str_lower(host, &a),
                       .repository = str_from_index(url, path)};

    if (project_source_allowed(&c->layer->project, &o) &&
        project_source_allowed(&c->layer->user, &o))
        return true;
    err_set(e, ERR_REFUSED, "policy.sources does not allow %.*s", STR_ARG(url));
    return err_hint(e, "add %.*s/* to policy.sources, or do without it",
                    STR_ARG(o.host));
}

static bool get_artifact(struct closure *c, const struct node *n,
                         struct str url, struct fetch_reply *out, struct err *e)
{
    struct fetch_document in = {.url = url, .max_bytes = ARTIFACT_MAX_BYTES};
    bool is_same_host = str_eq_nocase(
        well_known_host(url), well_known_host(origin_index_url(n->origin)));
    struct str from;

    return check_source(c, url, e) &&
           get(c, &in, is_same_host ? n->origin->text : url, &from, out, e);
}

/* W10: the index, which people choose from, says what the skill does. */
static void warn_description(struct closure *c, struct node *n,
                             const struct well_known_skill *skill)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct document d = {0};
    struct err ignored = {0};

    if (!node_read_document(c, n, &scratch, &d, &ignored) ||
        str_eq(text_one_line(d.description, &scratch),
               text_one_line(skill->description, &scratch)))
        return;
    notice_add(&c->notices, STR("index-description"), n->origin->text,
               STR("its description is not the one that the index has"));
}

bool index_fetch(struct closure *c, struct node *n,
                 const struct lock_entry *moving, bool *stays, struct err *e)
{
    const struct well_known_skill *skill;
    struct node_rare *rare;
    struct fetch_reply reply;

    *stays = false;
    if (!(n->kinds & DOC_SKILL))
        return err_set(e, ERR_PATH, "%.*s is a skill",
                       STR_ARG(n->origin->text));
    if (!index_find(c, n->origin, &skill, e))
        return false;
    *stays = moving && str_eq(moving->artifact, skill->digest) &&
             str_eq(moving->url, skill->url);
    if (*stays)
        return true;
    if (!get_artifact(c, n, skill->url, &reply, e) ||
        !check_hash(reply.body, skill->digest, skill->url, false, e) ||
        !check_type(skill, reply.type, reply.body, e))
        return false;
    rare = node_make_rare(n, &c->cx->arena);
    rare->url = skill->url;
    rare->artifact = skill->digest;
    if (!take_artifact(c, n, skill->url, reply.body, e))
        return false;
    warn_description(c, n, skill);
    return true;
}

/* --- as it is locked --------------------------------------------------------- */

static bool take_stored(struct closure *c, struct node *n,
                        const struct hash *artifact, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct str bytes;

    return check_source(c, n->locked->url, e) &&
           store_read(c->store, artifact, ARTIFACT_MAX_BYTES, &scratch, &bytes,
                      e) &&
           take_artifact(c, n, n->locked->url, bytes, e);
}

static bool fetch_from_host(struct closure *c, struct node *n, struct err *e)
{
    const struct lock_entry *entry = n->locked;
    struct fetch_reply reply;

    if (!get_artifact(c, n, entry->url, &reply, e))
        return false;
    if (!check_hash(reply.body, entry->artifact, entry->url, true, e))
        return err_hint(e,
                        "run mapm update %.*s to take what the index has "
                        "now",
                        STR_ARG(entry->name));
    return take_artifact(c, n, entry->url, reply.body, e);
}

bool index_fetch_locked(struct closure *c, struct node *n, struct err *e)
{
    struct team_remotes stores = {0};
    struct hash artifact;

    if (proof_has_artifact(c->store, n->locked, &artifact))
        return take_stored(c, n, &artifact, e);
    if (!c->options.bundle &&
        !layer_stores(c->layer, c->cx, c->store, &stores, e))
        return false;
    return c->options.bundle || stores.count ? closure_request(c, n, e)
                                             : fetch_from_host(c, n, e);
}

bool index_take_event(struct closure *c, struct node *n,
                      const struct fetch_event *event, struct err *e)
{
    const struct fetch_file *f = event->files;
    struct hash artifact;

    if (event->kind == FETCH_FAILED)
        return fetch_from_host(c, n, e);
    if (!store_adopt(c->store, &c->session, f->offset, f->size, &f->hash, e))
        return false;
    if (digest_parse(n->locked->artifact, &artifact) &&
        hash_eq(&artifact, &f->hash))
        return take_stored(c, n, &artifact, e);
    return err_set(e, ERR_DAMAGED, "the store sent another artifact");
}
