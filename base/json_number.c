#include "base/json.h"

/* Numbers as their digits and a power of ten: nothing of them is rounded. */

#define POWER_MAX ((int64_t)1 << 40) /* no text is as long as that */

/* Of "e+12" and the like; "" is 0. Correct JSON. */
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

/* A number without its sign: digits before the power, and which of them counts
 * last. */
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
