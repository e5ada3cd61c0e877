#include "base/fs.h"
#include "mapm/provision.h"

#include <sys/random.h>

#include "writable.h"

#define ID_FILE  STATE_FOLDER "/id"
#define ID_BYTES 16
#define ID_CHARS (2 * ID_BYTES)

static bool is_id(struct str text)
{
    return text.n == ID_CHARS + 1 && text.p[ID_CHARS] == '\n' &&
           str_is_hex(str_slice(text, 0, ID_CHARS));
}

static bool read_id(int root, struct arena *a, struct str *out, struct err *e)
{
    struct str text;

    if (!fs_read_file_at(root, ID_FILE, ID_CHARS + 1, a, &text, e))
        return false;
    if (!is_id(text))
        return err_set(e, ERR_DAMAGED, "%s is damaged", ID_FILE);
    *out = str_slice(text, 0, ID_CHARS);
    return true;
}

static bool make_folder(int root, struct err *e)
{
    return fs_make_dirs_at(root, STATE_FOLDER, 0755, e) &&
           (fs_exists_at(root, STATE_FOLDER "/.gitignore") ||
            fs_create_at(root, STATE_FOLDER "/.gitignore", 0644, STR("*\n"),
                         e));
}

/* Replaces a damaged id, whatever the damage. */
static bool make_id(int root, struct err *e)
{
    unsigned char bytes[ID_BYTES];
    char text[ID_CHARS + 1];

    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return err_errno(e, "make a random id");
    for (size_t i = 0; i < ID_BYTES; i++) {
        text[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        text[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    text[ID_CHARS] = '\n';
    return make_folder(root, e) && fs_remove_tree_at(root, ID_FILE, e) &&
           fs_replace_at(root, ID_FILE, 0600, str_make(text, sizeof text), e);
}

bool provision_read_id(int root, bool make, struct arena *a, struct str *out,
                       struct err *e)
{
    if (read_id(root, a, out, e))
        return true;
    if (!make)
        return false;
    err_clear(e);
    return make_id(root, e) && read_id(root, a, out, e);
}
