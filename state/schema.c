#include "database.h"

/* Tables and statements. Each version of the schema is a step; an older mapm.db
 * is migrated by the missing steps in one transaction. */

const char *const db_schema[DB_VERSION] = {
    /* 1: the index */
    "CREATE TABLE packages(repository TEXT, commit_id TEXT, path TEXT,"
    " kind INTEGER NOT NULL, object TEXT NOT NULL, digest BLOB NOT NULL,"
    " summary BLOB NOT NULL, PRIMARY KEY(repository, commit_id, path))"
    " WITHOUT ROWID;"
    "CREATE TABLE blobs(oid TEXT PRIMARY KEY, hash BLOB NOT NULL,"
    " size INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE refs(repository TEXT, rest TEXT, ref TEXT NOT NULL,"
    " commit_id TEXT NOT NULL, path TEXT NOT NULL,"
    " PRIMARY KEY(repository, rest)) WITHOUT ROWID;"
    "CREATE TABLE trees(repository TEXT, commit_id TEXT, hash BLOB NOT NULL,"
    " PRIMARY KEY(repository, commit_id)) WITHOUT ROWID;"
    "CREATE TABLE proved(repository TEXT, commit_id TEXT,"
    " PRIMARY KEY(repository, commit_id)) WITHOUT ROWID;"
    "CREATE TABLE workspaces(path BLOB PRIMARY KEY) WITHOUT ROWID;",

    /* 2: trust and history. Steps of runs are in a separate table, so that
     * listing runs, and counting bytes, reads few pages: so few that an index
     * of workspaces is not worth its upkeep. */
    "CREATE TABLE trust(kind INTEGER, subject BLOB, digest BLOB,"
    " since_ms INTEGER NOT NULL, PRIMARY KEY(kind, subject, digest))"
    " WITHOUT ROWID;"
    "CREATE TABLE runs(id INTEGER PRIMARY KEY, name BLOB NOT NULL,"
    " digest BLOB NOT NULL, workspace BLOB NOT NULL,"
    " started_ms INTEGER NOT NULL, took_ms INTEGER NOT NULL,"
    " status BLOB NOT NULL, error BLOB NOT NULL, asker BLOB NOT NULL,"
    " asks INTEGER NOT NULL, commands INTEGER NOT NULL,"
    " traces INTEGER NOT NULL, input_bytes INTEGER NOT NULL,"
    " result_bytes INTEGER NOT NULL, pid INTEGER NOT NULL,"
    " life BLOB NOT NULL, detail_bytes INTEGER NOT NULL);"
    "CREATE TABLE details(id INTEGER PRIMARY KEY, detail BLOB NOT NULL);",

    /* 3: the library. Events have the columns of T25, and keep their rowid:
     * the order of writing, since ids of two processes may come crosswise. */
    "CREATE TABLE events(id TEXT PRIMARY KEY, timestamp_us INTEGER NOT NULL,"
    " session_id TEXT NOT NULL, turn_id TEXT, parent_event_id TEXT,"
    " type TEXT NOT NULL, actor TEXT NOT NULL, sensitivity TEXT NOT NULL,"
    " payload_json TEXT NOT NULL);"
    "CREATE INDEX events_session ON events(session_id, timestamp_us);"
    "CREATE INDEX events_type ON events(type, timestamp_us);"
    "CREATE INDEX events_turn ON events(turn_id) WHERE turn_id IS NOT NULL;"
    "CREATE INDEX events_parent ON events(parent_event_id)"
    " WHERE parent_event_id IS NOT NULL;"
    "CREATE TABLE sessions(id BLOB PRIMARY KEY, used_ms INTEGER NOT NULL,"
    " state BLOB NOT NULL);"
    "CREATE TABLE libraries(root BLOB PRIMARY KEY, used_ms INTEGER NOT NULL,"
    " bytes BLOB NOT NULL);",

    /* 4: trust of a workspace applies to one folder; '' is none, of an older
     * row. */
    "ALTER TABLE trust ADD COLUMN folder BLOB NOT NULL DEFAULT x'';",

    /* 5: verified content of commits. Not `packages`, which an older mapm
     * filled: a row is written only after the trees were walked. */
    "CREATE TABLE proofs(repository TEXT, commit_id TEXT, path TEXT,"
    " object TEXT NOT NULL, digest BLOB NOT NULL,"
    " PRIMARY KEY(repository, commit_id, path)) WITHOUT ROWID;",

    /* 6: the search. The id of an entry has its source's in the upper bits, so
     * that the entries of one are a range. */
    "CREATE TABLE sources(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL,"
    " key BLOB NOT NULL, stamp BLOB NOT NULL, put_us INTEGER NOT NULL,"
    " entries INTEGER NOT NULL, texts BLOB NOT NULL, UNIQUE(kind, key));"
    "CREATE TABLE entries(id INTEGER PRIMARY KEY, hash INTEGER NOT NULL,"
    " name TEXT NOT NULL, description TEXT NOT NULL, tags TEXT NOT NULL,"
    " data BLOB NOT NULL);"
    "CREATE VIRTUAL TABLE words USING fts5(name, description, tags,"
    " content='entries', content_rowid='id', columnsize=0,"
    " tokenize='porter unicode61 remove_diacritics 2');",

    /* 7: what git servers can do */
    "CREATE TABLE hosts(place TEXT PRIMARY KEY, caps TEXT NOT NULL,"
    " since_s INTEGER NOT NULL) WITHOUT ROWID;",
};

const char *const db_texts[STATEMENT_COUNT] = {
#define SQL(id, text) [id] = (text),
    STATEMENTS(SQL)};
