#include "database.h"

/*
 * Tables and statements. A new version of the schema is a new step: an older
 * mapm.db gets the missing steps in one transaction.
 */

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
};

/* The columns that make_run of runs.c reads, in order. */
#define RUN_COLUMNS                                                            \
    "id, name, digest, workspace, started_ms, took_ms, status, error, asker,"  \
    " asks, commands, traces, input_bytes, result_bytes, pid, life"

/* The columns that make_event of events.c reads, in order. */
#define EVENT_COLUMNS                                                          \
    "rowid AS row, id, timestamp_us, session_id, turn_id, parent_event_id,"    \
    " type, actor, sensitivity, payload_json"
#define EVENT_FILTER                                                           \
    " FROM events WHERE (?1='' OR type=?1) AND (?2='' OR session_id=?2)"       \
    " AND timestamp_us>=?3"

const char *const db_texts[STATEMENT_COUNT] = {
    [FIND_PACKAGE] = "SELECT kind, object, digest, summary FROM packages"
                     " WHERE repository=?1 AND commit_id=?2 AND path=?3",
    [PUT_PACKAGE] = "INSERT OR REPLACE INTO packages"
                    " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    [FIND_BLOB] = "SELECT hash, size FROM blobs WHERE oid=?1",
    [PUT_BLOB] = "INSERT OR REPLACE INTO blobs VALUES(?1, ?2, ?3)",
    [FIND_REF] = "SELECT ref, commit_id, path FROM refs"
                 " WHERE repository=?1 AND rest=?2",
    [PUT_REF] = "INSERT OR REPLACE INTO refs VALUES(?1, ?2, ?3, ?4, ?5)",
    [FIND_TREES] = "SELECT hash FROM trees"
                   " WHERE repository=?1 AND commit_id=?2",
    [PUT_TREES] = "INSERT OR REPLACE INTO trees VALUES(?1, ?2, ?3)",
    [FIND_PROOF] = "SELECT 1 FROM proofs WHERE repository=?1 AND commit_id=?2"
                   " AND path=?3 AND object=?4 AND digest=?5",
    [PUT_PROOF] = "INSERT OR REPLACE INTO proofs VALUES(?1, ?2, ?3, ?4, ?5)",
    [FIND_REACHABLE] = "SELECT 1 FROM proved"
                       " WHERE repository=?1 AND commit_id=?2",
    [PUT_REACHABLE] = "INSERT OR IGNORE INTO proved VALUES(?1, ?2)",
    [PUT_WORKSPACE] = "INSERT OR IGNORE INTO workspaces VALUES(?1)",
    [LIST_WORKSPACES] = "SELECT path FROM workspaces ORDER BY path",
    [FORGET_WORKSPACE] = "DELETE FROM workspaces WHERE path=?1",
    [COUNT_PACKAGES] = "SELECT count(DISTINCT digest) FROM packages",
    [COUNT_WORKSPACES] = "SELECT count(*) FROM workspaces",

    [FIND_TRUST] = "SELECT folder FROM trust"
                   " WHERE kind=?1 AND subject=?2 AND digest=?3",
    [PUT_TRUST] = "INSERT INTO trust VALUES(?1, ?2, ?3, ?4, ?5)"
                  " ON CONFLICT DO UPDATE SET since_ms=excluded.since_ms,"
                  " folder=excluded.folder WHERE folder<>excluded.folder",
    [FORGET_TRUST] = "DELETE FROM trust WHERE kind=?1 AND subject=?2",
    [LIST_TRUST] = "SELECT kind, subject, digest, since_ms, folder FROM trust"
                   " ORDER BY kind, subject, since_ms DESC, digest",

    [BEGIN_RUN] = "INSERT INTO runs VALUES(NULL, ?1, ?2, ?3, ?4, 0, 'running',"
                  " x'', ?5, 0, 0, 0, ?6, 0, ?7, ?8, 0)",
    [COUNT_DETAILS] = "SELECT CAST(min(total(detail_bytes), 9e18) AS INTEGER)"
                      " FROM runs",
    /* The newest of those that younger ones leave no room for. */
    [CROWDED_RUNS] = "SELECT max(id) FROM (SELECT id, total(detail_bytes) OVER"
                     " (ORDER BY id DESC ROWS UNBOUNDED PRECEDING) AS bytes"
                     " FROM runs) WHERE bytes>?1",
    [FORGET_RUNS] = "DELETE FROM runs WHERE id<=?1",
    [FORGET_DETAILS] = "DELETE FROM details WHERE id<=?1",
    [END_RUN] = "UPDATE runs SET took_ms=?2, status=?3, error=?4, asker=?5,"
                " asks=?6, commands=?7, traces=?8, input_bytes=?9,"
                " result_bytes=?10, pid=0, life=x'', detail_bytes=?11"
                " WHERE id=?1",
    [PUT_DETAIL] = "INSERT OR REPLACE INTO details SELECT id, ?2 FROM runs"
                   " WHERE id=?1",
    [LIST_RUNS] = "SELECT " RUN_COLUMNS " FROM runs ORDER BY id DESC LIMIT ?1",
    [LIST_RUNS_OF] = "SELECT " RUN_COLUMNS " FROM runs WHERE workspace=?2"
                     " ORDER BY id DESC LIMIT ?1",
    [FIND_RUN] = "SELECT " RUN_COLUMNS ", coalesce((SELECT detail FROM details"
                 " d WHERE d.id=r.id), x'') FROM runs r WHERE id=?1",

    [PUT_EVENT] = "INSERT INTO events VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,"
                  " ?9)",
    [FORGET_EVENTS] = "DELETE FROM events WHERE rowid<=?1",
    [LIST_EVENTS] = "SELECT * FROM (SELECT " EVENT_COLUMNS EVENT_FILTER
                    " ORDER BY rowid DESC LIMIT ?4) ORDER BY row",
    [FOLLOW_EVENTS] = "SELECT " EVENT_COLUMNS EVENT_FILTER
                      " AND rowid>?5 ORDER BY rowid LIMIT ?4",
    [FIND_SESSION] = "SELECT state FROM sessions WHERE id=?1",
    [PUT_SESSION] = "INSERT OR REPLACE INTO sessions VALUES(?1, ?2, ?3)",
    /* A row that is put again gets a new, the highest, rowid. */
    [FORGET_SESSIONS] = "DELETE FROM sessions WHERE rowid<=(SELECT rowid FROM"
                        " sessions ORDER BY rowid DESC LIMIT 1 OFFSET ?1)",
    [FIND_LIBRARY] = "SELECT rowid FROM libraries WHERE root=?1",
    [PUT_LIBRARY] = "INSERT OR REPLACE INTO libraries VALUES(?1, ?2, ?3)",
    /* All but the newest ?1 that have at most ?2 bytes together. */
    [FORGET_LIBRARIES] = "DELETE FROM libraries WHERE rowid<=(SELECT max(row)"
                         " FROM (SELECT rowid AS row, row_number() OVER w AS n,"
                         " sum(length(bytes)) OVER w AS bytes FROM libraries"
                         " WINDOW w AS (ORDER BY rowid DESC"
                         " ROWS UNBOUNDED PRECEDING))"
                         " WHERE n>?1 OR bytes>?2)",
};
