# mapm: one Makefile, no recursion into folders. `make help` lists the targets.
#
# Each variant has its own folder, so none rebuilds another:
#   make B=build/san SAN=address,undefined test      (or: make san)
# V=1 shows the commands. JOBS=N limits how many run at once.

B       ?= build
PREFIX  ?= /usr/local
MANDIR  ?= $(PREFIX)/share/man
LIBDIR  ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
SHAREDIR := $(PREFIX)/share/mapm
CFLAGS  ?= -O2 -g
OBJCOPY ?= objcopy
JOBS    ?= $(shell nproc)
SECONDS ?= 30
VERSION := 0.1.0

# mapm: everything but the network. mapm-fetch: base and fetch, with the
# libraries that cost milliseconds to load (docs/processes.md).
MODULES    := base clients manifest state teamstore resolver library store fetch plugin provision runtime mcp authorize workspace \
              install lint run discover scaffold batch report serve doctor skill_test cli program
PKGS       := yaml-0.1 nettle libutf8proc libseccomp sqlite3 zlib
FETCH_PKGS := libcurl libgit2
# The language stands alone: its archive serves any C program (examples/embed).
STAR_PKGS  := libtommath libutf8proc
PKG_CFLAGS       := $(shell pkg-config --cflags $(PKGS) $(FETCH_PKGS) $(STAR_PKGS) 2>/dev/null)
PKG_LIBS         := $(shell pkg-config --libs $(PKGS) 2>/dev/null)
STAR_PKG_LIBS    := $(shell pkg-config --libs $(STAR_PKGS) 2>/dev/null) -lm
FETCH_PKG_LIBS   := $(shell pkg-config --libs $(FETCH_PKGS) 2>/dev/null)

SRC       := $(wildcard $(MODULES:%=%/*.c) cli/*/*.c)
FETCH_SRC := $(wildcard fetch/worker/*.c)
HELPER_SRC  := $(wildcard runtime/helper/*.c)
ENGINE_SRC := $(wildcard libmapm/engine/*.c)
HOST_SRC  := $(wildcard libmapm/*.c)
STAR_SRC  := $(wildcard starlark/*.c starlark/*/*.c)
HEADERS   := $(wildcard include/*.h include/*/*.h libmapm/*.h libmapm/engine/*.h $(MODULES:%=%/*.h) cli/*/*.h fetch/worker/*.h starlark/*/*.h)
TEST_SRC  := $(wildcard tests/unit/*.[ch] tests/fuzz/*.[ch] tests/lib/*.[ch])
OBJ       := $(SRC:%.c=$(B)/%.o)
FETCH_OBJ := $(FETCH_SRC:%.c=$(B)/%.o)
HELPER_OBJ  := $(HELPER_SRC:%.c=$(B)/%.o)
LIB       := $(B)/mapm.a
FETCH_LIB := $(B)/libfetch.a
STAR_OBJ  := $(STAR_SRC:%.c=$(B)/%.o)
# Ours and the tests' has private symbols; the libraries export star_* alone.
STAR_LIB  := $(B)/starlark.a
STAR_LIBS := $(B)/libstarlark.a $(B)/libstarlark.so.0
# The library in the process of a host: the wire and what it needs of base.
HOST_BASE := $(patsubst %,base/%.c,arena buf env err fs fs_open path proc_child proc_rest proc_signal str)
HOST_OBJ  := $(HOST_SRC:%.c=$(B)/pic/%.o) $(HOST_BASE:%.c=$(B)/pic/%.o)
ENGINE_OBJ := $(ENGINE_SRC:%.c=$(B)/%.o) $(B)/libmapm/wire.o
HOST_LIBS := $(B)/libmapm.a $(B)/libmapm.so.0
UNIT_TESTS := $(patsubst tests/unit/%.c,$(B)/unit/%,$(wildcard tests/unit/*_test.c))
FUZZ      := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
MAN       := $(wildcard man/*.[1357])
SCHEMAS   := $(wildcard schemas/*.json schemas/output/*.json)

comma := ,
WARN  := -Wall -Wextra -Wshadow -Wconversion -Wformat=2 -Wundef \
         -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wcast-qual \
         -Wpointer-arith -Wvla -fno-common
HARDEN := -fstack-protector-strong -fstack-clash-protection -fPIE
DIALECT := -std=gnu11 -D_GNU_SOURCE -DMAPM_VERSION='"$(VERSION)"' -Iinclude
FLAGS := $(DIALECT) $(PKG_CFLAGS) $(WARN) $(HARDEN) -pthread
# Relative relocations packed, where the linker can: 1.5 KB in mapm instead of 135.
MACHINE := $(shell $(CC) -dumpmachine 2>/dev/null)
LDHARD := -pie -Wl,-z,relro,-z,now,-z,noexecstack $(if $(filter x86_64-%,$(MACHINE)),-Wl$(comma)-z$(comma)pack-relative-relocs) \
          -Wl,--as-needed -pthread
# A tenth of a program would be tables to unwind its stack, which none does: the
# debug file has them. Those of the archives are beside the debug information
# (program/unwind.ld). Hosts do unwind theirs, through the libraries.
UNWIND  := -fasynchronous-unwind-tables
TABLES  := -Wl,--no-eh-frame-hdr,-T,program/unwind.ld
ifdef SAN
FLAGS   += -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer
LDHARD  += -fsanitize=$(SAN)
TABLES  :=
# The tests start tens of thousands of programs. One with its runtime inside, at a
# fixed address, starts faster; and gcc counts the text of each check of UBSan as a
# variable that ASan has to watch: nine of ten in mapm, 8 MB. So a check that fails is
# a trap, of which ASan prints the line (handle_sigill); for the text, too:
# CPPFLAGS=-fno-sanitize-undefined-trap-on-error. (clang has neither fault.)
ifneq ($(and $(findstring address,$(SAN)),$(filter-out clang%,$(CC))),)
PROGRAM += -no-pie -static-libasan -static-libubsan
FLAGS   += -fsanitize-undefined-trap-on-error
export ASAN_OPTIONS := handle_sigill=1:exitcode=99$(if $(ASAN_OPTIONS),:$(ASAN_OPTIONS))
endif
else
FLAGS   += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fno-asynchronous-unwind-tables \
           -ffunction-sections -fdata-sections
LDHARD  += -Wl,--gc-sections
endif
COMPILE = $(CC) $(FLAGS) $(CPPFLAGS) $(CFLAGS)
LINK    = $(CC) $(CFLAGS) $(LDHARD) $(PROGRAM) $(LDFLAGS) -o $@
# The libraries of mapm itself come out of their archives where these are
# installed: finding and relocating five shared ones took a fifth of the time of
# a short command. SHARED=1 links them as shared ones.
ARCHIVES = $(if $(SHARED),$(1),$(foreach l,$(1),$(call ARCHIVE,$(l))))
ARCHIVE  = $(if $(filter-out -lm,$(1)),$(if $(findstring /,$(shell $(CC) -print-file-name=$(1:-l%=lib%.a))),$(1:-l%=-l:lib%.a),$(1)),$(1))
# SAY,word: one short line a step, or with V=1 the command itself.
SAY     = $(if $(V),,@echo '  $(1) $@';)
# The jobs of a make that this one starts, unless it got its own already.
SUBMAKE = $(MAKE) --no-print-directory \
          $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))

all: $(B)/mapm $(B)/mapm-fetch $(B)/mapm-cage $(B)/mapm-engine $(STAR_LIBS) $(HOST_LIBS) $(B)/star-serve

$(B)/mapm: $(B)/program/main.o $(ENGINE_OBJ) $(LIB) $(STAR_LIB)
	$(call SAY,LD)$(LINK) $^ $(call ARCHIVES,$(PKG_LIBS) $(STAR_PKG_LIBS)) $(LDLIBS)

$(B)/mapm $(B)/mapm-fetch $(B)/mapm-cage: LDHARD += $(TABLES)

# What comes out of archives is for it alone: libgnutls brings its own nettle.
# The larger ones are shared: beside libcurl and libgit2 they take no time to load.
FETCH_SHARED = $(filter -lutf8proc -lyaml -lseccomp -lz,$(PKG_LIBS))
$(B)/mapm-fetch: LDFLAGS += -Wl,--exclude-libs,ALL
$(B)/mapm-fetch: $(B)/fetch/worker/main.o $(FETCH_LIB) $(LIB)
	$(call SAY,LD)$(LINK) $^ $(FETCH_PKG_LIBS) $(call ARCHIVES,$(filter-out $(FETCH_SHARED),$(PKG_LIBS))) $(FETCH_SHARED) $(LDLIBS)

# Started for each command: only what it needs of base comes out of the archive.
$(B)/mapm-cage: $(HELPER_OBJ) $(LIB)
	$(call SAY,LD)$(LINK) $^ $(call ARCHIVES,$(PKG_LIBS)) $(LDLIBS)

$(LIB): $(filter-out $(B)/program/main.o,$(OBJ)) $(B)/members
	@rm -f $@
	$(call SAY,AR)$(AR) qcs $@ $(filter %.o,$^)

$(FETCH_LIB): $(filter-out $(B)/fetch/worker/main.o,$(FETCH_OBJ)) $(B)/members
	@rm -f $@
	$(call SAY,AR)$(AR) qcs $@ $(filter %.o,$^)

$(STAR_LIB): $(STAR_OBJ) $(B)/members
	@rm -f $@
	$(call SAY,AR)$(AR) qcs $@ $(filter %.o,$^)

# One object, in which EXPORTED alone is global; and the same as a shared library.
LINK_ARCHIVE = $(CC) -r -nostdlib -Wl,--gc-sections,--gc-keep-exported -o $(@:.a=.o) $(filter %.o,$^) && \
	  $(OBJCOPY) --wildcard --keep-global-symbol='$(EXPORTED)_*' $(@:.a=.o) && \
	  rm -f $@ && $(AR) qcs $@ $(@:.a=.o)
LINK_SHARED = $(CC) $(CFLAGS) $(filter-out -pie,$(LDHARD)) $(LDFLAGS) -shared \
	  -Wl,-soname,$(@F) -Wl,-Bsymbolic-functions -o $@ $(filter %.o,$^)
$(STAR_OBJ): COMPILE += -fPIC -fvisibility=hidden $(UNWIND)
$(B)/libstarlark.a: EXPORTED = star
$(B)/libstarlark.a: $(STAR_OBJ) $(B)/members
	$(call SAY,AR)$(LINK_ARCHIVE)
$(B)/libstarlark.so.0: $(STAR_OBJ) $(B)/members
	$(call SAY,LD)$(LINK_SHARED) $(STAR_PKG_LIBS)

# Functions of base that the library does not call are left out of it.
$(HOST_OBJ): COMPILE += -fPIC -fvisibility=hidden $(UNWIND) -ffunction-sections
$(B)/pic/libmapm/%.o: COMPILE += -DMAPM_LIBEXECDIR='"$(PREFIX)/libexec/mapm"'
$(B)/pic/libmapm/mapm.o: $(B)/prefix
$(B)/pic/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call SAY,CC)$(COMPILE) -MMD -MP -c -o $@ $<
$(B)/libmapm.a: EXPORTED = mapm
$(B)/libmapm.a: $(HOST_OBJ) $(B)/members
	$(call SAY,AR)$(LINK_ARCHIVE)
$(B)/libmapm.so.0: $(HOST_OBJ) $(B)/members
	$(call SAY,LD)$(LINK_SHARED) -Wl,--gc-sections

# The process behind libmapm: mapm by another name (program/main.c).
$(B)/mapm-engine: $(B)/mapm
	$(call SAY,LN)ln -sf mapm $@

# Tests are compiled once and run once: that time is better spent on what they test.
$(B)/tests/%.o: COMPILE += -Itests/lib $(if $(SAN),-O0,-O1)
$(B)/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call SAY,CC)$(COMPILE) -MMD -MP -c -o $@ $<

# Who builds it, and from what (include/mapm/built.h).
BUILT ?=
$(B)/cli/help.o $(B)/doctor/checks.o: COMPILE += $(BUILT)
$(B)/cli/help.o $(B)/doctor/checks.o: $(B)/built

# Files that an object embeds (base/embed.h).
$(B)/scaffold/package.o $(B)/scaffold/workspace.o: $(wildcard scaffold/templates/*)
$(B)/cli/completion.o: $(wildcard cli/completion/*)
$(B)/report/page.o $(B)/report/graph.o $(B)/report/catalog.o: report/base.css
$(B)/report/page.o: report/style.css
$(B)/report/graph.o: report/graph.css
$(B)/report/catalog.o: report/catalog.css report/catalog.js
$(B)/runtime/sandbox_view.o: runtime/sandbox_hidden.list
$(B)/state/search_words.o: state/synonyms.txt state/general_words.txt

$(B)/unit/%: $(B)/tests/unit/%.o $(FETCH_LIB) $(LIB) $(STAR_LIB)
	@mkdir -p $(@D)
	$(call SAY,LD)$(LINK) $^ $(FETCH_PKG_LIBS) $(PKG_LIBS) $(STAR_PKG_LIBS) $(LDLIBS)

# Tests of the language see its private headers, and nothing else of ours.
$(B)/tests/unit/star_%.o $(B)/tests/fuzz/fuzz_star%.o \
  $(B)/tests/lib/star_serve.o $(B)/tests/lib/star_verify.o: COMPILE += -Istarlark
$(B)/unit/star_%: $(B)/tests/unit/star_%.o $(STAR_LIB)
	@mkdir -p $(@D)
	$(call SAY,LD)$(LINK) $^ $(STAR_PKG_LIBS) $(LDLIBS)

$(B)/tests/unit/wire_test.o: COMPILE += -Ilibmapm
$(B)/unit/wire_test: $(B)/libmapm/wire.o

# The verifier of compiled code: the product compiles all that it executes.
$(B)/unit/star_verify_test $(B)/unit/star_compile_test $(B)/star-serve \
  $(B)/replay/fuzz_star_verify $(B)/fuzz/fuzz_star_verify \
  $(B)/replay/fuzz_star_compile $(B)/fuzz/fuzz_star_compile: $(B)/tests/lib/star_verify.o

# They run commands; the helper that confines them is expected beside them.
$(B)/unit/sandbox_test $(B)/unit/command_runner_test: | $(B)/unit/mapm-cage
$(B)/unit/mapm-cage: $(B)/mapm-cage
	@mkdir -p $(@D) && ln -sf ../mapm-cage $@

# This test stands between the language and its memory.
WRAPPED := mmap mremap malloc sl_alloc sl_alloc_part sl_storage sl_storage_resize
$(B)/unit/star_faults_test: LDFLAGS += $(WRAPPED:%=-Wl,--wrap=%)

# Runs programs of the language from a pipe: for tests and fuzzers.
$(B)/star-serve: $(B)/tests/lib/star_serve.o $(STAR_LIB)
	$(call SAY,LD)$(LINK) $^ $(STAR_PKG_LIBS) $(LDLIBS)

# The example of a program that embeds the language; tests/star/embed.t runs it.
$(B)/embed: $(B)/examples/embed/embed.o $(B)/libstarlark.a
	$(call SAY,LD)$(LINK) $^ $(STAR_PKG_LIBS) $(LDLIBS)

# What tests/cli/fetch*.t drive mapm-fetch with; it stands beside it.
$(B)/fetch_drive: $(B)/tests/lib/fetch_drive.o $(LIB)
	$(call SAY,LD)$(LINK) $^ $(PKG_LIBS) $(LDLIBS)

# What tests/cli/ask_http.t asks an API with; it stands beside mapm-fetch.
$(B)/ask_drive: $(B)/tests/lib/ask_drive.o $(LIB) $(STAR_LIB)
	$(call SAY,LD)$(LINK) $^ $(PKG_LIBS) $(STAR_PKG_LIBS) $(LDLIBS)

# The table of clients, for tests/cli/client_table.t and docs/clients.md.
$(B)/client_table: $(B)/tests/lib/client_table.o $(LIB)
	$(call SAY,LD)$(LINK) $^ $(PKG_LIBS) $(LDLIBS)

# What the schemas of mapm.yaml have from tables, for tests/cli/schemas.t.
$(B)/schema_facts: $(B)/tests/lib/schema_facts.o $(LIB)
	$(call SAY,LD)$(LINK) $^ $(PKG_LIBS) $(LDLIBS)

# A server of the protocol for tests/mcp, with what the official suite wants.
$(B)/mcp_fixture: $(B)/tests/lib/mcp_fixture.o $(LIB)
	$(call SAY,LD)$(LINK) $^ $(PKG_LIBS) $(LDLIBS)

# What tests/cli/durable.t preloads: a recorder of calls, never sanitized.
$(B)/calls.so: tests/lib/calls.c $(B)/flags
	$(call SAY,LD)$(CC) $(DIALECT) $(WARN) -O2 -fPIC -shared -pthread -o $@ $<

# A corpus player for each fuzz target, and the fuzzer itself (clang).
FUZZ_LIBS = $(FETCH_LIB) $(LIB) $(STAR_LIB)
$(B)/replay/%: $(B)/tests/fuzz/%.o $(B)/tests/fuzz/replay.o $(FUZZ_LIBS)
	@mkdir -p $(@D)
	$(call SAY,LD)$(LINK) $^ $(FETCH_PKG_LIBS) $(PKG_LIBS) $(STAR_PKG_LIBS) $(LDLIBS)

$(B)/fuzz/%: $(B)/tests/fuzz/%.o $(FUZZ_LIBS)
	@mkdir -p $(@D)
	$(call SAY,LD)$(LINK) -fsanitize=fuzzer $^ $(FETCH_PKG_LIBS) $(PKG_LIBS) $(STAR_PKG_LIBS) $(LDLIBS)

# Written only when their text changes: new flags or a removed file rebuild
# what they concern, the same ones nothing.
KEEP = mkdir -p $(@D); printf '%s\n' $(1) | cmp -s - $@ || printf '%s\n' $(1) >$@
QUOTE = '$(subst ','\'',$(1))'
$(B)/flags: FORCE
	@$(call KEEP,$(call QUOTE,$(CC) $(FLAGS) $(CPPFLAGS) $(CFLAGS)))
$(B)/built: FORCE
	@$(call KEEP,$(call QUOTE,$(BUILT)))
$(B)/prefix: FORCE
	@$(call KEEP,$(call QUOTE,$(PREFIX)))
$(B)/members: FORCE
	@$(call KEEP,$(call QUOTE,$(SRC) $(FETCH_SRC) $(HELPER_SRC) $(ENGINE_SRC) $(HOST_SRC) $(HOST_BASE) $(STAR_SRC)))

## Tests

# Everything prints TAP. A test that hangs is stopped after ten minutes.
# Files that take longest start first; much of their time is waiting, so that more
# of them run at once than there are processors.
LONG_TESTS = tests/githost/selftest.t $(B)/unit/sandbox_test $(patsubst %,tests/cli/%.t, \
             ssh threats_hosts durable damaged_state limits growth output threats_package threats_crash \
             threats_trees threats_workspace post fetch_servers policy fetch_faults install check \
             mcp_sampling flaws names proof_also mcp_run proof fetch batch_kill \
             completion members month patch advice fresh picture) tests/star/hostile.t $(B)/unit/swap_test
# What runs no program of this build proves nothing more under sanitizers, and the
# costs of a sanitizer build are not those of mapm. Others run one command, which
# other tests run, many times over (batch_kill, durable, plugin_crash), or mostly a shell (completion).
PLAIN_TESTS = $(patsubst %,tests/cli/%.t,batch_kill completion cost durable growth hardening host make_install man mutants opcodes packaging plugin_crash requirements run_cost site sshd) \
              tests/githost/selftest.t
ALL_TESTS  = $(UNIT_TESTS) tests/fuzz/replay.t tests/githost/selftest.t \
             $(wildcard tests/star/*.t tests/mcp/*.t tests/cli/*.t)
# T=family chooses: cli, star, mcp, fuzz, githost, unit, or the beginning of the
# names of files: T='cli/check unit/json'.
CHOSEN     = $(if $(T),$(foreach t,$(T),$(filter tests/$(t)/% tests/$(t)%.t $(B)/$(t)/% $(B)/$(t)%,$(ALL_TESTS))),$(ALL_TESTS))
SUITE      = $(filter-out $(if $(SAN),$(PLAIN_TESTS)),$(sort $(CHOSEN)))
TESTS      = $(filter $(SUITE),$(LONG_TESTS)) \
             $(filter-out $(LONG_TESTS),$(SUITE))
# Commands write many small files, and a disk makes them wait. These that write most
# use memory, where tests/lib/memory finds some. A sanitizer build, which repeats what
# `make check` did on a disk, does so for every test of a command but that of the disk.
MEMORY_TESTS = $(patsubst %,tests/cli/%.t,batch batch_kill limits user_level growth durable damaged_state members month threats_trees threats_package check run_cost) \
               tests/githost/selftest.t
IN_MEMORY  = $(if $(SAN),$(filter-out %/threats_crash.t,$(filter tests/cli/% tests/mcp/%,$(TESTS))),$(MEMORY_TESTS))
# (path/python3: a shim of a version manager starts dozens of shells for each Python.)
TEST_JOBS ?= $(shell expr 2 '*' $(JOBS))
TEST_TOOLS = all $(patsubst %,$(B)/%,fetch_drive ask_drive mcp_fixture client_table schema_facts embed calls.so)
test: $(TEST_TOOLS) $(filter $(UNIT_TESTS),$(TESTS)) $(if $(filter tests/fuzz/%,$(TESTS)),$(FUZZ:%=$(B)/replay/%))
	@rm -rf $(B)/tap && mkdir -p $(B)/tap $(B)/path
	@ln -sf "$$(python3 -c 'import sys; print(sys.executable)')" $(B)/path/python3
	PATH=$(abspath $(B)/path):$$PATH MAPM=$(abspath $(B)/mapm) MAPM_BUILD=$(abspath $(B)) \
	  TEST_MEMORY="$$(tests/lib/memory)" TESTS_IN_MEMORY='$(IN_MEMORY)' \
	  prove -j$(TEST_JOBS) -f -o --exec 'tests/lib/tap_log $(abspath $(B)/tap)' $(TESTS); \
	  failed=$$?; tools/skips $(abspath $(B)/tap); exit $$failed

# The official suite of the language, which is not ours to carry along.
conformance-star: $(B)/star-serve
	@MAPM_BUILD=$(abspath $(B)) tests/star/conformance '$(SUITE)'

# That of the Model Context Protocol, its Inspector and the clients of its SDK,
# from npm; not part of `make check`.
conformance: all $(B)/mcp_fixture
	MAPM_BUILD=$(abspath $(B)) tests/mcp/conformance $(SCENARIOS)

check:
	@tools/setup test
	@$(SUBMAKE) test

quickstart:
	@tools/setup run
	@$(SUBMAKE) all
	@MAPM=$(abspath $(B)/mapm) tools/quickstart

san:
	@tools/setup test
	@$(SUBMAKE) B=build/san \
	  SAN=address,undefined CFLAGS='-O1 -g1' test

# The tests of the language where every allocation collects garbage first, and a
# free cell is out of bounds: what is not held is found.
star-gc:
	@tools/setup test
	@$(SUBMAKE) B=build/gc SAN=address,undefined CFLAGS='-O1 -g' \
	  CPPFLAGS=-DSL_COLLECT_ALWAYS star-test
# The same with every size at which another path begins made tiny, and (clang)
# under MSan, which sees what was never written.
star-tiny:
	@tools/setup test
	@$(SUBMAKE) B=build/tiny SAN=address,undefined CFLAGS='-O1 -g' \
	  CPPFLAGS=-DSL_TINY STAR_SIZES='star_compile_test star_lib_test star_text_test star_vm_test' \
	  star-test
star-msan:
	@tools/setup lint
	@$(SUBMAKE) B=build/msan CC=clang SAN=memory CFLAGS='-O1 -g' star-test
# STAR_SIZES: those that say which sizes are usual.
STAR_UNIT = $(filter-out $(STAR_SIZES:%=$(B)/unit/%),$(filter $(B)/unit/star_%,$(UNIT_TESTS)))
star-test: $(STAR_UNIT) $(B)/star-serve $(B)/embed
	MAPM_BUILD=$(abspath $(B)) prove -j$(JOBS) -f -o \
	  --exec 'timeout -k 10 1200' $(STAR_UNIT) tests/star/run.t tests/star/embed.t

# The programs of tests/star alone in those three builds: what .ci/run has time
# for. A collection at every allocation is slow under ASan, and goes without.
star-builds:
	@tools/setup lint
	@$(SUBMAKE) star-run-gc star-run-tiny star-run-msan
star-run-gc:
	@$(SUBMAKE) B=build/gc-plain CPPFLAGS=-DSL_COLLECT_ALWAYS star-run
star-run-tiny:
	@$(SUBMAKE) B=build/tiny SAN=address,undefined CFLAGS='-O1 -g' \
	  CPPFLAGS=-DSL_TINY star-run
star-run-msan:
	@$(SUBMAKE) B=build/msan CC=clang SAN=memory CFLAGS='-O1 -g' star-run
star-run: $(B)/star-serve
	MAPM_BUILD=$(abspath $(B)) prove --exec 'timeout -k 10 600' tests/star/run.t

# SECONDS=N for each target; FUZZ='fuzz_json fuzz_yaml' chooses some of them.
fuzz:
	@tools/setup lint
	@$(SUBMAKE) B=build/fuzz CC=clang SAN=fuzzer-no-link,address,undefined \
	  CFLAGS='-O1 -g' fuzz-all

fuzz-all: $(FUZZ:%=$(B)/fuzz/%)
	@for f in $(FUZZ); do mkdir -p $(B)/found/$$f && echo "  FUZZ $$f" && \
	  $(B)/fuzz/$$f -max_total_time=$(SECONDS) -max_len=65536 -timeout=20 \
	  -rss_limit_mb=2048 -verbosity=0 -print_final_stats=1 \
	  -artifact_prefix=$(B)/found/$$f- \
	  $(B)/found/$$f tests/fuzz/corpus/$$f || exit 1; done

# What each saved input of a fuzz target gives, written anew: `git diff` shows what
# a change did to them.
outcomes: $(patsubst tests/fuzz/outcomes/%,$(B)/replay/%,$(wildcard tests/fuzz/outcomes/*))
	@for f in $(^F); do $(B)/replay/$$f -w tests/fuzz/corpus/$$f/* 2>/dev/null || exit 1; done

# Breaks the program on purpose and counts what the tests notice; an hour for all.
# MODULE='store fetch' chooses, COUNT and SEED say which random mutations; UNIT=1: by
# unit tests alone; AGAIN=FILE: those of an output of -v.
mutants:
	@tools/mutants $(MODULE:%=--module %) $(COUNT:%=--count %) $(SEED:%=--seed %) $(AGAIN:%=--again %) $(if $(UNIT),--unit) \
	  --make "$(MAKE) --no-print-directory -j2 CC='$(CC)' CFLAGS=-O2"

coverage:
	@$(SUBMAKE) B=build/cov CFLAGS='-O0 -g --coverage' test; failed=$$?; \
	  tools/coverage build/cov; exit $$failed

# CHECK=1 fails when a goal is missed; ROWS='warm graph' chooses.
bench: all $(B)/unit/search_test
	MAPM=$(abspath $(B)/mapm) bench/run $(if $(CHECK),--check) $(ROWS)

# The language against CPython, in the same run.
bench-star: all
	bench/star/run $(abspath $(B)/mapm) star

# Every preset of `ask` with the real program, from npm, and a scripted model.
bench-clients: all
	MAPM=$(abspath $(B)/mapm) bench/clients/run $(CLIENTS)
# Each of them as a client of `mapm mcp`, in a workspace that mapm provisioned; of
# 1,033 skills what three of them send, and what they find; plugins, as each sees them.
clients: all
	MAPM=$(abspath $(B)/mapm) bench/clients/call $(CLIENTS)
	MAPM=$(abspath $(B)/mapm) bench/clients/search $(CLIENTS)
	MAPM=$(abspath $(B)/mapm) bench/clients/plugins $(CLIENTS)

## Reading

lint:
	@tools/setup lint
	@$(SUBMAKE) -k lint-format lint-layers lint-headers lint-cppcheck lint-man \
	  lint-shell lint-waits lint-words lint-mutants
	@$(SUBMAKE) -k lint-tidy

BENCH_SRC := $(wildcard bench/*.c)
lint-format:
	@echo '  clang-format'
	@clang-format --dry-run -Werror $(SRC) $(FETCH_SRC) $(HELPER_SRC) $(ENGINE_SRC) $(HOST_SRC) $(STAR_SRC) $(HEADERS) \
	  $(TEST_SRC) $(BENCH_SRC)

lint-layers:
	@echo '  tools/layers, tools/architecture'
	@tools/layers
	@tools/architecture
	@$(SUBMAKE) all >/dev/null && tools/objects $(B)

lint-headers:
	@echo '  tools/headers'
	@tools/headers $(CC) $(DIALECT) $(PKG_CFLAGS) $(WARN) -- $(HEADERS)

# uninitvar: taking an address is a use to it; the compilers see the real ones.
# vm.c: labels as values are no C to it.
lint-cppcheck:
	@echo '  cppcheck'
	@cppcheck -q -j$(JOBS) --enable=warning,performance,portability --std=c11 \
	  -D_GNU_SOURCE -Iinclude --inline-suppr --suppress=uninitvar \
	  --suppress=syntaxError:starlark/vm/vm.c \
	  --error-exitcode=1 \
	  $(SRC) $(FETCH_SRC) $(HELPER_SRC) $(ENGINE_SRC) $(HOST_SRC) $(STAR_SRC)

lint-man:
	$(if $(MAN),@echo '  mandoc'; mandoc -Tlint -Wwarning $(MAN))

SCRIPTS = $(wildcard tools/* bench/run bench/*.py bench/star/run bench/clients/* .ci/run packaging/dist packaging/*/build packaging/*/check tests/*/*.t tests/lib/*.sh)
lint-shell:
	@echo '  sh -n, python3'
	@python3 -c 'import ast, sys; [ast.parse(open(f).read(), f) for f in sys.argv[1:]]' \
	  $$(awk 'FNR == 1 { if (/python3( -S)?$$/ || /^"""/) print FILENAME; nextfile }' $(SCRIPTS))
	@for f in $$(awk 'FNR == 1 { if (/sh$$/) print FILENAME; nextfile }' $(SCRIPTS)); do \
	  sh -n $$f || exit 1; done

lint-waits:
	@echo '  tools/waits'
	@tools/waits

lint-words:
	@echo '  tools/words'
	@tools/words

lint-mutants:
	@echo '  tools/mutants --check'
	@tools/mutants --check

# Only what changed since is read again, and everything when a header did. Files share
# a process, which halves the time.
TIDY_SRC = $(SRC) $(FETCH_SRC) $(HELPER_SRC) $(ENGINE_SRC) $(HOST_SRC) $(STAR_SRC)
lint-tidy: $(B)/tidied
$(B)/tidied: $(TIDY_SRC) $(HEADERS) .clang-tidy
	@mkdir -p $(@D)
	@echo '  clang-tidy'
	@printf '%s\n' $(if $(filter-out %.c,$?),$(TIDY_SRC),$?) | xargs -P $(JOBS) -n 16 sh -c \
	  'clang-tidy --quiet --warnings-as-errors="*" --checks="$(TIDY_CHECKS)" "$$@" -- \
	  $(subst ','\'',$(DIALECT)) $(PKG_CFLAGS)' - 2>$@.log || { cat $@.log; exit 1; }
	@touch $@

# The two that follow every path take minutes, so they are no part of lint.
TIDY_CHECKS = -clang-analyzer-*
analyze:
	@tools/setup lint
	@$(SUBMAKE) -k B=build/ana TIDY_CHECKS= lint-tidy
	@$(SUBMAKE) -k B=build/ana CFLAGS='-O2 -g -fanalyzer -Werror' all

# Pages of the README, docs/, man/ and examples/, with a search, to open as files.
site:
	@tools/setup site
	@rm -rf $(B)/site && tools/site $(B)/site

## Installing

SHARE = $(DESTDIR)$(PREFIX)/share
COMPLETION = bash $(SHARE)/bash-completion/completions/mapm \
             zsh  $(SHARE)/zsh/site-functions/_mapm \
             fish $(SHARE)/fish/vendor_completions.d/mapm.fish
# A copy of what was stripped: what strip or the linker has just written lies in the page
# cache in small pieces, and each command takes 0.05 to 0.2 ms longer. Nothing is written
# below B: several installs of one build may run at once.
# DEBUG=1 keeps the symbols, which the programs go without, in a folder .debug
# beside each program: there debuggers look for them. Tables of the archives they read
# in the program alone.
# STRIP=true leaves it to dh_strip.
STRIP   ?= strip
BINDIR   = $(DESTDIR)$(PREFIX)/bin
LIBEXEC  = $(DESTDIR)$(PREFIX)/libexec/mapm
PROGRAMS = $(BINDIR)/mapm $(patsubst %,$(LIBEXEC)/mapm-%,fetch cage)
HEADER_DIR = $(DESTDIR)$(INCLUDEDIR)
PC_DIR   = $(DESTDIR)$(LIBDIR)/pkgconfig
INSTALL_DEBUG = d=$${p%/*}/.debug; f=$$d/$${p\#\#*/}.debug; mkdir -p $$d && \
	  $(OBJCOPY) --only-keep-debug $(B)/$${p\#\#*/} $$f && chmod 644 $$f && \
	  $(OBJCOPY) --add-gnu-debuglink=$$f $$p || exit 1;
install: install-programs install-share install-libraries

install-programs: all
	for p in $(PROGRAMS); do \
	  install -D -m 755 $(B)/$${p##*/} $$p.stripped && \
	  $(STRIP) $(if $(DEBUG),,-R .eh_frame) $$p.stripped && \
	  install -m 755 $$p.stripped $$p && rm $$p.stripped || exit 1; \
	  $(if $(DEBUG),$(INSTALL_DEBUG)) done
	ln -sf ../../bin/mapm $(LIBEXEC)/mapm-engine

# COMPLETER: the program that writes the completions, of a build for this machine.
COMPLETER ?= $(B)/mapm
install-share: all
	for m in $(MAN:man/%=%); do \
	  install -D -m 644 man/$$m $(DESTDIR)$(MANDIR)/man$${m##*.}/$$m || exit 1; done
	set -- $(COMPLETION); while [ $$# -gt 0 ]; do mkdir -p "$${2%/*}" && \
	  $(COMPLETER) completion $$1 >"$$2" && chmod 644 "$$2" || exit 1; shift 2; done
	for s in $(SCHEMAS); do \
	  install -D -m 644 $$s $(DESTDIR)$(SHAREDIR)/$$s || exit 1; done

install-libraries: all
	install -D -m 644 include/mapm/starlark.h $(HEADER_DIR)/mapm/starlark.h
	install -D -m 644 include/mapm.h $(HEADER_DIR)/mapm.h
	for l in starlark mapm; do d=$(DESTDIR)$(LIBDIR)/lib$$l; \
	  install -D -m 644 $(B)/lib$$l.a $$d.a && $(STRIP) --strip-debug $$d.a && \
	  install -D -m 755 -s --strip-program='$(STRIP)' $(B)/lib$$l.so.0 $$d.so.0 && \
	  ln -sf lib$$l.so.0 $$d.so && mkdir -p $(PC_DIR) && \
	  sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' \
	    -e 's|@VERSION@|$(VERSION)|' */$$l.pc.in >$(PC_DIR)/$$l.pc && \
	  chmod 644 $(PC_DIR)/$$l.pc || exit 1; done

uninstall:
	rm -f $(BINDIR)/mapm $(BINDIR)/.debug/mapm.debug $(filter /%,$(COMPLETION))
	-rmdir $(BINDIR)/.debug 2>/dev/null
	rm -rf $(LIBEXEC)
	rm -f $(HEADER_DIR)/mapm.h $(HEADER_DIR)/mapm/starlark.h
	rm -rf $(DESTDIR)$(SHAREDIR)
	for l in starlark mapm; do rm -f $(PC_DIR)/$$l.pc $(DESTDIR)$(LIBDIR)/lib$$l.*; done
	for m in $(MAN:man/%=%); do rm -f $(DESTDIR)$(MANDIR)/man$${m##*.}/$$m; done

## Releases

# Artifacts in DIST, by packaging/*/build; PARTS='static npm' chooses. The check, with
# tests/release, is no part of `make check`.
DIST ?= $(B)/dist
dist:
	@tools/setup release || :
	@packaging/dist $(DIST) $(PARTS)

release-check:
	@tools/setup release || :
	@$(SUBMAKE) $(TEST_TOOLS)
	@packaging/dist --check $(DIST) $(PARTS)

clean: ; rm -rf build

help:
	@echo 'make              build the programs and libraries in build/'
	@echo 'make quickstart   set up, build, install an example agent, run a metaskill'
	@echo 'make check        set up, build, and run every test'
	@echo 'make test         every test (T=cli, T="unit/json cli/check" chooses)'
	@echo 'make san          the same tests under ASan and UBSan'
	@echo 'make star-gc      tests of the language, collecting at every allocation'
	@echo 'make star-tiny    the same with tiny sizes; star-msan under MSan'
	@echo 'make fuzz         every fuzz target for SECONDS=30 (FUZZ=... chooses)'
	@echo 'make outcomes     write anew what saved inputs of the fuzz targets give'
	@echo 'make mutants      break a MODULE on purpose: what do its tests notice?'
	@echo 'make coverage     lines reached by the tests, per file'
	@echo 'make conformance-star SUITE=DIR  the official suite of Starlark'
	@echo 'make conformance  the official suite and clients of the protocol (npm, node)'
	@echo 'make lint         format, layers, headers, cppcheck, clang-tidy, man'
	@echo 'make analyze      follow every path: gcc -fanalyzer, clang-analyzer'
	@echo 'make bench        measure, against git and cp (CHECK=1: fail on a miss)'
	@echo 'make bench-star   measure the language, against CPython'
	@echo 'make bench-clients  the agent programs of npm as back ends of ask'
	@echo 'make clients      the same programs as clients of mapm mcp'
	@echo 'make dist         what a release consists of, in build/dist (PARTS= chooses)'
	@echo 'make release-check  the same, and its tests'
	@echo 'make site         the documentation as static pages in build/site/'
	@echo 'make install      PREFIX=/usr/local DESTDIR= ; DEBUG=1 keeps symbols in'
	@echo '                  .debug; make uninstall undoes it'
	@echo 'make clean        remove build/'

FORCE:
.PHONY: FORCE all mutants outcomes test conformance-star conformance check quickstart san fuzz fuzz-all coverage \
        bench bench-star bench-clients clients star-gc star-tiny star-msan star-builds star-run star-run-gc star-run-tiny star-run-msan star-test lint lint-format lint-layers lint-headers lint-cppcheck lint-man \
        lint-shell lint-waits lint-tidy analyze site install install-programs install-share install-libraries uninstall dist release-check clean help
.SECONDARY:
.DELETE_ON_ERROR:
-include $(wildcard $(B)/*/*.d $(B)/*/*/*.d)
