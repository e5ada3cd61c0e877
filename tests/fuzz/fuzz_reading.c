#include "base/text.h"
#include "mapm/clients.h"

#include <stdlib.h>

#include "../../runtime/reading.h"

/* What an agent program prints: the first byte chooses the rules, the second
 * the size of a block, the third the cap. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_make((const char *)data, size);
    const struct client *c;
    const struct preset *p;
    struct reading r;
    size_t block, max_chars = 100;

    if (size < 3)
        return 0;
    c = clients_backend_at(data[0] % 8);
    p = c ? c->backend : NULL; /* none: plain text */
    block = data[1] % 64 + 1;
    reading_init(&r, p ? p->rules : NULL, data[2] % 8, max_chars);
    for (size_t at = 3; at < size; at += block)
        reading_feed(&r, str_slice(text, at, at + block));
    reading_end(&r);
    if (r.text.overflowed || r.why.overflowed || r.text.n > 4 * 101)
        abort();
    if (p && (!text_is_utf8(buf_str(&r.text)) ||
              text_count(buf_str(&r.text)) > max_chars + 1))
        abort();
    reading_done(&r);
    return 0;
}
