#include "base/embed.h"
#include "base/text.h"
#include "mapm/report_catalog.h"

#include "markup.h"

EMBED_TWO(catalog_style, "report/base.css", "report/catalog.css");
EMBED(catalog_script, "report/catalog.js");

static void put_head(struct str title, struct buf *out)
{
    const struct markup_page page = {.title = title,
                                     .about = " - skills",
                                     .style = catalog_style,
                                     .script = catalog_script};

    markup_head(out, &page);
    buf_text(out, "<h1>");
    markup_word(out, title);
    buf_text(out, "</h1>\n");
}

static void put_fact(struct buf *out, const char *before, struct str text)
{
    if (text.n == 0)
        return;
    buf_printf(out, "<li>%s", before);
    markup_word(out, text);
    buf_text(out, "</li>");
}

static void put_skill(const struct discover_published *s, struct buf *out)
{
    buf_text(out, "<li><h2><a href=\"");
    markup_text(out, s->url, false);
    buf_text(out, "\">");
    markup_word(out, s->name);
    buf_text(out, "</a></h2><p>");
    markup_word(out, s->description);
    buf_text(out, "</p><ul class=\"facts\">");
    put_fact(out, "version ", s->version);
    buf_printf(out, "<li>about %zu tokens</li><li>%zu %s</li>", s->tokens,
               s->files, s->files == 1 ? "file" : "files");
    put_fact(out, "licence: ", text_cut(s->license, 80));
    buf_text(out, "</ul></li>\n");
}

void report_catalog_page(struct str title,
                         const struct discover_published *list, size_t count,
                         struct buf *out)
{
    size_t shown = 0;

    for (size_t i = 0; i < count; i++)
        shown += list[i].why.n == 0;
    put_head(title, out);
    /* Revealed by the script; without it the search box has no function. */
    buf_text(out, "<div id=\"search\" role=\"search\" hidden>"
                  "<label for=\"words\">Search by words</label>"
                  "<input id=\"words\" type=\"search\" autocomplete=\"off\" "
                  "spellcheck=\"false\"></div>\n");
    buf_printf(out, "<p id=\"count\" role=\"status\">%zu %s</p>\n", shown,
               shown == 1 ? "skill" : "skills");
    buf_text(out, "<ul id=\"skills\">\n");
    for (size_t i = 0; i < count; i++)
        if (list[i].why.n == 0)
            put_skill(&list[i], out);
    buf_text(out, "</ul>\n</main>\n<script>");
    buf_text(out, catalog_script);
    buf_text(out, "</script>\n</body>\n</html>\n");
}
