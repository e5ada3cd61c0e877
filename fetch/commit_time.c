#include "mapm/fetch.h"

#include "frame.h"

/* 9999-12-31, the last date with a four-digit year */
#define COMMIT_MAX_SECONDS 253402300799u

/* Reads SECONDS of "committer NAME <MAIL> SECONDS ZONE", which follows the last
 * ">". */
static bool parse_committer(struct str line, uint64_t *seconds)
{
    size_t at = str_find_last(line, '>');
    struct str rest = str_from_index(line, at == SIZE_MAX ? line.n : at + 1);
    struct str word;

    rest = str_trim(rest);
    return str_cut(&rest, ' ', &word) &&
           str_number(word, COMMIT_MAX_SECONDS, seconds);
}

/* The first record of `trees` is the commit: a type byte, a length and the
 * text. */
bool fetch_commit_time(struct str trees, uint64_t *seconds)
{
    struct fields in = fields_of(trees);
    struct str commit, line;

    field_u8(&in, UINT8_MAX);
    commit = field_str(&in, trees.n);
    if (in.bad || !str_starts(commit, STR("tree ")))
        return false;
    while (str_cut(&commit, '\n', &line) && line.n)
        if (str_starts(line, STR("committer ")))
            return parse_committer(line, seconds);
    return false;
}
