#ifndef PLUGIN_CLAUDE_H
#define PLUGIN_CLAUDE_H

#include "check.h"

/* C9, of a manifest or an entry of a marketplace; NULL: none. */
void claude_check_dependencies(struct checking *c, const struct json *list);

#endif
