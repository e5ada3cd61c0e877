#ifndef MAPM_LIMITS_H
#define MAPM_LIMITS_H

#include "base/err.h"
#include "base/str.h"

/*
 * limits: the maxima of all inputs, on one page. The members of struct limits
 * are configurable: only the user's own configuration may raise them; a
 * workspace may lower them.
 *
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
#define MEMBERS_MAX                500     /* one descriptor each */
#define MEMBER_PATTERNS_MAX        500
#define MEMBER_MAX_BYTES           1024    /* path of a member in the workspace */
#define MEMBER_FOLDERS_MAX         10000   /* visited to match a pattern */
#define LOCK_MAX_BYTES             (64u * 1024 * 1024)   /* about 450 bytes per package */
#define CLIENT_FILE_MAX_BYTES      (4u * 1024 * 1024)    /* .mcp.json … */
#define USER_FILE_MAX_BYTES        (4u * 1024 * 1024)    /* … at user level */
#define USER_COPIES_KEPT           10      /* number of backup sets kept */
#define CLIENT_FILE_MAX_DEPTH      64
#define ORIGIN_MAX_BYTES           2048
#define CATALOG_MAX_GLOBS          256     /* per list of a catalog in mapm.yaml */
#define REF_MAX_BYTES              1024    /* branch or tag within ORIGIN_MAX_BYTES */

#define MARKETPLACE_MAX_BYTES      (16u * 1024 * 1024)   /* PLUGINS.md row 43 */
#define MARKETPLACE_MAX_ENTRIES    10000
#define MARKETPLACE_MAX_NODES      1000000
#define CATALOGS_MAX               64      /* added by a user */
#define AGENT_INDEX_MAX_BYTES      (32u * 1024 * 1024)   /* .well-known: one response */
#define AGENT_INDEX_MAX_ENTRIES    100000  /* V78 */
#define AGENT_INDEX_MAX_NODES      2000000
#define AGENT_INDEX_MAX_REDIRECTS  5
#define AGENT_INDEX_MAX_SECONDS    60
#define ARCHIVE_MAX_BYTES          (64u * 1024 * 1024)   /* PLUGINS.md row 45 */
#define ARCHIVE_MAX_FILES          5000
#define ARCHIVE_MAX_RATIO          200     /* unpacked size to archive size … */
#define ARCHIVE_FREE_BYTES         (1024u * 1024)        /* … after this many bytes */
#define ARTIFACT_MAX_BYTES         (32u * 1024 * 1024)   /* artifact of an index, as sent */
#define CATALOG_URL_MAX_BYTES      1024
#define PLUGIN_MANIFEST_MAX_BYTES  (256u * 1024)
#define PLUGIN_OUTSIDE_MAX_BYTES   (4u * 1024 * 1024)    /* paths of PLUGIN_OUTSIDE_FILE */
#define PLUGIN_MAX_DEPTH           32
#define PLUGIN_MAX_SKILLS          1000
#define PLUGIN_MAX_SERVERS         100
#define PLUGIN_MAX_AGENTS          200
#define PATCHES_MAX_FILES          10000   /* in a workspace */
#define PATCHES_MAX_BYTES          (64u * 1024 * 1024)   /* total size of the patches */

#define PACKAGE_MAX_FILES          5000
#define PACKAGE_MAX_BYTES          (64ull * 1024 * 1024)
#define FILE_MAX_BYTES             (32ull * 1024 * 1024)
#define PACKAGE_MAX_DEPTH          32
#define PACKAGE_PATH_MAX_BYTES     512
#define LISTING_MAX_BYTES          (64u * 1024 * 1024)   /* lines have up to 600 bytes */

#define TEAM_OBJECT_MAX_BYTES      (80u * 1024 * 1024)   /* object of a team's store, compressed */
#define TEAM_PROOF_MAX_BYTES       (256u * 1024)         /* git objects of a proof there: S2 */
#define TEAM_TREE_MAX_BYTES        4096    /* larger ones may be objects of their own there: */
#define TEAM_REPEATED_MAX_BYTES    (8u * 1024 * 1024) /* if the proofs of a push repeat one so often */
/* Includes the marketplace.json, which has about 256 KiB for 400 plugins. */
#define TEAM_MARKET_MAX_BYTES      (4u * 1024 * 1024)
/* Trees of a commit in the store, and so a proof in a bundle or a vendor folder: S4. */
#define COMMIT_TREES_MAX_BYTES     (16u * 1024 * 1024)
#define PROOF_MAX_OBJECTS          100000  /* of that proof; 5000 of one in a team's store */

#define TRANSFER_MAX_BYTES         (256ull * 1024 * 1024)
#define TRANSFER_MAX_OBJECTS       1000000
#define FETCH_BASES_MAX            16      /* base commits of a thin pack */
#define CA_MAX_BYTES               (16u * 1024 * 1024)    /* file of certificates */
#define CA_MAX_FILES               20000   /* files in a folder of certificates */
/* All trees of a commit up to this size; above, only those on the path. */
#define FETCH_TREES_MAX_BYTES      (64 * 1024)
#define FETCH_WALK_MAX_PACKAGES    15      /* per commit; for more, all its trees */
#define TRANSFER_MAX_REFS          1000000
#define TRANSFER_MAX_REFS_BYTES    (64u * 1024 * 1024)   /* response that lists refs */
#define PACKAGE_MAX_TAGS           20000   /* version tags of a package */
#define FETCH_CAPS_MAX_BYTES       256     /* capabilities of a server, in the store */
#define FETCH_CAPS_MAX_DAYS        7
#define REF_MAX_SEGMENTS           16      /* each is a possible end of the ref */
#define TRANSFER_MAX_IDLE_BYTES    (64u * 1024)          /* progress text and the like (F3) */
#define PACKED_SLACK_BYTES         4096    /* beyond twice the size of an object (F3) */
#define ANSWER_MAX_STALLS          4       /* times transfer_stall_seconds, for a response without a pack */
#define TRANSFER_MAX_LINES         4096    /* before a pack: twice FETCH_WANTS_MAX */
#define TRANSFER_MAX_SECONDS       600
#define TRANSFER_STALL_SECONDS     30
#define CONNECT_MAX_SECONDS        15

#define GRAPH_MAX_PACKAGES         100000
#define GRAPH_MAX_DEPTH            1000
#define GRAPH_MAX_EDGES            1000000
#define TREE_MAX_INDENT            50      /* levels drawn by mapm tree */
#define LEFT_OUT_MAX_LINKS         100000  /* total length of chains to packages that --all leaves out */
#define ERROR_MAX_LINES            20

#define WORKSPACE_WAIT_SECONDS     60      /* DESIGN.md 7 */
#define SYNC_MAX_FILES             200     /* for more, syncfs: DESIGN.md 7 */
#define SYNC_MAX_THREADS           8       /* threads that wait for the disk */
#define STORE_WAIT_SECONDS         60      /* for a lock of the store */
#define DOWNLOAD_WAIT_SECONDS      120     /* for the download of another process (F11) */
#define DOWNLOAD_MAX_LOCKS         64      /* one descriptor each */
#define DOWNLOAD_REFS_MAX_BYTES    (1024u * 1024)        /* file in store/locks */
#define STORE_GC_MIN_AGE_SECONDS   3600    /* DESIGN.md 4 */
#define STORE_MEND_MAX_TRIES       4       /* a listing, a document, files: repairs per command */
#define PACK_OBJECT_MAX_BYTES      (64u * 1024) /* objects of this size get a file each */
#define PART_MAX_BYTES             (16u * 1024 * 1024) /* file of smaller objects in incoming */
#define PACK_MIN_OBJECTS           16      /* fewer objects of a fetch get a file each */
#define PACK_MAX_OBJECTS           1000000
#define PACKS_MAX                  16      /* for more, the smaller half is merged */
#define CHECK_MAX_FILES            1000000

#define RUN_MAX_ASKS               5       /* metaSKILL, 8 */
#define RUN_MAX_COMMANDS           10      /* metaSKILL, 8 */
#define RUN_MAX_SECONDS            300     /* metaSKILL, 8 */
#define RUN_MAX_TRACES             100     /* metaSKILL, 8 */
#define RUN_MAX_MEMORY_BYTES       (64ull * 1024 * 1024) /* values of the program */
#define RUN_MAX_STEPS              1000000000000000ull   /* practically no limit */
#define TRACE_MAX_BYTES            4096
#define TRACE_KIND_MAX_CHARS       200
#define ANSWER_MAX_CHARS           20000   /* metaSKILL, 8 */
#define ANSWER_LINE_MAX_BYTES      (4u * 1024 * 1024)    /* longer lines are ignored */
#define ANSWER_OUTPUT_MAX_BYTES    (64u * 1024 * 1024)   /* total output of a backend */
#define COMMAND_MAX_CHARS          20000   /* metaSKILL, 8 */
#define RESULT_MAX_CHARS           20000   /* metaSKILL, 8 */
#define ASK_MAX_TURNS              30      /* K23 */
#define COMMAND_MAX_SECONDS        120     /* K26 */
#define COMMAND_SECONDS            30      /* K26: default */
#define INPUT_MAX_BYTES            (1024u * 1024)
#define INPUT_MAX_DEPTH            64
#define PROMPT_MAX_BYTES           (4u * 1024 * 1024)
#define COMMAND_MAX_WORDS          1000
#define COMMAND_WORDS_MAX_BYTES    (256u * 1024)
#define PRINT_MAX_BYTES            (64u * 1024)          /* shown by --trace */
#define RUN_MESSAGE_MAX_BYTES      (8u * 1024 * 1024)    /* message of the worker */
#define TAPE_MAX_BYTES             (64u * 1024 * 1024)
#define TAPE_MAX_ENTRIES           1000    /* asks and commands */
#define TAPE_MAX_NODES             1000000 /* values in a line */
#define BATCH_MAX_LINES            1000000 /* 112 bytes of memory each */
#define BATCH_LINE_MAX_BYTES       (INPUT_MAX_BYTES + 8192u)
#define BATCH_ID_MAX_BYTES         512
#define BATCH_MAX_JOBS             64      /* one process each */
#define BATCH_MAX_SHARDS           100000
#define BATCH_MAX_OUTPUTS          10000   /* outputs for --merge */
#define BATCH_RECORD_MAX_BYTES     (64u * 1024 * 1024)   /* record of the journal */
#define RULES_MAX                  1000    /* per list of policy.commands */
#define EVENTS_MAX                 10000   /* the newest are kept */
#define EVENT_MAX_BYTES            (8u * 1024)           /* payload of an event */
#define SESSIONS_MAX               1000    /* the most recently used */
#define SESSION_ID_MAX_CHARS       128
#define SESSION_MAX_BYTES          (256u * 1024)         /* stored state of a session */
#define LIBRARY_CACHE_MAX_ROOTS    100     /* the most recently read */
#define LIBRARY_CACHE_MAX_BYTES    (128u * 1024 * 1024)  /* total size of the cache */
#define TIME_MAX_SECONDS           253402300799ll        /* since 1970: the year 9999 */
#define HISTORY_MAX_RUNS           1000    /* the newest are kept */
#define HISTORY_MAX_BYTES          (64ull * 1024 * 1024) /* total size of their details */

#define LIBRARY_MAX_SKILLS         100000  /* skill folders per root, and in total */
#define LIBRARY_MAX_DEPTH          3       /* levels from a root to a skill folder: K14 */
#define LIBRARY_MAX_GROUPS         2000    /* groups of skill folders in a root */
#define LIBRARY_MAX_ROOTS          100
#define LIBRARY_MAX_BYTES          (64u * 1024 * 1024)   /* metadata of a root */
#define LIBRARY_MAX_HELD_BYTES     (16u * 1024 * 1024)   /* texts of a session */
#define LIBRARY_NOTE_MAX_BYTES     4096    /* notes about one skill */
#define LIBRARY_FILE_MAX_BYTES     (64u * 1024)          /* LM-Kit, L14 */
#define LIBRARY_PATH_MAX_BYTES     4095    /* path of a file in a skill: PATH_MAX of Linux */
#define WIRE_MAX_BYTES             (1024u * 1024 * 1024) /* libmapm; 100,000 packages: 50 MB */
#define SEARCH_MAX_HITS            50      /* Metis, T16 */
#define QUERY_MAX_BYTES            (64u * 1024)          /* longer: rejected or truncated */
#define MATCH_MAX_WORDS            64
#define SEARCH_MAX_LIBRARIES       32      /* indexed libraries, the most recent */
#define SEARCH_MAX_ENTRIES         200000  /* per source, and for all libraries */
#define SEARCH_MAX_BYTES           (256u * 1024 * 1024)  /* texts of the entries */
#define SEARCH_ROWS_SLACK          1024    /* unused row numbers */
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

/* Maxima to which a user may raise some of the limits. */
#define PACKAGE_FILES_CEILING      100000  /* fits into LISTING_MAX_BYTES */
#define PACKAGE_DEPTH_CEILING      256     /* fits into PACKAGE_PATH_MAX_BYTES */
#define BYTES_CEILING              (1024ull * 1024 * 1024)
#define SECONDS_CEILING            86400
/* clang-format on */

/* A configurable limit: its value, range and source. */
struct limit {
    const char *name; /* name in a configuration: "package_max_files" */
    uint64_t value;
    uint64_t least;   /* minimum that may be set */
    uint64_t ceiling; /* maximum that a user may set */
    struct str from;  /* "mapm.yaml:7"; empty for the default */
};

#define LIMITS_COUNT 26

/* The configurable limits (mapm.yaml(5)): of the data that is read,
 * fetched, resolved, used by a run and loaded in a session. Limits of
 * documents are not configurable, so that a document that is valid on one
 * machine is valid on all. */
struct limits {
    union {
        struct {
            struct limit package_max_files;
            struct limit package_max_bytes;
            struct limit file_max_bytes;
            struct limit package_max_depth;
            struct limit transfer_max_bytes;
            struct limit transfer_max_objects; /* per response */
            struct limit transfer_max_seconds;
            struct limit transfer_stall_seconds;
            struct limit graph_max_packages;
            struct limit graph_max_depth;
            struct limit graph_max_edges;
            struct limit run_max_asks;
            struct limit run_max_commands; /* 0 is allowed (K30) */
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
        struct limit all[LIMITS_COUNT]; /* the same members as an array */
    };
};

/* The default limits. */
extern const struct limits limits_default;

/* Returns the configurable limit of a name, or NULL. */
struct limit *limits_find(struct limits *l, struct str name);

/* Sets ERR_LIMIT with the message, the name of the limit and its source; the
 * hint tells who may raise it. Returns false. */
bool limit_fail(const struct limit *l, struct err *e, const char *format, ...)
    PRINTF(3, 4);

/* Sets only the hint, for a caller that writes its own message. Returns
 * false. */
bool limit_hint(const struct limit *l, struct err *e);

/* Returns " (package_max_files, mapm.yaml:7)", the end of messages
 * of limit_fail. */
#define LIMIT_WORDS_MAX_CHARS 300
struct limit_words {
    char text[LIMIT_WORDS_MAX_CHARS];
};
const char *limit_words(const struct limit *l, struct limit_words *words);

#endif
