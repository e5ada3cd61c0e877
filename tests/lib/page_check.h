#ifndef TESTS_PAGE_CHECK_H
#define TESTS_PAGE_CHECK_H

/* What a page of a run may consist of: the tags and attributes that mapm
 * writes, and characters that can only be read. Whatever a text has in it, it
 * cannot add to these. */

#include "base/text.h"

static const char *const page_names[] = {
    /* elements */
    "!doctype", "html", "head", "meta", "title", "style", "body", "main",
    "header", "footer", "section", "figure", "figcaption", "h1", "h2", "p",
    "span", "b", "bdi", "code", "pre", "time", "ul", "ol", "li", "dl", "div",
    "dt", "dd", "details", "summary", "svg", "g", "a", "line", "rect", "circle",
    "text",
    /* attributes */
    "lang", "charset", "http-equiv", "content", "name", "class", "id",
    "datetime", "tabindex", "dir", "href", "aria-hidden", "aria-label", "width",
    "height", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "rx",
    "text-anchor"};

static bool page_knows(struct str name)
{
    for (size_t i = 0; i < sizeof page_names / sizeof *page_names; i++)
        if (str_is(name, page_names[i]))
            return true;
    return false;
}

/* Of one tag, without its brackets: its name, then name="value". NULL, or what
 * is wrong. */
static const char *page_tag(struct str tag)
{
    size_t i = 0, from;

    if (str_is(tag, "!doctype html"))
        return NULL;
    if (str_ends(tag, STR("/")))
        tag = str_slice(tag, 0, tag.n - 1);
    if (str_starts(tag, STR("/")))
        i = 1;
    for (from = i; i < tag.n && tag.p[i] != ' '; i++)
        ;
    if (!page_knows(str_slice(tag, from, i)))
        return "an element that is none of ours";
    while (i < tag.n) {
        for (from = ++i; i < tag.n && tag.p[i] != '='; i++)
            ;
        if (!page_knows(str_slice(tag, from, i)))
            return "an attribute that is none of ours";
        if (i + 1 >= tag.n || tag.p[i + 1] != '"')
            return "a value without quotes";
        for (i += 2; i < tag.n && tag.p[i] != '"'; i++)
            ;
        if (i++ >= tag.n)
            return "a quote that does not end";
    }
    return NULL;
}

/* Where a tag ends: no ">" in quotes counts. */
static size_t page_tag_end(struct str page, size_t i)
{
    bool quoted = false;

    for (; i < page.n && (quoted || page.p[i] != '>'); i++)
        if (page.p[i] == '"')
            quoted = !quoted;
    return i;
}

/* NULL, or what is wrong with the page. */
static const char *page_check(struct str page)
{
    size_t offset, styles = 0;
    const char *wrong;

    if (!text_is_utf8(page))
        return "it is not UTF-8";
    if (text_find_hidden(page, &offset, NULL) != TEXT_HIDDEN_NONE)
        return "it hides something";
    for (size_t i = 0; i < page.n; i++) {
        struct str tag;

        if ((unsigned char)page.p[i] < 0x20 && page.p[i] != '\n' &&
            page.p[i] != '\t')
            return "a control character";
        if (page.p[i] == '>')
            return "a bracket outside of a tag";
        if (page.p[i] != '<')
            continue;
        tag = str_slice(page, i + 1, page_tag_end(page, i));
        wrong = page_tag(tag);
        if (wrong)
            return wrong;
        i += tag.n + 1;
        if (str_is(tag, "style")) { /* what follows is no markup */
            size_t end = str_find(str_from_index(page, i), STR("</style>"));

            if (end == SIZE_MAX)
                return "a style sheet that does not end";
            styles++;
            i += end - 1;
        }
    }
    return styles == 1 ? NULL : "not just one style sheet";
}

#endif
