#ifndef LIBMAPM_ENGINE_CLIENT_H
#define LIBMAPM_ENGINE_CLIENT_H

#include <pthread.h>
#include <sys/types.h>

#include "engine_wire.h"

/*
 * engine_client: the connection of libmapm to mapm-engine.
 *
 *     client_begin()    discards previous results and starts the engine
 *     client_finish()   calls the host until the operation ends or is planned
 *
 * On failure both set m->error.
 */

struct mapm {
    struct arena own; /* for the options */
    struct mapm_options options;
    const char *executable; /* path of mapm-engine */

    struct arena arena; /* for the last operation */
    struct mapm_error error;
    struct wire_message results[WIRE_TYPE_COUNT];
    const struct mapm_run_request *run; /* request with the callbacks to call */

    int fd;    /* socket to the engine; -1 if none is running */
    pid_t pid; /* process of the engine; 0 if none */
    bool is_planned;

    pthread_mutex_t lock; /* protects the members that mapm_cancel uses */
    int lifeline;         /* a byte or its close interrupts the engine; or -1 */
    bool is_canceled;
};

bool client_begin(struct mapm *m, enum wire_type type, const void *request);
bool client_finish(struct mapm *m);

/* Sends a reply to a message of the engine. */
bool client_reply(struct mapm *m, const struct wire_answer *answer);

/* Closes the connection; the engine abandons an unfinished operation. */
void client_end(struct mapm *m);

bool client_fail(struct mapm *m, const struct err *e);

#endif
