#ifndef MAPM_LIMITS_H
#define MAPM_LIMITS_H

#include "base/err.h"
#include "base/str.h"

/*
 * limits: how much an input may cost. One page, so that one look answers it.
 * Those of struct limits may be changed: raised by the user's own
 * configuration alone, lowered by a workspace, too.
 * Source: THREATS.md 7 unless a line says otherwise.
 */

/* clang-format off */
#define NAME_MAX_CHARS             64      /* MetaAgents, naming rules */
#define SCOPE_MAX_CHARS            64      /* MetaAgents, naming rules */
#define MCP_NAME_MAX_CHARS         200     /* MetaAgents, MCP names */
#define DESCRIPTION_MAX_CHARS      1024    /* Agent Skills */
#define COMPATIBILITY_MAX_CHARS    500     /* Agent Skills */
#define BODY_WARN_TOKENS           5000    /* Metis, T12 */
#define BODY_WARN_LINES            500     /* Agent Skills, A5 */
#define BODY_WARN_CHARS            20000   /* metaSKILL, K7 */
#define PROGRAM_MAX_BYTES          (64u * 1024)          /* metaSKILL, 3 */
#define MCP_KEY_MAX_CHARS          37      /* X21 */

#define FRONTMATTER_MAX_BYTES      (64u * 1024)
#define FRONTMATTER_MAX_DEPTH      16
#define FRONTMATTER_MAX_NODES      10000
#define ANCHOR_MAX_BYTES           (1024u * 1024)        /* SKILL.md, AGENTS.md */
#define MCP_MAX_BYTES              (256u * 1024)
#define MCP_MAX_DEPTH              64
#define CHANGELOG_MAX_BYTES        (1024u * 1024)
#define PROJECT_MAX_BYTES          (16u * 1024 * 1024)   /* mapm.yaml, config.yaml */
#define CHECKOUT_CONFIG_MAX_BYTES  (1024u * 1024)        /* .git/config */
#define CHECKOUT_INDEX_MAX_BYTES   (256u * 1024 * 1024)  /* .git/index: 2,000,000 files */
#define CHECKOUT_MAX_REMOTES       64                    /* urls of one configuration */
#define PROJECT_MAX_NODES          200000  /* twice GRAPH_MAX_PACKAGES */
#define MEMBERS_MAX                500     /* a descriptor each */
#define MEMBER_PATTERNS_MAX        500
#define MEMBER_MAX_BYTES           1024    /* of its path in the workspace */
#define MEMBER_FOLDERS_MAX         10000   /* looked at for a pattern */
#define LOCK_MAX_BYTES             (64u * 1024 * 1024)   /* some 450 bytes a package */
#define CLIENT_FILE_MAX_BYTES      (4u * 1024 * 1024)    /* .mcp.json … */
#define USER_FILE_MAX_BYTES        (4u * 1024 * 1024)    /* … at user level */
#define USER_COPIES_KEPT           10      /* times of which there are copies */
#define CLIENT_FILE_MAX_DEPTH      64
#define ORIGIN_MAX_BYTES           2048
#define CATALOG_MAX_GLOBS          256     /* in one list of a catalog in mapm.yaml */
#define REF_MAX_BYTES              1024    /* a branch or tag, of ORIGIN_MAX_BYTES */

#define MARKETPLACE_MAX_BYTES      (16u * 1024 * 1024)   /* PLUGINS.md row 43 */
#define MARKETPLACE_MAX_ENTRIES    10000
#define MARKETPLACE_MAX_NODES      1000000
#define CATALOGS_MAX               64      /* that a user adds */
#define AGENT_INDEX_MAX_BYTES      (32u * 1024 * 1024)   /* .well-known; what one answer may have */
#define AGENT_INDEX_MAX_ENTRIES    100000  /* V78 */
#define AGENT_INDEX_MAX_NODES      2000000
#define AGENT_INDEX_MAX_REDIRECTS  5
#define AGENT_INDEX_MAX_SECONDS    60
#define ARCHIVE_MAX_BYTES          (64u * 1024 * 1024)   /* PLUGINS.md row 45 */
#define ARCHIVE_MAX_FILES          5000
#define ARCHIVE_MAX_RATIO          200     /* of what it holds to its own size, … */
#define ARCHIVE_FREE_BYTES         (1024u * 1024)        /* … beyond these */
#define ARTIFACT_MAX_BYTES         (32u * 1024 * 1024)   /* of an index, as sent */
#define CATALOG_URL_MAX_BYTES      1024
#define PLUGIN_MANIFEST_MAX_BYTES  (256u * 1024)
#define PLUGIN_OUTSIDE_MAX_BYTES   (4u * 1024 * 1024)    /* their paths */
#define PLUGIN_MAX_DEPTH           32
#define PLUGIN_MAX_SKILLS          1000
#define PLUGIN_MAX_SERVERS         100
#define PLUGIN_MAX_AGENTS          200
#define PATCHES_MAX_FILES          10000   /* of a workspace */
#define PATCHES_MAX_BYTES          (64u * 1024 * 1024)   /* of all of them */

#define PACKAGE_MAX_FILES          5000
#define PACKAGE_MAX_BYTES          (64ull * 1024 * 1024)
#define FILE_MAX_BYTES             (32ull * 1024 * 1024)
#define PACKAGE_MAX_DEPTH          32
#define PACKAGE_PATH_MAX_BYTES     512
#define LISTING_MAX_BYTES          (64u * 1024 * 1024)   /* its lines have up to 600 */

#define TRANSFER_MAX_BYTES         (256ull * 1024 * 1024)
#define TRANSFER_MAX_OBJECTS       1000000
#define FETCH_BASES_MAX            16      /* commits that a thin pack builds on */
#define CA_MAX_BYTES               (16u * 1024 * 1024)    /* of certificates, a file */
#define CA_MAX_FILES               20000   /* in a folder of them */
/* Of all trees of the commits, before only those on the way are asked for. */
#define FETCH_TREES_MAX_BYTES      (64 * 1024)
#define FETCH_WALK_MAX_PACKAGES    15      /* of a commit; of more: all its trees */
#define TRANSFER_MAX_REFS          1000000
#define TRANSFER_MAX_REFS_BYTES    (64u * 1024 * 1024)   /* of an answer that lists them */
#define PACKAGE_MAX_TAGS           20000   /* that are versions of it */
#define FETCH_CAPS_MAX_BYTES       256     /* of a server, in the store */
#define FETCH_CAPS_MAX_DAYS        7
#define REF_MAX_SEGMENTS           16      /* each is a path that the lock could mean */
#define TRANSFER_MAX_IDLE_BYTES    (64u * 1024)          /* progress text … (F3) */
#define PACKED_SLACK_BYTES         4096    /* above twice an object's size (F3) */
#define ANSWER_MAX_STALLS          4       /* transfer_stall_seconds for all of an answer without a pack */
#define TRANSFER_MAX_LINES         4096    /* before a pack: FETCH_WANTS_MAX, twice */
#define TRANSFER_MAX_SECONDS       600
#define TRANSFER_STALL_SECONDS     30
#define CONNECT_MAX_SECONDS        15

#define GRAPH_MAX_PACKAGES         100000
#define GRAPH_MAX_DEPTH            1000
#define GRAPH_MAX_EDGES            1000000
#define TREE_MAX_INDENT            50      /* levels that mapm tree draws */
#define LEFT_OUT_MAX_LINKS         100000  /* of complete chains to what --all leaves out */
#define ERROR_MAX_LINES            20

#define WORKSPACE_WAIT_SECONDS     60      /* DESIGN.md 7 */
#define SYNC_MAX_FILES             200     /* more: syncfs, DESIGN.md 7 */
#define SYNC_MAX_THREADS           8       /* each waits for the disk */
#define STORE_WAIT_SECONDS         60      /* for another user of the store */
#define DOWNLOAD_WAIT_SECONDS      120     /* for another process's download (F11) */
#define DOWNLOAD_MAX_LOCKS         64      /* a descriptor each */
#define DOWNLOAD_REFS_MAX_BYTES    (1024u * 1024)        /* a file in store/locks */
#define STORE_GC_MIN_AGE_SECONDS   3600    /* DESIGN.md 4 */
#define STORE_MEND_MAX_TRIES       4       /* a listing, a document, files */
#define PACK_OBJECT_MAX_BYTES      (64u * 1024) /* from here on: a file each */
#define PART_MAX_BYTES             (16u * 1024 * 1024) /* a file of small ones that arrive */
#define PACK_MIN_OBJECTS           16      /* fewer of one fetch: a file each */
#define PACK_MAX_OBJECTS           1000000
#define PACKS_MAX                  16      /* more: the smaller half is merged */
#define CHECK_MAX_FILES            1000000

#define RUN_MAX_ASKS               5       /* metaSKILL, 8 */
#define RUN_MAX_COMMANDS           10      /* metaSKILL, 8 */
#define RUN_MAX_SECONDS            300     /* metaSKILL, 8 */
#define RUN_MAX_TRACES             100     /* metaSKILL, 8 */
#define RUN_MAX_MEMORY_BYTES       (64ull * 1024 * 1024) /* of its values */
#define RUN_MAX_STEPS              1000000000000000ull   /* no limit, so far */
#define TRACE_MAX_BYTES            4096
#define TRACE_KIND_MAX_CHARS       200
#define ANSWER_MAX_CHARS           20000   /* metaSKILL, 8 */
#define ANSWER_LINE_MAX_BYTES      (4u * 1024 * 1024)    /* longer: passed over */
#define ANSWER_OUTPUT_MAX_BYTES    (64u * 1024 * 1024)   /* all that a program prints */
#define COMMAND_MAX_CHARS          20000   /* metaSKILL, 8 */
#define RESULT_MAX_CHARS           20000   /* metaSKILL, 8 */
#define ASK_MAX_TURNS              30      /* K23 */
#define COMMAND_MAX_SECONDS        120     /* K26 */
#define COMMAND_SECONDS            30      /* K26: when not asked for */
#define INPUT_MAX_BYTES            (1024u * 1024)
#define INPUT_MAX_DEPTH            64
#define PROMPT_MAX_BYTES           (4u * 1024 * 1024)
#define COMMAND_MAX_WORDS          1000
#define COMMAND_WORDS_MAX_BYTES    (256u * 1024)
#define PRINT_MAX_BYTES            (64u * 1024)          /* shown by --trace */
#define RUN_MESSAGE_MAX_BYTES      (8u * 1024 * 1024)    /* from the program */
#define TAPE_MAX_BYTES             (64u * 1024 * 1024)
#define TAPE_MAX_ENTRIES           1000    /* of asks and commands */
#define TAPE_MAX_NODES             1000000 /* values in a line */
#define BATCH_MAX_LINES            1000000 /* 112 bytes each are kept */
#define BATCH_LINE_MAX_BYTES       (INPUT_MAX_BYTES + 8192u)
#define BATCH_ID_MAX_BYTES         512
#define BATCH_MAX_JOBS             64      /* a process each */
#define BATCH_MAX_SHARDS           100000
#define BATCH_MAX_OUTPUTS          10000   /* of --merge */
#define BATCH_RECORD_MAX_BYTES     (64u * 1024 * 1024)   /* of its journal */
#define RULES_MAX                  1000    /* policy.commands, each list */
#define EVENTS_MAX                 10000   /* the newest */
#define EVENT_MAX_BYTES            (8u * 1024)           /* its payload */
#define SESSIONS_MAX               1000    /* those used last */
#define SESSION_ID_MAX_CHARS       128
#define SESSION_MAX_BYTES          (256u * 1024)         /* what is kept of one */
#define LIBRARY_CACHE_MAX_ROOTS    100     /* those read last */
#define LIBRARY_CACHE_MAX_BYTES    (128u * 1024 * 1024)  /* of all of them */
#define TIME_MAX_SECONDS           253402300799ll        /* since 1970: the year 9999 */
#define HISTORY_MAX_RUNS           1000    /* the newest */
#define HISTORY_MAX_BYTES          (64ull * 1024 * 1024) /* of their details */

#define LIBRARY_MAX_SKILLS         100000  /* folders in one root, and in all */
#define LIBRARY_MAX_DEPTH          3       /* folders from a root to a skill's: K14 */
#define LIBRARY_MAX_GROUPS         2000    /* folders of a root with folders of skills */
#define LIBRARY_MAX_ROOTS          100
#define LIBRARY_MAX_BYTES          (64u * 1024 * 1024)   /* metadata of a root */
#define LIBRARY_MAX_HELD_BYTES     (16u * 1024 * 1024)   /* texts of a session */
#define LIBRARY_NOTE_MAX_BYTES     4096    /* about one skill */
#define LIBRARY_FILE_MAX_BYTES     (64u * 1024)          /* LM-Kit, L14 */
#define LIBRARY_PATH_MAX_BYTES     4095    /* of a file in a skill: what Linux opens */
#define WIRE_MAX_BYTES             (1024u * 1024 * 1024) /* libmapm; 100,000 packages: 50 MB */
#define SEARCH_MAX_HITS            50      /* Metis, T16 */
#define QUERY_MAX_BYTES            (64u * 1024)          /* what is looked at */
#define MATCH_MAX_WORDS            64
#define SEARCH_MAX_LIBRARIES       32      /* indexed ones, those put last */
#define SEARCH_MAX_ENTRIES         200000  /* of a source, and of all libraries */
#define SEARCH_MAX_BYTES           (256u * 1024 * 1024)  /* their texts */
#define SEARCH_ROWS_SLACK          1024    /* numbers of rows that no entry has */
#define MENTIONS_MAX               100     /* in one text */
#define SESSION_MAX_ACTIVATIONS    20      /* T21 */
#define SESSION_MAX_TOKENS         100000  /* T21 */
#define SESSION_WARN_TOKENS        30000   /* T21 */
#define METIS_MAX_ACTIVATIONS      3       /* Metis, T21 */
#define METIS_MAX_TOKENS           30000   /* Metis, T21 */
#define METIS_WARN_TOKENS          10000   /* Metis, T21 */
#define PRELOAD_ENOUGH_TOKENS      4500    /* Metis, T26 */
#define PRELOAD_MAX_TOKENS         5500    /* Metis, T26 */
#define PRELOAD_MIN_CHARS          200     /* Metis, T26 */

/* As far as a user may raise some of them. */
#define PACKAGE_FILES_CEILING      100000  /* what LISTING_MAX_BYTES holds */
#define PACKAGE_DEPTH_CEILING      256     /* what PACKAGE_PATH_MAX_BYTES holds */
#define BYTES_CEILING              (1024ull * 1024 * 1024)
#define SECONDS_CEILING            86400
/* clang-format on */

/* What one may be, and who says so. */
struct limit {
    const char *name; /* in a configuration: "package_max_files" */
    uint64_t value;
    uint64_t least;   /* what anybody may lower it to */
    uint64_t ceiling; /* of what a user may set */
    struct str from;  /* "mapm.yaml:7"; empty: the program */
};

#define LIMITS_COUNT 26

/*
 * What a configuration may change (mapm.yaml(5)): how much is read, fetched,
 * resolved, used by a run, and loaded in a session. What a document may be is
 * not among it: a document that one machine accepts is accepted by all.
 */
struct limits {
    union {
        struct {
            struct limit package_max_files;
            struct limit package_max_bytes;
            struct limit file_max_bytes;
            struct limit package_max_depth;
            struct limit transfer_max_bytes;
            struct limit transfer_max_objects; /* in one answer */
            struct limit transfer_max_seconds;
            struct limit transfer_stall_seconds;
            struct limit graph_max_packages;
            struct limit graph_max_depth;
            struct limit graph_max_edges;
            struct limit run_max_asks;
            struct limit run_max_commands; /* 0 is honoured (K30) */
            struct limit run_max_seconds;
            struct limit run_max_traces;
            struct limit run_max_memory_bytes;
            struct limit run_max_steps;
            struct limit trace_max_bytes;
            struct limit answer_max_chars;
            struct limit command_max_chars;
            struct limit result_max_chars;
            struct limit ask_max_turns;
            struct limit command_max_seconds;
            struct limit session_max_activations; /* T21 */
            struct limit session_max_tokens;
            struct limit session_warn_tokens;
        };
        struct limit all[LIMITS_COUNT]; /* the same ones */
    };
};

/* Those of the program, which count when nobody says otherwise. */
extern const struct limits limits_default;

/* NULL when no limit of that name can be changed. */
struct limit *limits_find(struct limits *l, struct str name);

/* ERR_LIMIT with the message, the limit's name and who set it; the hint says
 * who may raise it. False. */
bool limit_fail(const struct limit *l, struct err *e, const char *format, ...)
    PRINTF(3, 4);

/* That hint alone, for a caller that words its messages itself. False. */
bool limit_hint(const struct limit *l, struct err *e);

/* " (package_max_files, mapm.yaml:7)", as limit_fail ends a message. */
#define LIMIT_WORDS_MAX_CHARS 300
struct limit_words {
    char text[LIMIT_WORDS_MAX_CHARS];
};
const char *limit_words(const struct limit *l, struct limit_words *words);

#endif
