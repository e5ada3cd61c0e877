#include "mapm/team_object.h"

#define PACKAGE "mapm1-"
#define PROOF   "mapm1p-"

static struct str with_hex(const char *prefix, const struct hash *h,
                           struct arena *a)
{
    return arena_printf(a, "%s%s", prefix, hash_hex(h, a).p);
}

struct str team_object_name(const struct hash *digest, struct arena *a)
{
    return with_hex(PACKAGE, digest, a);
}

struct str team_proof_name(struct str identity, struct str commit,
                           struct str path, struct str object, struct arena *a)
{
    const struct str parts[] = {identity, commit, path, object};
    struct hash_state s;
    struct hash h;

    hash_init(&s);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (i)
            hash_add(&s, str_make("", 1));
        hash_add(&s, parts[i]);
    }
    h = hash_end(&s);
    return with_hex(PROOF, &h, a);
}

/* The same for all commits that have the tree. */
struct str team_tree_name(struct str identity, struct str tree, struct arena *a)
{
    return team_proof_name(identity, STR(""), STR(""), tree, a);
}

/* Chosen so that no repository can have this name. */
struct str team_artifact_name(const struct hash *artifact, struct arena *a)
{
    return team_proof_name(STR("artifact"), hash_hex(artifact, a), STR(""),
                           STR("artifact"), a);
}

static bool is_hex_behind(struct str name, struct str prefix)
{
    struct hash ignored;

    return str_starts(name, prefix) &&
           hash_parse(str_from_index(name, prefix.n), &ignored);
}

bool team_name_is_valid(struct str name)
{
    return is_hex_behind(name, STR(PACKAGE)) || is_hex_behind(name, STR(PROOF));
}
