#include <string.h>

#include "mcp.h"

/* Substitutes ${workspaceDir} and ${sharedDir}. Any other "${" is rejected, so
 * that a typo never reaches a client that would expand it differently. Source:
 * M20 to M22, X19; THREATS row 9. */

#define WORKSPACE "${workspaceDir}"
#define SHARED    "${sharedDir}"

size_t placeholder_length(struct str text)
{
    if (str_starts(text, STR(WORKSPACE)))
        return sizeof WORKSPACE - 1;
    return str_starts(text, STR(SHARED)) ? sizeof SHARED - 1 : 0;
}

/* Returns true if `tail` may follow a placeholder without changing the name of
 * the folder. */
static bool ends_folder(struct str tail)
{
    return tail.n == 0 || strchr("/\\:;,|&=\"' )]}", tail.p[0]) != NULL;
}

/* Returns true if the path after a placeholder leaves the folder at any
 * point. */
static bool leaves_folder(struct str tail)
{
    size_t depth = 0, start = 0;
    size_t end = str_find(tail, STR("${"));

    tail = str_slice(tail, 0, end);
    for (size_t i = 0; i <= tail.n; i++) {
        struct str part;

        if (i < tail.n && tail.p[i] != '/' && tail.p[i] != '\\')
            continue;
        part = str_slice(tail, start, i);
        start = i + 1;
        if (str_is(part, "..")) {
            if (depth == 0)
                return true;
            depth--;
        } else if (part.n && !str_is(part, ".") && i > part.n) {
            depth++;
        }
    }
    return false;
}

static struct str show_part(struct str text, size_t at)
{
    size_t close = str_find_char(str_from_index(text, at), '}');

    return str_slice(text, at, close == SIZE_MAX ? at + 20 : at + close + 1);
}

const char *placeholder_fault(struct str text, struct str *part)
{
    size_t at = 0;

    for (;;) {
        size_t found = str_find(str_from_index(text, at), STR("${")), n;
        struct str tail;

        if (found == SIZE_MAX)
            return NULL;
        at += found;
        *part = show_part(text, at);
        n = placeholder_length(str_from_index(text, at));
        if (n == 0)
            return "is neither ${workspaceDir} nor ${sharedDir}; environment "
                   "variables are not expanded: the client passes its "
                   "environment through";
        at += n;
        tail = str_from_index(text, at);
        if (!ends_folder(tail))
            return "is followed by text that makes another folder of it: "
                   "write \"/\" after it";
        if (leaves_folder(tail)) {
            *part = str_slice(text, at - n, at + 60);
            return "leaves its folder by \"..\"";
        }
    }
}

void placeholder_put(struct buf *out, struct str text, struct str workspace_dir,
                     struct str shared_dir)
{
    for (size_t at = 0; at < text.n;) {
        struct str rest = str_from_index(text, at);
        size_t n = placeholder_length(rest), plain;

        if (n > 0) {
            buf_append(out, str_starts(rest, STR(SHARED)) ? shared_dir
                                                          : workspace_dir);
            at += n;
            continue;
        }
        plain = str_find(str_from_index(rest, 1), STR("${"));
        n = plain == SIZE_MAX ? rest.n : plain + 1;
        buf_append(out, str_slice(rest, 0, n));
        at += n;
    }
}
