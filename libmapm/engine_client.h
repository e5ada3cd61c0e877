#ifndef LIBMAPM_ENGINE_CLIENT_H
#define LIBMAPM_ENGINE_CLIENT_H

#include <pthread.h>
#include <sys/types.h>

#include "engine_wire.h"

/*
 * client: one conversation with mapm-engine.
 *
 *     client_begin()   forgets the results before, starts the engine
 *     client_finish()  calls the host until the operation ends or is planned
 *
 * On failure both have set m->error.
 */

struct mapm {
    struct arena own; /* the options */
    struct mapm_options options;
    const char *executable; /* mapm-engine */

    struct arena arena; /* of the last operation */
    struct mapm_error error;
    struct wire_message results[WIRE_TYPE_COUNT];
    const struct mapm_run_request *run; /* whose callbacks are called */

    int fd;    /* of the engine; -1: none runs */
    pid_t pid; /* of the engine; 0: none */
    bool is_planned;

    pthread_mutex_t lock; /* of what mapm_cancel uses: */
    int lifeline; /* a byte or its end interrupts the engine; -1: none */
    bool is_canceled;
};

bool client_begin(struct mapm *m, enum wire_type type, const void *request);
bool client_finish(struct mapm *m);

/* Sends a reply to a message of the engine. */
bool client_reply(struct mapm *m, const struct wire_answer *answer);

/* Closes the connection; the engine leaves an unfinished operation. */
void client_end(struct mapm *m);

bool client_fail(struct mapm *m, const struct err *e);

#endif
