#include "base/json.h"

/* Represents numbers by their digits and a power of ten, without rounding. */

#define POWER_MAX           ((int64_t)1 << 40) /* larger than any text */
#define EXPONENT_MAX_DIGITS 9
#define PLAIN_MAX_DIGITS    21 /* integers that JavaScript represents exactly */
#define PLAIN_MIN_POINT     (-6)

/* Reads an exponent, "e+12", of valid JSON; "" gives 0. */
static int64_t read_power(struct str s)
{
    bool minus = false;
    int64_t n = 0;

    for (size_t i = 1; i < s.n; i++) {
        if (char_is_digit(s.p[i]) && n < POWER_MAX)
            n = n * 10 + (s.p[i] - '0');
        else if (s.p[i] == '-')
            minus = true;
    }
    return minus ? -n : n;
}

static uint64_t times_ten(uint64_t n, unsigned digit)
{
    return n > (UINT64_MAX - digit) / 10 ? UINT64_MAX : n * 10 + digit;
}

/* Gets the digits of an unsigned number before its exponent, and which of them
 * is the last significant one. */
static bool take_digits(struct str s, uint64_t *out)
{
    size_t end = 0, last = 0, point = SIZE_MAX;
    int64_t power;

    while (end < s.n && s.p[end] != 'e' && s.p[end] != 'E') {
        if (s.p[end] == '.')
            point = end;
        else if (s.p[end] != '0')
            last = end + 1;
        end++;
    }
    *out = 0;
    if (last == 0)
        return true;
    power = read_power(str_from_index(s, end));
    if (point == SIZE_MAX)
        power += (int64_t)(end - last);
    else if (last > point)
        power -= (int64_t)(last - point - 1);
    else
        power += (int64_t)(point - last);
    if (power < 0)
        return false;
    for (size_t i = 0; i < last; i++)
        if (i != point)
            *out = times_ten(*out, (unsigned)(s.p[i] - '0'));
    while (power-- > 0 && *out < UINT64_MAX)
        *out = times_ten(*out, 0);
    return true;
}

bool json_whole(const struct json *j, bool *minus, uint64_t *out)
{
    struct str s;
    uint64_t n;

    if (!j || j->kind != JSON_NUMBER)
        return false;
    s = j->text;
    *minus = s.n && s.p[0] == '-';
    if (!take_digits(*minus ? str_from_index(s, 1) : s, &n))
        return false;
    *minus = *minus && n;
    *out = n;
    return true;
}

/* --- in one spelling ------------------------------------------------------ */

/* Reads an exponent, "e-10"; returns false if it is too large. */
static bool read_exponent(struct str text, int64_t *out)
{
    bool negative = text.n && text.p[0] == '-';
    uint64_t n;

    if (text.n && (negative || text.p[0] == '+'))
        text = str_from_index(text, 1);
    while (text.n > 1 && text.p[0] == '0')
        text = str_from_index(text, 1);
    if (text.n > EXPONENT_MAX_DIGITS || !str_number(text, UINT32_MAX, &n))
        return false;
    *out = negative ? -(int64_t)n : (int64_t)n;
    return true;
}

static size_t find_exponent(struct str number)
{
    size_t at = str_find_char(number, 'e');

    if (at == SIZE_MAX)
        at = str_find_char(number, 'E');
    return at == SIZE_MAX ? number.n : at;
}

/* Returns the significant digits of 0.digits times 10 to the power of
 * `*point`. */
static struct str significant(struct str mantissa, struct buf *digits,
                              int64_t *point)
{
    size_t dot = str_find_char(mantissa, '.');
    struct str s;

    buf_append(digits, str_slice(mantissa, 0, dot));
    *point += (int64_t)digits->n;
    if (dot != SIZE_MAX)
        buf_append(digits, str_from_index(mantissa, dot + 1));
    s = buf_str(digits);
    for (; s.n && s.p[0] == '0'; --*point)
        s = str_from_index(s, 1);
    while (s.n && s.p[s.n - 1] == '0')
        s = str_slice(s, 0, s.n - 1);
    return s;
}

static void put_zeros(struct buf *out, int64_t count)
{
    while (count-- > 0)
        buf_char(out, '0');
}

static void put_decimal(struct str digits, int64_t point, struct buf *out)
{
    int64_t count = (int64_t)digits.n;

    if (point > 0 && point <= PLAIN_MAX_DIGITS + count) {
        buf_append(out, str_slice(digits, 0, (size_t)point));
        put_zeros(out, point - count);
        if (point < count) {
            buf_char(out, '.');
            buf_append(out, str_from_index(digits, (size_t)point));
        }
    } else if (point <= 0 && point > PLAIN_MIN_POINT) {
        buf_text(out, "0.");
        put_zeros(out, -point);
        buf_append(out, digits);
    } else {
        buf_append(out, digits);
        buf_printf(out, "e%lld", (long long)(point - count));
    }
}

void json_put_number(struct buf *out, struct str spelled)
{
    CLEANUP(buf_done) struct buf digits;
    bool negative = spelled.n && spelled.p[0] == '-';
    struct str number = negative ? str_from_index(spelled, 1) : spelled, s;
    size_t end = find_exponent(number);
    int64_t point = 0;

    buf_init(&digits, spelled.n + 1);
    if (end < number.n &&
        !read_exponent(str_from_index(number, end + 1), &point)) {
        buf_append(out, spelled); /* no exact value: compare as written */
        return;
    }
    s = significant(str_slice(number, 0, end), &digits, &point);
    if (s.n == 0) {
        buf_char(out, '0');
        return;
    }
    if (negative)
        buf_char(out, '-');
    put_decimal(s, point, out);
}
