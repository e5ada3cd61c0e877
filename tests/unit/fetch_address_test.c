/* Addresses that a host may not turn out to have: [row 47]. */
#include <arpa/inet.h>
#include <curl/curl.h>
#include <git2.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "../../fetch/worker/http.h"
#include "tap.h"

/* clang-format off */
static const struct {
    const char *text;
    bool is_public;
} rows[] = {
    {"140.82.121.4", true}, {"8.8.8.8", true}, {"1.1.1.1", true},
    {"9.255.255.255", true}, {"11.0.0.0", true}, {"128.0.0.0", true},
    {"100.63.255.255", true}, {"100.128.0.0", true},
    {"172.15.255.255", true}, {"172.32.0.0", true},
    {"198.17.255.255", true}, {"198.20.0.0", true}, {"223.255.255.255", true},
    {"0.0.0.0", false}, {"0.1.2.3", false},
    {"10.0.0.1", false}, {"10.255.255.255", false},
    {"100.64.0.1", false}, {"100.127.255.255", false},
    {"127.0.0.1", false}, {"127.255.255.255", false},
    {"169.254.169.254", false}, {"172.16.0.1", false},
    {"172.31.255.255", false}, {"192.0.0.1", false}, {"192.168.1.1", false},
    {"198.18.0.1", false}, {"198.19.255.255", false},
    {"224.0.0.1", false}, {"239.255.255.255", false},
    {"240.0.0.1", false}, {"255.255.255.255", false},
    {"2606:50c0:8000::153", true}, {"2a00:1450::1", true},
    {"::", false}, {"::1", false}, {"::7f00:1", false},
    {"fc00::1", false}, {"fd12:3456::1", false},
    {"fe80::1", false}, {"febf::1", false}, {"fec0::1", false},
    {"ff02::1", false}, {"100::1", false},
    {"2001::1", false}, {"2001:db8::1", false}, {"2001:200::1", true},
    {"::ffff:140.82.121.4", true}, {"::ffff:127.0.0.1", false},
    {"::ffff:169.254.169.254", false},
    {"64:ff9b::140.82.121.4", true}, {"64:ff9b::10.0.0.1", false},
    {"64:ff9b:1::8c52:7904", false}, {"::ffff:0:10.0.0.1", false},
    {"3fff::1", false}, {"2002:8c52:7904::1", true}, {"2002:a00:1::1", false},
};
/* clang-format on */

static void fill(const char *text, struct sockaddr_storage *out)
{
    struct sockaddr_in in4 = {.sin_family = AF_INET};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};

    if (inet_pton(AF_INET, text, &in4.sin_addr) == 1)
        memcpy(out, &in4, sizeof in4);
    else if (inet_pton(AF_INET6, text, &in6.sin6_addr) == 1)
        memcpy(out, &in6, sizeof in6);
    else
        abort();
}

TEST(which_addresses_are_public)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sockaddr_storage s = {0};
        char text[ADDRESS_TEXT_BYTES];

        fill(rows[i].text, &s);
        address_format((const struct sockaddr *)&s, text);
        CHECK_STR(address_is_public((const struct sockaddr *)&s) ==
                          rows[i].is_public
                      ? ""
                      : text,
                  "");
    }
}

TEST(an_address_in_words)
{
    struct sockaddr_storage s = {0};
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    char text[ADDRESS_TEXT_BYTES];

    fill("169.254.169.254", &s);
    address_format((const struct sockaddr *)&s, text);
    CHECK_STR(text, "169.254.169.254");
    fill("fe80::1", &s);
    address_format((const struct sockaddr *)&s, text);
    CHECK_STR(text, "fe80::1");
    memset(&s, 0, sizeof s);
    memcpy(&s, &local, sizeof local < sizeof s ? sizeof local : sizeof s);
    address_format((const struct sockaddr *)&s, text);
    CHECK_STR(text, "an address of another family");
    CHECK(!address_is_public((const struct sockaddr *)&s));
}

/* A port of this machine that takes connections; its number in `*port`. */
static int open_listener(unsigned *port)
{
    struct sockaddr_in in4 = {.sin_family = AF_INET};
    socklen_t n = sizeof in4;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    in4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || bind(fd, (struct sockaddr *)&in4, sizeof in4) < 0 ||
        listen(fd, 1) < 0 || getsockname(fd, (struct sockaddr *)&in4, &n) < 0)
        abort();
    *port = ntohs(in4.sin_port);
    return fd;
}

TEST(a_name_that_leads_to_this_machine_is_not_connected_to)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(settings_done) struct settings s;
    struct limits limits = limits_default;
    struct http_call call = {.public_only = true};
    static struct http *http; /* ends with the process */
    struct url url;
    struct err e = {0};
    unsigned port;
    int fd = open_listener(&port);
    bool is_connected = false;

    setenv("HOME", "/nonexistent", 1);
    setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
    unsetenv("http_proxy");
    unsetenv("all_proxy");
    unsetenv("ALL_PROXY");
    curl_global_init(CURL_GLOBAL_DEFAULT);
    git_libgit2_init();
    CHECK(settings_load(&s, NULL, 0, &e));
    http = http_open(&s, &limits);
    CHECK(url_parse(arena_printf(&a, "http://localhost:%u/a.git", port), &a,
                    &url));
    call.url = &url;
    call.query = STR("service=git-upload-pack");
    CHECK(http_start(http, &call, &e));
    while (http_next(http) == NULL && !is_connected) {
        http_wait(http, NULL, 0, 100);
        is_connected = accept(fd, NULL, NULL) >= 0;
    }
    CHECK(!is_connected);
    CHECK(call.failure != 0 && !http_may_retry(&call));
    CHECK(!http_fail(&call, &e) && e.code == ERR_REFUSED);
    CHECK(strstr(err_first(&e), "a private address") != NULL);
    http_call_done(&call);
    close(fd);
}
