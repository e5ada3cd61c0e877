#ifndef PLUGIN_CLAUDE_H
#define PLUGIN_CLAUDE_H

#include "check.h"

/* Checks `dependencies` of a manifest or a marketplace entry (C9). `list` may
 * be NULL. */
void claude_check_dependencies(struct checking *c, const struct json *list);

#endif
