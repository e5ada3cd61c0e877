#ifndef STATE_STATEMENTS_H
#define STATE_STATEMENTS_H

/* statements: the SQL statements for mapm.db. */

/* clang-format off */
/* columns that make_run() in runs.c reads, in order */
#define RUN_COLUMNS                                                            \
    "id, name, digest, workspace, started_ms, took_ms, status, error, asker,"  \
    " asks, commands, traces, input_bytes, result_bytes, pid, life"

/* columns that make_event() in events.c reads, in order */
#define EVENT_COLUMNS                                                          \
    "rowid AS row, id, timestamp_us, session_id, turn_id, parent_event_id,"    \
    " type, actor, sensitivity, payload_json"
#define EVENT_FILTER                                                           \
    " FROM events WHERE (?1='' OR type=?1) AND (?2='' OR session_id=?2)"       \
    " AND timestamp_us>=?3"

/* Up to FIND_TRUST those of the index. */
#define STATEMENTS(X) \
    X(FIND_PACKAGE, "SELECT kind, object, digest, summary FROM packages" \
      " WHERE repository=?1 AND commit_id=?2 AND path=?3") \
    X(PUT_PACKAGE, "INSERT OR REPLACE INTO packages" \
      " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)") \
    X(FIND_BLOB, "SELECT hash, size FROM blobs WHERE oid=?1") \
    X(PUT_BLOB, "INSERT OR REPLACE INTO blobs VALUES(?1, ?2, ?3)") \
    X(FIND_REF, "SELECT ref, commit_id, path FROM refs" \
      " WHERE repository=?1 AND rest=?2") \
    X(PUT_REF, "INSERT OR REPLACE INTO refs VALUES(?1, ?2, ?3, ?4, ?5)") \
    X(FIND_TREES, "SELECT hash FROM trees" \
      " WHERE repository=?1 AND commit_id=?2") \
    X(PUT_TREES, "INSERT OR REPLACE INTO trees VALUES(?1, ?2, ?3)") \
    X(FIND_PROOF, "SELECT 1 FROM proofs WHERE repository=?1 AND commit_id=?2" \
      " AND path=?3 AND object=?4 AND digest=?5") \
    /* Digits sort before letters: "g" is behind all commits that it begins. */ \
    X(FIND_COMMIT, "SELECT min(commit_id) FROM proofs WHERE repository=?1" \
      " AND commit_id>?2 AND commit_id<?2 || 'g'" \
      " HAVING min(commit_id)=max(commit_id)") \
    X(PUT_PROOF, "INSERT OR REPLACE INTO proofs VALUES(?1, ?2, ?3, ?4, ?5)") \
    X(FIND_REACHABLE, "SELECT 1 FROM proved" \
      " WHERE repository=?1 AND commit_id=?2") \
    X(PUT_REACHABLE, "INSERT OR IGNORE INTO proved VALUES(?1, ?2)") \
    X(FIND_HOST, "SELECT caps FROM hosts WHERE place=?1" \
      " AND since_s>?2 AND since_s<=?3") \
    X(PUT_HOST, "INSERT OR REPLACE INTO hosts VALUES(?1, ?2, ?3)") \
    X(PUT_WORKSPACE, "INSERT OR IGNORE INTO workspaces VALUES(?1)") \
    X(LIST_WORKSPACES, "SELECT path FROM workspaces ORDER BY path") \
    X(FORGET_WORKSPACE, "DELETE FROM workspaces WHERE path=?1") \
    X(COUNT_PACKAGES, "SELECT count(DISTINCT digest) FROM packages") \
    X(COUNT_WORKSPACES, "SELECT count(*) FROM workspaces") \
    X(FIND_TRUST, "SELECT folder FROM trust" \
      " WHERE kind=?1 AND subject=?2 AND digest=?3") \
    X(PUT_TRUST, "INSERT INTO trust VALUES(?1, ?2, ?3, ?4, ?5)" \
      " ON CONFLICT DO UPDATE SET since_ms=excluded.since_ms," \
      " folder=excluded.folder WHERE folder<>excluded.folder") \
    X(FORGET_TRUST, "DELETE FROM trust WHERE kind=?1 AND subject=?2") \
    X(LIST_TRUST, "SELECT kind, subject, digest, since_ms, folder FROM trust" \
      " ORDER BY kind, subject, since_ms DESC, digest") \
    X(BEGIN_RUN, "INSERT INTO runs VALUES(NULL, ?1, ?2, ?3, ?4, 0, 'running'," \
      " x'', ?5, 0, 0, 0, ?6, 0, ?7, ?8, 0)") \
    X(COUNT_DETAILS, "SELECT CAST(min(total(detail_bytes), 9e18) AS INTEGER)" \
      " FROM runs") \
    /* The newest of those that younger ones leave no room for. */ \
    X(CROWDED_RUNS, "SELECT max(id) FROM (SELECT id, total(detail_bytes) OVER" \
      " (ORDER BY id DESC ROWS UNBOUNDED PRECEDING) AS bytes" \
      " FROM runs) WHERE bytes>?1") \
    X(FORGET_RUNS, "DELETE FROM runs WHERE id<=?1") \
    X(FORGET_DETAILS, "DELETE FROM details WHERE id<=?1") \
    X(END_RUN, "UPDATE runs SET took_ms=?2, status=?3, error=?4, asker=?5," \
      " asks=?6, commands=?7, traces=?8, input_bytes=?9," \
      " result_bytes=?10, pid=0, life=x'', detail_bytes=?11" \
      " WHERE id=?1") \
    X(PUT_DETAIL, "INSERT OR REPLACE INTO details SELECT id, ?2 FROM runs" \
      " WHERE id=?1") \
    X(LIST_RUNS, "SELECT " RUN_COLUMNS " FROM runs ORDER BY id DESC LIMIT ?1") \
    X(LIST_RUNS_OF, "SELECT " RUN_COLUMNS " FROM runs WHERE workspace=?2" \
      " ORDER BY id DESC LIMIT ?1") \
    X(FIND_RUN, "SELECT " RUN_COLUMNS ", coalesce((SELECT detail FROM details" \
      " d WHERE d.id=r.id), x'') FROM runs r WHERE id=?1") \
    X(PUT_EVENT, "INSERT INTO events VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8," \
      " ?9)") \
    X(FORGET_EVENTS, "DELETE FROM events WHERE rowid<=?1") \
    X(LIST_EVENTS, "SELECT * FROM (SELECT " EVENT_COLUMNS EVENT_FILTER " ORDER BY rowid DESC LIMIT ?4) ORDER BY row") \
    X(FOLLOW_EVENTS, "SELECT " EVENT_COLUMNS EVENT_FILTER " AND rowid>?5 ORDER BY rowid LIMIT ?4") \
    X(FIND_SESSION, "SELECT state FROM sessions WHERE id=?1") \
    X(PUT_SESSION, "INSERT OR REPLACE INTO sessions VALUES(?1, ?2, ?3)") \
    /* A row that is put again gets a new, the highest, rowid. */ \
    X(FORGET_SESSIONS, "DELETE FROM sessions WHERE rowid<=(SELECT rowid FROM" \
      " sessions ORDER BY rowid DESC LIMIT 1 OFFSET ?1)") \
    X(FIND_LIBRARY, "SELECT rowid FROM libraries WHERE root=?1") \
    X(PUT_LIBRARY, "INSERT OR REPLACE INTO libraries VALUES(?1, ?2, ?3)") \
    /* All but the newest ?1 that have at most ?2 bytes together. */ \
    X(FORGET_LIBRARIES, "DELETE FROM libraries WHERE rowid<=(SELECT max(row)" \
      " FROM (SELECT rowid AS row, row_number() OVER w AS n," \
      " sum(length(bytes)) OVER w AS bytes FROM libraries" \
      " WINDOW w AS (ORDER BY rowid DESC" \
      " ROWS UNBOUNDED PRECEDING))" \
      " WHERE n>?1 OR bytes>?2)") \
    X(FIND_SOURCE, "SELECT id, key, stamp, entries FROM sources" \
      " WHERE kind=?1 AND key=?2") \
    X(LIST_SOURCES, "SELECT id, key, stamp, entries FROM sources" \
      " WHERE kind=?1 ORDER BY key") \
    X(FIND_STAMP, "SELECT put_us FROM sources WHERE id=?1") \
    X(PUT_SOURCE, "INSERT INTO sources VALUES(NULL, ?1, ?2, x'', 0, 0, x'')") \
    X(END_SOURCE, "UPDATE sources SET stamp=?2, put_us=?3, entries=?4," \
      " texts=?5 WHERE id=?1") \
    X(PUT_STAMP, "UPDATE sources SET stamp=?3 WHERE kind=?1 AND key=?2") \
    X(FORGET_SOURCE, "DELETE FROM sources WHERE id=?1") \
    /* The oldest library, when there are more than ?1 or ?2 entries. */ \
    X(OLDEST_SOURCE, "SELECT id FROM sources WHERE kind=0 AND" \
      " (SELECT count(*)>?1 OR (count(*)>1 AND sum(entries)>?2)" \
      " FROM sources WHERE kind=0) ORDER BY put_us, id LIMIT 1") \
    X(LIST_ENTRIES, "SELECT id, hash FROM entries WHERE id BETWEEN ?1 AND ?2") \
    X(FIND_ENTRY, "SELECT name, description, tags, data FROM entries" \
      " WHERE id=?1") \
    X(PUT_ENTRY, "INSERT INTO entries VALUES(?1, ?2, ?3, ?4, ?5, ?6)") \
    X(PUT_WORDS, "INSERT INTO words(rowid, name, description, tags)" \
      " VALUES(?1, ?2, ?3, ?4)") \
    X(FORGET_WORDS, "INSERT INTO words(words, rowid, name, description, tags)" \
      " SELECT 'delete', id, name, description, tags FROM entries" \
      " WHERE id BETWEEN ?1 AND ?2") \
    X(FORGET_ENTRIES, "DELETE FROM entries WHERE id BETWEEN ?1 AND ?2") \
    X(RATE_ENTRIES, "SELECT rate_entry(words) FROM words WHERE words MATCH ?1")
/* clang-format on */

#endif
