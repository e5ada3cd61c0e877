#ifndef INSTALL_INGEST_H
#define INSTALL_INGEST_H

#include "mapm/package_files.h"

#include "closure.h"

/*
 * ingest: from the bytes of a fetched package to its node: stored, validated,
 * recorded in the index.
 */

/* Its dependencies, before its other files are here. */
void ingest_manifest(struct closure *c, struct node *n,
                     const struct fetch_event *event, struct arena *scratch);

/* What the content of a package begins with as long as its files are not here
 * (a digest begins with "sha256:"). */
#define OUTLINE_PREFIX "git:"

/* Judged by its document, before any other file of it is fetched. */
MUST_CHECK bool ingest_outline(struct closure *c, struct node *n,
                               const struct fetch_event *event,
                               struct arena *scratch, struct err *e);

/* All its files are in the incoming folder. */
MUST_CHECK bool ingest_package(struct closure *c, struct node *n,
                               const struct fetch_event *event,
                               struct arena *scratch, struct err *e);

/* A short form becomes the URL that mapm.yaml and mapm.lock will hold. */
void node_complete_origin(struct closure *c, struct node *n);

void ingest_offers(struct closure *c, struct node *n,
                   const struct fetch_event *event);

/* Files that are in the store already: listing, digest, validation; for a
 * `file:` package. `folder` is its folder's (file's) name. */
MUST_CHECK bool ingest_files(struct closure *c, struct node *n,
                             enum doc_kind kind, struct package_file *files,
                             size_t count, struct str folder,
                             struct arena *scratch, struct err *e);

/* A locked package that is in the store: is it what the lock says it is?
 * Judged once on this machine, then the index remembers. */
MUST_CHECK bool ingest_check_locked(struct closure *c, struct node *n,
                                    struct err *e);

/* A part out of its plugin's files, whose digest is known. */
MUST_CHECK bool ingest_derived(struct closure *c, struct node *n,
                               enum doc_kind kind, struct str own_fqn,
                               struct err *e);

/* After that: one whose plugin is locked, too, is what the lock says it is. */
MUST_CHECK bool ingest_check_derived(const struct node *n, struct str own_fqn,
                                     struct str version, struct err *e);

/* The files of a ready node with a patch: validated as a fetched package. A
 * patch changes neither its name nor what it needs. */
MUST_CHECK bool ingest_patched(struct closure *c, struct node *n,
                               const struct package_file *files, size_t count,
                               struct err *e);

/* Of files in the store, its own or with a patch: the text of its document,
 * and all that may be wrong with it. */
MUST_CHECK bool ingest_entry_text(struct closure *c, enum doc_kind kind,
                                  const struct package_files *p,
                                  struct arena *a, struct str *text,
                                  struct err *e);
MUST_CHECK bool ingest_validate(struct closure *c, struct node *n,
                                enum doc_kind kind,
                                const struct package_files *p,
                                struct str folder, struct arena *a,
                                struct document *out, struct err *e);

/* From the summary that the index has of an earlier validation. In `a`. */
MUST_CHECK bool node_from_summary(struct closure *c, struct node *n,
                                  enum doc_kind kind, struct str summary,
                                  struct arena *a, struct err *e);

/* The document itself out of the store, read again: for MCP command lines. */
MUST_CHECK bool node_read_document(struct closure *c, const struct node *n,
                                   struct arena *a, struct document *out,
                                   struct err *e);

/* The same with its body, and its program. */
MUST_CHECK bool node_read_whole(struct closure *c, const struct node *n,
                                struct arena *a, struct document *out,
                                struct err *e);
/* node.words of one that was not read now: from the store. */
MUST_CHECK bool node_find_words(struct closure *c, struct node *n,
                                struct err *e);

/* In nodes.c. */
void node_fail(struct closure *c, struct node *n, const struct err *e);
/* The index of the store knows it from now on, and what it was made of. */
MUST_CHECK bool ingest_note(struct closure *c, const struct node *n,
                            struct err *e);
void node_ready(struct closure *c, struct node *n);
/* What it depends on is looked for. */
void node_known(struct closure *c, struct node *n);

#endif
