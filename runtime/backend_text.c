#include "base/text.h"

#include "backend.h"

#define NEWS_MAX_CHARS 200

struct str backend_text(struct str bytes, size_t max_chars, struct arena *a,
                        bool *truncated)
{
    struct buf b;
    struct str text;
    size_t at = 0, count = 0;

    if (text_is_utf8(bytes)) {
        text = text_cut(bytes, max_chars);
        *truncated |= text.n < bytes.n;
        return arena_str(a, text);
    }
    /* An invalid byte is replaced by three bytes. */
    buf_init(&b, 3 * bytes.n + 1);
    while (at < bytes.n && count++ < max_chars) {
        int32_t c = text_next(bytes, &at);

        text_put(&b, c < 0 ? 0xfffd : c);
    }
    *truncated |= at < bytes.n;
    text = arena_str(a, buf_str(&b));
    buf_done(&b);
    return text;
}

void backend_report_progress(const struct backend_progress *news,
                             unsigned turns, struct str text)
{
    struct str line, first = {"", 0};

    if (!news || !news->tell)
        return;
    while (!first.n && str_line(&text, &line))
        first = str_trim(line);
    news->tell(news->ctx, turns, text_cut(first, NEWS_MAX_CHARS));
}
