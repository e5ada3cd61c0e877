#include "base/str.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"

#include "document_case.h"

/*
 * Each code and its severity under each profile: E error, W warning, -
 * not said. Columns: install agentskills skills-ref metis metaagents lm-kit
 * metaskill publish. REQUIREMENTS 5 and 4.1.
 */

#define A    DOC_AGENT
#define S    DOC_SKILL
#define M    DOC_MCP
#define STAR "SKILL.star"

struct row {
    enum doc_kind kind;
    const char *folder, *text, *code, *levels;
};

/* clang-format off */
static const struct row rows[] = {
    /* [L9, T3, X10, K2] frontmatter */
    {S, "foo", "# Foo\n",                       "no-frontmatter", "EEEEEEEE"},
    {S, "foo", "",                              "no-frontmatter", "EEEEEEEE"},
    {A, "foo", "# Agents\n\nBe nice.\n",        "no-frontmatter", "EEEEEEEE"},
    {S, "foo", "\n---\nname: foo\n---\n",       "no-frontmatter", "EEEEEEEE"},
    {S, "foo", "---\nname: foo\n",              "unclosed-frontmatter", "EEEEEEEE"},
    {S, "foo", "---\nname: foo\n---x\n",        "unclosed-frontmatter", "EE--EEEE"}, /* [T3] */
    {S, "foo", "---x\nname: foo\n---\n",       "no-frontmatter", "EE--EEEE"},
    {S, "foo", "\xef\xbb\xbf" NAMED(""),        "bom", "WWEEWWEW"},
    {S, "foo", "---\nname: foo\n\xff\n---\n",   "not-utf8", "EEEEEEEE"},
    {S, "foo", DOC("name: foo\ndescription: \"a\\0b\"\n"), "nul-bytes", "EEEEEEEE"}, /* [row 5] */
    {S, "foo", DOC("name: foo\nx: [a\n"),       "yaml", "EEEEEEEE"},
    {S, "foo", NAMED("x: &a b\n"),              "yaml", "EEEEEEEE"}, /* [row 5] anchors */
    {S, "foo", NAMED("x: !!str b\n"),           "yaml", "EEEEEEEE"}, /* [row 5] tags */
    {S, "foo", NAMED("x: [a, b]\n"),            "yaml", "--E-----"}, /* [A3] */
    {S, "foo", NAMED("x: {a: b}\n"),            "yaml", "--E-----"}, /* [A3] */
    {S, "foo", NAMED("x: a --- b\n"),           "yaml", "--------"},
    {S, "foo", NAMED("name: bar\n"),            "duplicate-key", "EEEEEEEE"}, /* [row 5] */
    {S, "foo", DOC("- a\n"),                    "not-a-mapping", "EEEEEEEE"}, /* [T4] */
    {S, "foo", DOC("text\n"),                   "not-a-mapping", "EEEEEEEE"},
    {S, "foo", DOC(""),                         "name-missing", "-EEEEEEE"}, /* [T4] */
    {S, "foo", DOC(""),                         "name-from-folder", "W-------"},
    {S, "foo", DOC(""),                         "description-missing", "EEEEEEEE"},
    {S, "foo", DOC("name: foo\ndescription: Use when: x\n"), "yaml-repaired", "W-------"}, /* [A4] */
    {S, "foo", DOC("name: foo\ndescription: Use when: x\n"), "yaml", "-EEEEEEE"},
    {S, "foo", NAMED("author: me\n"),           "unknown-field", "--E---WW"}, /* [K12, T9, A3, X6] */
    {S, "foo", NAMED("version: 1.0.0\n"),       "unknown-field", "--E-----"},

    /* name: [M2, M3, K5, T5, L1, A1, X1, X2] */
    {S, "foo", DOC("description: d\n"),                  "name-missing", "-EEEEEEE"},
    {S, "Foo", DOC("description: d\n"),                  "name-missing", "EEEEEEEE"},
    {S, "",    DOC("description: d\n"),                  "name-missing", "EEEEEEEE"},
    {S, "",    DOC("name: 365\ndescription: d\n"),       "name-type", "EE-EEEEE"}, /* [X18] */
    {S, "",    DOC("name: on\ndescription: d\n"),        "name-type", "EE-EEEEE"},
    {S, "",    DOC("name: ~\ndescription: d\n"),         "name-type", "EE-EEEEE"},
    {S, "",    DOC("name: 2024-01-01\ndescription: d\n"), "name-type", "EE-EEEEE"},
    {S, "",    DOC("name:\n  - a\ndescription: d\n"),    "name-type", "EEEEEEEE"},
    {S, "365", DOC("name: \"365\"\ndescription: d\n"),   "name-type", "--------"},
    {S, "",    DOC("name:\ndescription: d\n"),           "name-empty", "EEEEEEEE"},
    {S, "",    DOC("name: \"\"\ndescription: d\n"),      "name-empty", "EEEEEEEE"},
    {S, "",    DOC("name: \" \"\ndescription: d\n"),     "name-empty", "EEEEEEEE"},
    {S, "",    DOC("name: Foo\ndescription: d\n"),       "name-grammar", "EEEEEEEE"},
    {S, "",    DOC("name: a b\ndescription: d\n"),       "name-grammar", "EEEEEEEE"},
    {S, "",    DOC("name: a_b\ndescription: d\n"),       "name-grammar", "EEEEEEEE"},
    {S, "",    DOC("name: acme/a\ndescription: d\n"),    "name-grammar", "EEEEEEEE"}, /* [M5] */
    {S, "",    DOC("name: ..\ndescription: d\n"),        "name-grammar", "EEEEEEEE"}, /* [row 6] */
    {S, "",    DOC("name: a--b\ndescription: d\n"),      "name-grammar", "EEEEE-EE"}, /* [L1] */
    {S, "",    DOC("name: -a\ndescription: d\n"),        "name-grammar", "EEEEEEEE"},
    {S, "",    DOC("name: a-\ndescription: d\n"),        "name-grammar", "EEEEEEEE"},
    {S, "",    DOC("name: \xc3\xa9t\xc3\xa9\ndescription: d\n"), "name-grammar", "EE-EEEEE"}, /* [A1] */
    {S, "",    DOC("name: \xc3\x89t\xc3\xa9\ndescription: d\n"), "name-grammar", "EEEEEEEE"},
    {S, "",    DOC("name: \xe6\x97\xa5\xe6\x9c\xac\ndescription: d\n"), "name-grammar", "EE-EEEEE"},
    {S, "",    DOC("name: \xf0\x9f\x98\x80\ndescription: d\n"), "name-grammar", "EEEEEEEE"},
    {S, "",    DOC("name: \" foo \"\ndescription: d\n"), "name-grammar", "EE-EEEEE"},
    {S, "",    DOC("name: " X10("abcdef") "abcd\ndescription: d\n"),  "name-too-long", "--------"},
    {S, "",    DOC("name: " X10("abcdef") "abcde\ndescription: d\n"), "name-too-long", "EEEEEEWE"},
    {S, "foo", DOC("name: " X10("abcdef") "abcde\ndescription: d\n"), "name-too-long", "-EEEEEWE"},
    {S, "bar", NAMED(""),                                "name-folder", "WEEEE-EE"}, /* [M2, X2] */
    {S, "Foo", NAMED(""),                                "name-folder", "WEEEE-EE"},
    {S, "",    NAMED(""),                                "name-folder", "--------"},
    {S, "bar", NAMED("version: 1.0.0\n"),                "name-folder", "WEEEE-EE"}, /* [F5] */
    {S, "bar", NAMED("dependencies:\n  agents:\n"),      "name-folder", "EEEEE-EE"}, /* [F5] */
    {S, "bar", NAMED("scope: acme\n"),                   "name-folder", "EEEEE-EE"},
    {S, "bar", NAMED("dependencies:\n  skills:\n"),      "name-folder", "EEEEE-EE"},
    {S, "bar", NAMED("dependencies: [git]\n"),           "name-folder", "WE-EE-EE"},
    {A, "bar", NAMED(""),                                "name-folder", "EEEEE-EE"},
    {S, "\xc3\xa9", DOC("name: e\xcc\x81\ndescription: d\n"), "name-folder", "-E-EE-EE"}, /* [A1] NFKC */
    {S, "foo", DOC("name: Foo\ndescription: d\n"),       "name-from-folder", "W-------"},
    {S, "foo", DOC("name: [a]\ndescription: d\n"),       "name-from-folder", "W-------"},
    {A, "foo", DOC("name: Foo\ndescription: d\n"),       "name-from-folder", "--------"},
    {A, "foo", DOC("name: Foo\ndescription: d\n"),       "name-grammar", "EEEEEEEE"},
    {S, "foo", DOC("name: Foo\ndescription: d\nversion: 1.0.0\n"), "name-grammar", "-EEEEEEE"}, /* [F5] */
    {S, "foo", DOC("name: Foo\ndescription: d\nscope: a\n"), "name-grammar", "EEEEEEEE"},

    /* description: [M6, K6, T6, A2, X5, X16] */
    {S, "foo", DOC("name: foo\n"),                       "description-missing", "EEEEEEEE"},
    {S, "foo", DOC("name: foo\ndescription: 1.5\n"),     "description-type", "EE-EEEEE"},
    {S, "foo", DOC("name: foo\ndescription: null\n"),    "description-type", "EE-EEEEE"},
    {S, "foo", DOC("name: foo\ndescription:\n  - a\n"),  "description-type", "EEEEEEEE"},
    {S, "foo", DOC("name: foo\ndescription:\n"),         "description-empty", "EEEEEEEE"},
    {S, "foo", DOC("name: foo\ndescription: \" \\n \"\n"), "description-empty", "EEEEEEEE"},
    {S, "foo", DOC("name: foo\ndescription: \"<!-- x -->\"\n"), "description-empty", "------EE"},
    {S, "foo", DOC("name: foo\ndescription: \"<!-- x --> y\"\n"), "description-empty", "--------"},
    {S, "foo", "---\nname: foo\ndescription: Release notes.\n---\n", "description-when", "-W----WW"}, /* [K6] */
    {S, "foo", "---\nname: foo\ndescription: Notes. Use when asked.\n---\n", "description-when", "--------"}, /* [K6] */
    {S, "foo", "---\nname: foo\ndescription: \xe5\x8f\x91\xe5\xb8\x83\n---\n", "description-when", "--------"}, /* [K6] */
    {S, "foo", DOC("name: foo\ndescription: " X1000("a") X10("ab") "abcd\n"),  "description-too-long", "--------"},
    {S, "foo", DOC("name: foo\ndescription: " X1000("a") X10("ab") "abcde\n"), "description-too-long", "WEEEEEWE"},
    {S, "foo", DOC("name: foo\ndescription: " X1000("\xc3\xa9") X10("ab") "abcd\n"), "description-too-long", "--------"},
    {S, "foo", DOC("name: foo\ndescription: |\n  " X1000("a") X10("ab") "abcd\n"), "description-too-long", "WEEEEEWE"},
    {A, "foo", DOC("name: foo\ndescription: " X1000("a") X10("ab") "abcde\n"), "description-too-long", "EEEEEEWE"},
    {S, "foo", DOC("name: foo\nversion: 1.0.0\ndescription: " X1000("a") X10("ab") "abcde\n"), "description-too-long", "WEEEEEWE"}, /* [F5] */
    {S, "foo", DOC("name: foo\nscope: a\ndescription: " X1000("a") X10("ab") "abcde\n"), "description-too-long", "EEEEEEWE"},

    /* compatibility, license, metadata: [T7, L2, L3, A2, X12] */
    {S, "foo", NAMED("compatibility: 1\n"),              "compatibility-type", "WE-E-E-W"},
    {S, "foo", NAMED("compatibility:\n  - a\n"),         "compatibility-type", "WEEE-E-W"},
    {S, "foo", NAMED("compatibility: \"\"\n"),           "compatibility-empty", "-E-----W"},
    {S, "foo", NAMED("compatibility: " X100("abcde") "\n"),  "compatibility-too-long", "--------"},
    {S, "foo", NAMED("compatibility: " X100("abcde") "f\n"), "compatibility-too-long", "WEEE-E-W"},
    {S, "foo", NAMED("license:\n  a: b\n"),              "license-type", "WE-E-E-W"},
    {S, "foo", NAMED("license: 2\n"),                    "license-type", "WE-E-E-W"},
    {S, "foo", NAMED("license:\n"),                      "license-type", "--------"},
    {S, "foo", NAMED("metadata: x\n"),                   "metadata-type", "WE-E-E-W"},
    {S, "foo", NAMED("metadata:\n  1: x\n"),             "metadata-key", "WE-E---W"},
    {S, "foo", NAMED("metadata:\n  \"1\": x\n"),         "metadata-key", "--------"},
    {S, "foo", NAMED("metadata:\n  a:\n    - x\n"),      "metadata-value", "WE-E---W"},
    {S, "foo", NAMED("metadata:\n  a: null\n"),          "metadata-value", "WE-E---W"},
    {S, "foo", NAMED("metadata:\n  a: 2024-01-01\n"),    "metadata-value", "WE-E---W"},
    {S, "foo", NAMED("metadata:\n  a: true\n"),          "metadata-value", "--------"},
    {S, "foo", NAMED("metadata:\n  a: 1.10\n"),          "metadata-scalar", "-W-W---W"},
    {S, "foo", NAMED("metadata:\n  a: \"1.10\"\n"),      "metadata-scalar", "--------"},

    /* allowed-tools: [T8, X17] */
    {S, "foo", NAMED("allowed-tools:\n  a: b\n"),        "allowed-tools-type", "WE-E-W-W"},
    {S, "foo", NAMED("allowed-tools:\n  - - a\n"),       "allowed-tools-type", "WE-E-W-W"},
    {S, "foo", NAMED("allowed-tools:\n  - a\n"),         "allowed-tools-list", "WE-E-W-W"},
    {S, "foo", NAMED("allowed-tools: a, b\n"),           "allowed-tools-list", "WW---W-W"},
    {S, "foo", NAMED("allowed-tools: a b(c, d)\n"),      "allowed-tools-list", "--------"},

    /* [L5, L6, L7] */
    {S, "foo", NAMED("disable-model-invocation: \"true\"\n"), "bool-type", "W----E-W"},
    {S, "foo", NAMED("mode: expert\n"),                  "bool-type", "W----E-W"},
    {S, "foo", NAMED("is_mode: yes\n"),                  "bool-type", "--------"},
    {S, "foo", NAMED("context: other\n"),                "context-value", "W----W-W"},
    {S, "foo", NAMED("context:\n  - fork\n"),            "context-value", "W----W-W"},
    {S, "foo", NAMED("context: fork\n"),                 "context-value", "--------"},

    /* version: [M6, M7, L4, X3] */
    {S, "foo", NAMED(""),                                "version-missing", "W---E--E"},
    {S, "foo", NAMED("scope: acme\n"),                   "version-missing", "E---E--E"},
    {S, "foo", NAMED("dependencies:\n  mcps:\n"),        "version-missing", "E---E--E"},
    {S, "foo", NAMED("dependencies:\n  python: x\n"),    "version-missing", "W---E--E"},
    {A, "foo", NAMED(""),                                "version-missing", "E---E--E"},
    {S, "foo", NAMED("version: 1.0\n"),                  "version-format", "W---EW-E"},
    {S, "foo", NAMED("version: 1\n"),                    "version-format", "W---EW-E"},
    {S, "foo", NAMED("version: \"1.0\"\n"),              "version-format", "W---EW-E"},
    {S, "foo", NAMED("version: 1.0.0-rc1\n"),            "version-format", "W---EW-E"},
    {S, "foo", NAMED("version:\n  - 1.0.0\n"),           "version-format", "W---EW-E"},
    {S, "foo", NAMED("version: \"1.0.0\"\n"),            "version-format", "--------"},
    {S, "foo", NAMED("version: 1.0.0\n"),                "version-format", "--------"},
    {A, "foo", NAMED("version: 1.0\n"),                  "version-format", "E---EW-E"},

    /* scope: [M4, row 6] */
    {S, "foo", FULL("scope: Acme\n"),                    "scope-grammar", "E---E--E"},
    {S, "foo", FULL("scope: a..b\n"),                    "scope-grammar", "E---E--E"},
    {S, "foo", FULL("scope: ../x\n"),                    "scope-grammar", "E---E--E"},
    {S, "foo", FULL("scope: 1\n"),                       "scope-grammar", "E---E--E"},
    {S, "foo", FULL("scope: io.example\n"),              "scope-grammar", "--------"},
    {S, "foo", FULL("scope: " X10("abcdef") "abcd\n"),   "scope-too-long", "--------"},
    {S, "foo", FULL("scope: " X10("abcdef") "abcde\n"),  "scope-too-long", "E---E--E"},

    /* prereqs: [M8, M9] */
    {S, "foo", FULL("prereqs:\n  - git\n"),              "prereqs-type", "W---E--E"},
    {S, "foo", FULL("scope: a\nprereqs: 1\n"),           "prereqs-type", "E---E--E"},
    {S, "foo", FULL("prereqs: |\n  Requires git.\n"),    "prereqs-type", "--------"},
    {A, "foo", FULL("prereqs: |\n  Requires git.\n"),    "prereqs-on-agent", "E---E--E"},

    /* dependencies: [M10, M11, M12, M13, M14, M15, row 10] */
    {S, "foo", FULL("dependencies:\n  - git\n"),         "deps-not-mapping", "W---E--E"},
    {S, "foo", FULL("dependencies: git\n"),              "deps-not-mapping", "W---E--E"},
    {S, "foo", FULL("dependencies:\n"),                  "deps-not-mapping", "--------"},
    {S, "foo", FULL("scope: a\ndependencies: git\n"),    "deps-not-mapping", "E---E--E"},
    {A, "foo", FULL("dependencies: git\n"),              "deps-not-mapping", "E---E--E"},
    {S, "foo", FULL("dependencies:\n  skills: x\n"),     "deps-not-list", "E---E--E"},
    {S, "foo", FULL("dependencies:\n  skills:\n"),       "deps-not-list", "--------"},
    {S, "foo", FULL("dependencies:\n  agents:\n    - x\n"), "deps-unknown-kind", "W---W--W"},
    {A, "foo", FULL("dependencies:\n  agents:\n    - x\n"), "deps-unknown-kind", "--------"}, /* [D12] */
    {A, "foo", FULL("dependencies:\n  agents:\n    - x\n"), "deps-agents", "----W---"}, /* [D12] */
    {S, "foo", FULL("dependencies:\n  skills:\n    - 1\n"), "dep-not-string", "E---E--E"},
    {S, "foo", FULL("dependencies:\n  skills:\n    - - a\n"), "dep-not-string", "E---E--E"},
    {S, "foo", FULL("dependencies:\n  skills:\n    - url: a\n"), "dep-not-string", "E---E--E"},
    {S, "foo", FULL("dependencies:\n  skills:\n    - \"\"\n"), "dep-bad-origin", "E---E--E"},
    {S, "foo", FULL("dependencies:\n  mcps:\n    - github:o/r\n"), "dep-bad-origin", "E---E--E"},
    {S, "foo", FULL("dependencies:\n  mcps:\n    - o/r/x@v1\n"), "dep-bad-origin", "E---E--E"},
    {S, "foo", FULL("dependencies:\n  skills:\n    - origin: " GH "o/r/tree/m\n"), "dep-object-form", "W---W--W"},
    {S, "foo", FULL("dependencies:\n  skills:\n    - file:/x\n"), "dep-file-origin", "E---W--E"},
    {S, "foo", FULL("dependencies:\n  skills:\n    - " GH "o/r/tree/^1.2/x\n"), "dep-range", "----E--W"}, /* [D6] */
    {S, "foo", FULL("dependencies:\n  skills:\n    - https://gitlab.com/g/s/r/-/tree/m/x\n"), "dep-host", "----E--W"}, /* [H1] */
    {S, "foo", FULL("dependencies:\n  skills:\n    - " GH "o/r/tree/^1.x/x\n"), "dep-bad-origin", "E---E--E"}, /* [D6] */

    /* hidden characters: THREATS 1.4, [row 7] */
    {S, "foo", DOC("name: foo\ndescription: a\xe2\x80\xae" "b\n"), "hidden-characters", "EEEEEEEE"},
    {S, "foo", DOC("name: foo\ndescription: \"\\U000E0041\"\n"), "hidden-characters", "EEEEEEEE"},
    {S, "foo", DOC("name: foo\ndescription: \"\\e[31m\"\n"), "hidden-characters", "EEEEEEEE"},
    {S, "foo", DOC("name: f\xe2\x80\xaeoo\ndescription: d\n"), "hidden-characters", "EEEEEEEE"},
    {S, "foo", NAMED("version: \"1.0.0\xf3\xa0\x81\x81\"\n"), "hidden-characters", "EEEEEEEE"},
    {S, "foo", NAMED("scope: \"a\xe2\x81\xa6\"\n"),      "hidden-characters", "EEEEEEEE"},
    {S, "foo", NAMED("x: a\xe2\x80\xae" "b\n"),          "hidden-characters", "EEEEEEEE"},
    {S, "foo", NAMED("x:\n  - y: \"\\U000E0041\"\n"),    "hidden-characters", "EEEEEEEE"},
    {S, "foo", NAMED("# a\xe2\x80\xae" "b\n"),           "hidden-characters", "EEEEEEEE"},
    {S, "foo", NAMED("") "a\xef\xb8\x81",                "hidden-characters", "EEEEEEEE"},
    {S, "foo", NAMED("") "a\xe2\x80\xae",                "hidden-characters", "EEEEEEEE"},
    {S, "foo", NAMED("") "a\xe2\x80\x8b",                "hidden-characters", "--------"},
    {S, "foo", NAMED("") "a\xe2\x80\x8b",                "zero-width", "WWWWWWWW"},
    {S, "foo", DOC("name: foo\ndescription: a\xe2\x80\x8b" "b\n"), "zero-width", "WWWWWWWW"},

    /* body: [K7, T12, A5] */
    {S, "foo", DOC("name: foo\ndescription: d\n") X10(X1000("aa")), "body-tokens", "WW-W---W"},
    {A, "foo", FULL("") X10(X1000("aa")),                "body-tokens", "--------"},
    {S, "foo", NAMED("") X100("\n\n\n\n\n"),             "body-lines", "-W-----W"},
    {S, "foo", DOC("name: foo\ndescription: d\n") X100("\n\n\n\n") X10("\n\n\n\n\n\n\n\n\n") "\n\n\n\n\n\n\n\n", "body-lines", "--------"},
    {S, "foo", DOC("name: foo\ndescription: d\n") X100("\n\n\n\n") X10("\n\n\n\n\n\n\n\n\n") "\n\n\n\n\n\n\n\n\n", "body-lines", "-W-----W"},
    {S, "foo", NAMED("") X10(X1000("aa")),               "body-truncated", "------W-"},

    /* [M31] */
    {S, "foo", NAMED("") "See .claude/skills/foo/x.md\n", "body-client-path", "-------W"},
    {S, "foo", NAMED("") "See <SKILL_DIR>/x.md\n",       "body-client-path", "--------"},

    /* [K3, K10, X15] what can be said without the files */
    {S, "foo", NAMED("metaskill: true\n"),               "metaskill-type", "E-----EE"},
    {S, "foo", NAMED("metaskill: \"\"\n"),               "metaskill-type", "E-----EE"},
    {S, "foo", NAMED("metaskill: /etc/x\n"),             "metaskill-not-relative", "E-----EE"},
    {S, "foo", NAMED("metaskill: ~/x\n"),                "metaskill-not-relative", "E-----EE"},
    {S, "foo", NAMED("metaskill: 'C:\\x'\n"),            "metaskill-not-relative", "E-----EE"},
    {S, "foo", NAMED("metaskill: 'C:'\n"),               "metaskill-not-relative", "E-----EE"},
    {S, "foo", NAMED("metaskill: ../x\n"),               "metaskill-escapes", "E-----EE"},
    {S, "foo", NAMED("metaskill: a/../../x\n"),          "metaskill-escapes", "E-----EE"},
    {S, "foo", NAMED("metaskill: .\n"),                  "metaskill-escapes", "E-----EE"},
    {S, "foo", NAMED("metaskill: a.star\nmetaskill_language: lua\n"), "metaskill-language", "W-----WW"},
    {S, "foo", NAMED("metaskill: a.star\nmetaskill_language: 1\n"), "metaskill-language", "W-----WW"},
    {S, "foo", NAMED("metaskill: a.star\n"),             "metaskill-input-keys", "------WW"}, /* [K8] */
    {S, "foo", "---\nname: foo\ndescription: d\nmetaskill: a.star\n---\n", "metaskill-input-keys", "------WW"}, /* [K9] */
    {S, "foo", NAMED("metaskill: a.star\n") "Input keys:\n", "metaskill-input-keys", "--------"},
    {A, "foo", FULL("metaskill: ../x\n"),                "metaskill-escapes", "--------"},
};

/* Files beside the document. [K3, K10, K11, M29, X24] */
static const struct file_row {
    struct row row;
    struct case_file file;
} file_rows[] = {
    {{S, "foo", NAMED("metaskill: a.star\n"), "metaskill-not-found", "E-----EE"},
     {"b.star", MANIFEST_FILE_OK, STR_INIT("")}},
    {{S, "foo", NAMED("metaskill: a.star\n"), "metaskill-unreadable", "E-----EE"},
     {"a.star", MANIFEST_FILE_UNREADABLE, STR_INIT("")}},
    {{S, "foo", NAMED("metaskill: a.star\n"), "metaskill-escapes", "E-----EE"},
     {"a.star", MANIFEST_FILE_ESCAPES, STR_INIT("")}},
    {{S, "foo", NAMED("metaskill: ./x/../a.star\n"), "metaskill-not-found", "--------"},
     {"a.star", MANIFEST_FILE_OK, STR_INIT("def run(input): pass\n")}},
    {{S, "foo", NAMED(""), "metaskill-not-utf8", "E-----EE"},
     {STAR, MANIFEST_FILE_OK, STR_INIT("# \xff\n")}},
    {{S, "foo", NAMED(""), "metaskill-not-utf8", "E-----EE"},
     {STAR, MANIFEST_FILE_OK, STR_INIT("# \0\n")}},
    {{S, "foo", NAMED(""), "metaskill-frontmatter", "E-----EE"},
     {STAR, MANIFEST_FILE_OK, STR_INIT("---\nname: x\n---\n")}},
    {{S, "foo", NAMED(""), "metaskill-frontmatter", "E-----EE"},
     {STAR, MANIFEST_FILE_OK, STR_INIT("\xef\xbb\xbf--- \nx\n")}},
    {{S, "foo", NAMED(""), "metaskill-frontmatter", "--------"},
     {STAR, MANIFEST_FILE_OK, STR_INIT("# ---\n")}},
    {{S, "foo", NAMED(""), "metaskill-size", "W-----WW"},
     {STAR, MANIFEST_FILE_TOO_LARGE, STR_INIT("")}},
    {{S, "foo", DOC("name: foo\ndescription: \"<!-- x -->\"\n"), "description-empty", "EEEEEEEE"},
     {STAR, MANIFEST_FILE_OK, STR_INIT("def run(input): pass\n")}}, /* [K6] */
    {{S, "foo", NAMED("") X10(X1000("aa")), "body-truncated", "W-----WW"},
     {STAR, MANIFEST_FILE_OK, STR_INIT("def run(input): pass\n")}}, /* [K7] */

    {{S, "foo", FULL(""), "changelog-missing", "-------E"},
     {"README.md", MANIFEST_FILE_OK, STR_INIT("")}},
    {{A, "foo", FULL(""), "changelog-missing", "-------E"},
     {"CHANGELOG.md", MANIFEST_FILE_UNREADABLE, STR_INIT("")}},
    {{S, "foo", FULL(""), "changelog-no-entry", "-------E"},
     {"CHANGELOG.md", MANIFEST_FILE_OK, STR_INIT("# Changes\n")}},
    {{S, "foo", FULL(""), "changelog-version", "W------E"},
     {"CHANGELOG.md", MANIFEST_FILE_OK, STR_INIT("## 1.1.0 (2026-01-02)\n")}},
    {{S, "foo", FULL(""), "changelog-version", "-------E"},
     {"CHANGELOG.md", MANIFEST_FILE_OK,
      STR_INIT("## 1.0.0 (2026-01-02)\n## Old\n")}},
    {{S, "foo", FULL(""), "changelog-version", "--------"},
     {"CHANGELOG.md", MANIFEST_FILE_OK, STR_INIT("## 1.0.0 (2026-01-02)\n")}},
};
/* clang-format on */

static void judge(const struct row *row, const struct manifest_files *files)
{
    for (enum profile p = PROFILE_INSTALL; p <= PROFILE_PUBLISH; p++) {
        CLEANUP(reading_done) struct reading r;
        char want = row->levels[p];

        reading_of(&r, (struct manifest_input){.kind = row->kind,
                                               .text = str_cstr(row->text),
                                               .folder = str_cstr(row->folder),
                                               .files = files,
                                               .profile = p});
        if (level_said(&r, row->code) == want)
            continue;
        printf("# %s under profile %d: want %c, got: %s\n# %.200s\n", row->code,
               (int)p, want, diagnostics_text(&r), row->text);
        CHECK(level_said(&r, row->code) == want);
    }
}

TEST(levels_of_each_code)
{
    for (size_t i = 0; i < ROWS(rows); i++)
        judge(&rows[i], NULL);
}

TEST(levels_with_files) /* [K10, K11, M29] */
{
    for (size_t i = 0; i < ROWS(file_rows); i++) {
        struct case_files beside = {&file_rows[i].file, 1};
        struct manifest_files files = {case_read, &beside};

        judge(&file_rows[i].row, &files);
    }
}

/* A publisher wants all of them green: skills-ref alone refuses `version`. */
TEST(nothing_to_say_about_a_good_skill) /* [A2] */
{
    static const char text[] =
        DOC("name: foo\ndescription: Does it. Use when it is to be done.\n"
            "license: MIT\ncompatibility: git\nmetadata:\n  author: me\n"
            "allowed-tools: Read Bash(git add *)\n");

    for (enum profile p = PROFILE_INSTALL; p <= PROFILE_PUBLISH; p++) {
        CLEANUP(reading_done) struct reading r;
        bool versioned = p == PROFILE_METAAGENTS || p == PROFILE_PUBLISH;

        reading_of(&r, (struct manifest_input){.kind = DOC_SKILL,
                                               .text = str_cstr(text),
                                               .folder = STR("foo"),
                                               .profile = p});
        CHECK_STR(diagnostics_text(&r), versioned ? "version-missing:1!"
                                        : p == PROFILE_INSTALL
                                            ? "version-missing:1"
                                            : "");
    }
}

/* [X6], §5: --strict */
TEST(strict_turns_warnings_into_errors) /* [X6] */
{
    CLEANUP(reading_done) struct reading r;

    reading_of(&r, (struct manifest_input){
                       .kind = DOC_SKILL,
                       .text = STR(NAMED("author: me\nx_host_y: 1\n")),
                       .folder = STR("bar"),
                       .strict = true});
    CHECK_STR(diagnostics_text(&r),
              "version-missing:1! name-folder:2! unknown-field:4");
    CHECK(r.why.errors == 2 && r.why.warnings == 1);
}

/* [M15] */
TEST(file_dependencies_below_file_roots) /* [M15] */
{
    for (enum profile p = PROFILE_INSTALL; p <= PROFILE_PUBLISH; p++) {
        CLEANUP(reading_done) struct reading r;

        reading_of(&r, (struct manifest_input){
                           .kind = DOC_SKILL,
                           .text = STR(FULL("dependencies:\n  skills:\n"
                                            "    - file:/x\n")),
                           .folder = STR("foo"),
                           .allow_file = true,
                           .profile = p});
        CHECK(r.doc.dep_count == 1);
        CHECK(level_said(&r, "dep-file-origin") == "W---W--E"[p]);
    }
}

/* [A4, X15] what only an installation refuses does not hide a skill that lies
 * there already. What nobody can read, and what deceives its reader, does. */
TEST(read_in_place_it_is_met_with_warnings) /* [A4, X15] */
{
    static const struct {
        const char *text;
        unsigned errors;
    } in_place[] = {
        {NAMED("scope: acme\n"), 0}, /* and no version */
        {NAMED("scope: A\nversion: 1\n"), 0},
        {NAMED("prereqs: [a]\ndependencies: x\nscope: a\n"), 0},
        {NAMED("dependencies:\n  skills: x\n"), 0},
        {NAMED("dependencies:\n  skills:\n    - [1]\n    - nowhere\n"), 0},
        {NAMED("dependencies:\n  skills:\n    - file:/x\n"), 0},
        {NAMED("metaskill: 1\n"), 0},
        {NAMED("metaskill: /x\n"), 0},
        {DOC("name: foo\nscope: a\n"), 1},
        {NAMED("scope: \"a\\u202e\"\n"), 1},
    };

    for (size_t i = 0; i < ROWS(in_place); i++) {
        CLEANUP(reading_done) struct reading here;
        CLEANUP(reading_done) struct reading installed;
        struct manifest_input in = {.kind = DOC_SKILL,
                                    .text = str_cstr(in_place[i].text),
                                    .folder = STR("bar"),
                                    .in_place = true};

        reading_of(&here, in);
        in.in_place = false;
        reading_of(&installed, in);
        CHECK(here.why.errors == in_place[i].errors);
        CHECK(installed.why.errors > 0);
        CHECK(here.why.count >= installed.why.count);
        if (tap_failed)
            printf("# row %zu: %s\n", i, diagnostics_text(&here));
    }
}

/* [row 7] recorded by the lock, so it has to be asked for. */
TEST(hidden_characters_can_be_accepted_in_bodies_alone) /* [row 7] */
{
    CLEANUP(reading_done) struct reading body;
    CLEANUP(reading_done) struct reading name;

    reading_of(&body, (struct manifest_input){
                          .kind = DOC_SKILL,
                          .text = STR(FULL("x: \"\\u202e\"\n") "\xe2\x80\xae"),
                          .folder = STR("foo"),
                          .allow_hidden = true});
    CHECK_STR(diagnostics_text(&body), "");
    CHECK(body.doc.hidden);
    reading_of(&name, (struct manifest_input){
                          .kind = DOC_SKILL,
                          .text = STR(DOC("name: foo\nversion: 1.0.0\n"
                                          "description: a\xe2\x80\xae\n")),
                          .folder = STR("foo"),
                          .allow_hidden = true});
    CHECK_STR(diagnostics_text(&name), "hidden-characters:4!");
}
