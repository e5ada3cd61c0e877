#include "base/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

struct block {
    unsigned char start[16];
    unsigned bits;
};

/* clang-format off */
static const struct block blocks4[] = {
    {{0},               8},  /* this network */
    {{10},              8},  /* private */
    {{100, 64},        10},  /* shared address space of a provider */
    {{127},             8},  /* loopback */
    {{169, 254},       16},  /* link-local, metadata services */
    {{172, 16},        12},  /* private */
    {{192, 0, 0},      24},
    {{192, 0, 2},      24},  /* documentation */
    {{192, 168},       16},  /* private */
    {{198, 18},        15},  /* benchmarking */
    {{198, 51, 100},   24},  /* documentation */
    {{203, 0, 113},    24},  /* documentation */
    {{224},             4},  /* multicast */
    {{240},             4},  /* reserved, broadcast */
};
static const struct block blocks6[] = {
    {{0},                        96},  /* unspecified, loopback,
                                        * IPv4-compatible */
    {{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96}, /* IPv4-translated */
    {{0x00, 0x64, 0xff, 0x9b, 0, 0x01}, 48}, /* local-use NAT64 */
    {{0x01},                     64},  /* discard-only */
    {{0x20, 0x01, 0x00},         23},  /* protocol assignments, such as
                                        * Teredo */
    {{0x20, 0x01, 0x0d, 0xb8},   32},  /* documentation */
    {{0x3f, 0xff},               20},  /* documentation */
    {{0xfc},                      7},  /* private */
    {{0xfe, 0x80},               10},  /* link-local */
    {{0xfe, 0xc0},               10},  /* site-local */
    {{0xff},                      8},  /* multicast */
};
/* Prefixes that are followed by an embedded IPv4 address. */
static const struct block carriers[] = {
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96}, /* IPv4-mapped */
    {{0x00, 0x64, 0xff, 0x9b},                   96}, /* NAT64 */
    {{0x20, 0x02},                               16}, /* 6to4 */
};
/* clang-format on */

static bool is_in(const struct block *b, const unsigned char *bytes)
{
    unsigned whole = b->bits / 8, rest = b->bits % 8;

    if (memcmp(b->start, bytes, whole) != 0)
        return false;
    return rest == 0 || (b->start[whole] ^ bytes[whole]) >> (8 - rest) == 0;
}

static bool is_in_any(const struct block *list, size_t count,
                      const unsigned char *bytes)
{
    for (size_t i = 0; i < count; i++)
        if (is_in(&list[i], bytes))
            return true;
    return false;
}

static bool is_public6(const unsigned char *bytes)
{
    for (size_t i = 0; i < COUNT(carriers); i++)
        if (is_in(&carriers[i], bytes))
            return !is_in_any(blocks4, COUNT(blocks4),
                              bytes + carriers[i].bits / 8);
    return !is_in_any(blocks6, COUNT(blocks6), bytes);
}

bool address_is_public(const struct sockaddr *address)
{
    struct sockaddr_in in4;
    struct sockaddr_in6 in6;
    unsigned char bytes[16];

    if (address->sa_family == AF_INET) {
        memcpy(&in4, address, sizeof in4);
        memcpy(bytes, &in4.sin_addr, 4);
        return !is_in_any(blocks4, COUNT(blocks4), bytes);
    }
    if (address->sa_family != AF_INET6)
        return false;
    memcpy(&in6, address, sizeof in6);
    memcpy(bytes, &in6.sin6_addr, 16);
    return is_public6(bytes);
}

bool address_is_loopback(const struct sockaddr *address)
{
    struct sockaddr_in in4;
    struct sockaddr_in6 in6;

    if (address->sa_family == AF_INET) {
        memcpy(&in4, address, sizeof in4);
        return ntohl(in4.sin_addr.s_addr) >> 24 == 127;
    }
    if (address->sa_family != AF_INET6)
        return false;
    memcpy(&in6, address, sizeof in6);
    return IN6_IS_ADDR_LOOPBACK(&in6.sin6_addr);
}

bool address_parse(struct str host, struct sockaddr_storage *out)
{
    struct sockaddr_in in4 = {.sin_family = AF_INET};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
    char text[ADDRESS_TEXT_BYTES];

    if (host.n == 0 || host.n >= sizeof text)
        return false;
    memcpy(text, host.p, host.n);
    text[host.n] = '\0';
    if (text[0] == '[') {
        text[host.n - 1] = '\0';
        if (inet_pton(AF_INET6, text + 1, &in6.sin6_addr) != 1)
            return false;
        memcpy(out, &in6, sizeof in6);
        return true;
    }
    if (inet_aton(text, &in4.sin_addr) == 0)
        return false;
    memcpy(out, &in4, sizeof in4);
    return true;
}

void address_format(const struct sockaddr *address,
                    char out[ADDRESS_TEXT_BYTES])
{
    struct sockaddr_in in4;
    struct sockaddr_in6 in6;
    const char *text = NULL;

    if (address->sa_family == AF_INET) {
        memcpy(&in4, address, sizeof in4);
        text = inet_ntop(AF_INET, &in4.sin_addr, out, ADDRESS_TEXT_BYTES);
    } else if (address->sa_family == AF_INET6) {
        memcpy(&in6, address, sizeof in6);
        text = inet_ntop(AF_INET6, &in6.sin6_addr, out, ADDRESS_TEXT_BYTES);
    }
    if (!text)
        snprintf(out, ADDRESS_TEXT_BYTES, "an address of another family");
}
