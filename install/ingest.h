#ifndef INSTALL_INGEST_H
#define INSTALL_INGEST_H

#include "mapm/package_files.h"

#include "closure.h"

/*
 * ingest: from the bytes of a fetched package to its node: stored, validated,
 * recorded in the index.
 */

/* Reads the dependencies from a document before the other files arrive. */
void ingest_manifest(struct closure *c, struct node *n,
                     const struct fetch_event *event, struct arena *scratch);

/* Prefix of `content` until the files of the package arrive; a digest begins
 * with "sha256:". */
#define OUTLINE_PREFIX "git:"

/* Validates a package by its document, before its other files are fetched. */
MUST_CHECK bool ingest_outline(struct closure *c, struct node *n,
                               const struct fetch_event *event,
                               struct arena *scratch, struct err *e);

/* Ingests a package whose files are in the incoming folder. */
MUST_CHECK bool ingest_package(struct closure *c, struct node *n,
                               const struct fetch_event *event,
                               struct arena *scratch, struct err *e);

/* Replaces a short form by the URL for mapm.yaml and mapm.lock. */
void node_complete_origin(struct closure *c, struct node *n);

void ingest_offers(struct closure *c, struct node *n,
                   const struct fetch_event *event);

/* Ingests files that are in the store already, for a `file:` package: listing,
 * digest, validation. `folder` is the name of its folder or file. */
MUST_CHECK bool ingest_files(struct closure *c, struct node *n,
                             enum doc_kind kind, struct package_file *files,
                             size_t count, struct str folder,
                             struct arena *scratch, struct err *e);

/* Checks that a locked package in the store is what the lock says. The index
 * caches the result. */
MUST_CHECK bool ingest_check_locked(struct closure *c, struct node *n,
                                    struct err *e);

/* Ingests a part made of its plugin's files, with a known digest. */
MUST_CHECK bool ingest_derived(struct closure *c, struct node *n,
                               enum doc_kind kind, struct str own_fqn,
                               struct err *e);

/* Afterwards, checks a part of a locked plugin against the lock. */
MUST_CHECK bool ingest_check_derived(const struct node *n, struct str own_fqn,
                                     struct str version, struct err *e);

/* Validates the patched files of a ready node like a fetched package. A patch
 * may change neither its name nor its dependencies. */
MUST_CHECK bool ingest_patched(struct closure *c, struct node *n,
                               const struct package_file *files, size_t count,
                               struct err *e);

/* Reads and validates the document among files in the store, original or
 * patched. */
MUST_CHECK bool ingest_entry_text(struct closure *c, enum doc_kind kind,
                                  const struct package_files *p,
                                  struct arena *a, struct str *text,
                                  struct err *e);
MUST_CHECK bool ingest_validate(struct closure *c, struct node *n,
                                enum doc_kind kind,
                                const struct package_files *p,
                                struct str folder, struct arena *a,
                                struct document *out, struct err *e);

/* Fills a node from the summary of an earlier validation. Allocated in `a`. */
MUST_CHECK bool node_from_summary(struct closure *c, struct node *n,
                                  enum doc_kind kind, struct str summary,
                                  struct arena *a, struct err *e);

/* Reads the document from the store again, for the command lines of MCP
 * servers. */
MUST_CHECK bool node_read_document(struct closure *c, const struct node *n,
                                   struct arena *a, struct document *out,
                                   struct err *e);

/* Likewise, with its body and program. */
MUST_CHECK bool node_read_whole(struct closure *c, const struct node *n,
                                struct arena *a, struct document *out,
                                struct err *e);
/* Fills node.words from the store. */
MUST_CHECK bool node_find_words(struct closure *c, struct node *n,
                                struct err *e);

/* In nodes.c. */
void node_fail(struct closure *c, struct node *n, const struct err *e);
/* Writes the node and its source to the index of the store. */
MUST_CHECK bool ingest_note(struct closure *c, const struct node *n,
                            struct err *e);
void node_ready(struct closure *c, struct node *n);
/* Adds the dependencies of the node to the closure. */
void node_known(struct closure *c, struct node *n);

#endif
