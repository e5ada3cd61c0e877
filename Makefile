# mapm: one Makefile, no recursion into folders. `make help` lists the targets.
#
# Each variant has its own folder, so none rebuilds another:
#   make B=build/san SAN=address,undefined test      (or: make san)

B      ?= build
PREFIX ?= /usr/local
MANDIR ?= $(PREFIX)/share/man
CFLAGS ?= -O2 -g
JOBS   ?= $(shell nproc)
VERSION := 0.1.0

# mapm: everything but the network. mapm-fetch: base and fetch, with the
# libraries that cost milliseconds to load (DESIGN.md 5).
MODULES    := base manifest resolver store fetch provision cli
PKGS       := yaml-0.1 nettle libutf8proc libseccomp sqlite3
FETCH_PKGS := libcurl libgit2 zlib
PKG_CFLAGS       := $(shell pkg-config --cflags $(PKGS) $(FETCH_PKGS) 2>/dev/null)
PKG_LIBS         := $(shell pkg-config --libs $(PKGS) 2>/dev/null)
FETCH_PKG_LIBS   := $(shell pkg-config --libs $(FETCH_PKGS) 2>/dev/null)

SRC       := $(wildcard $(MODULES:%=%/*.c))
FETCH_SRC := $(wildcard fetch/worker/*.c)
OBJ       := $(SRC:%.c=$(B)/%.o)
FETCH_OBJ := $(FETCH_SRC:%.c=$(B)/%.o)
LIB       := $(B)/libmapm.a
FETCH_LIB := $(B)/libfetch.a
UNIT      := $(patsubst tests/unit/%.c,$(B)/unit/%,$(wildcard tests/unit/*_test.c))
FUZZ      := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
MAN       := $(wildcard man/*.[157])

WARN  := -Wall -Wextra -Wshadow -Wconversion -Wformat=2 -Wundef \
         -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wcast-qual \
         -Wpointer-arith -Wvla -fno-common
HARDEN := -fstack-protector-strong -fstack-clash-protection -fPIE
FLAGS := -std=gnu11 -D_GNU_SOURCE -DMAPM_VERSION='"$(VERSION)"' -Iinclude \
         $(PKG_CFLAGS) $(WARN) $(HARDEN) -pthread
LDHARD := -pie -Wl,-z,relro,-z,now -Wl,--as-needed -pthread
ifdef SAN
FLAGS   += -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer
LDHARD  += -fsanitize=$(subst fuzzer-no-link,fuzzer-no-link,$(SAN))
else
FLAGS   += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
endif
COMPILE = $(CC) $(FLAGS) $(CPPFLAGS) $(CFLAGS)
LINK    = $(CC) $(CFLAGS) $(LDHARD) $(LDFLAGS) -o $@

all: $(B)/mapm $(B)/mapm-fetch

$(B)/mapm: $(B)/cli/main.o $(LIB)
	$(LINK) $^ $(PKG_LIBS) $(LDLIBS)

$(B)/mapm-fetch: $(B)/fetch/worker/main.o $(FETCH_LIB) $(LIB)
	$(LINK) $^ $(FETCH_PKG_LIBS) $(PKG_LIBS) $(LDLIBS)

$(LIB): $(filter-out $(B)/cli/main.o,$(OBJ))
	@rm -f $@
	$(AR) rcs $@ $^

$(FETCH_LIB): $(filter-out $(B)/fetch/worker/main.o,$(FETCH_OBJ))
	@rm -f $@
	$(AR) rcs $@ $^

$(B)/tests/%.o: COMPILE += -Itests/lib
$(B)/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(COMPILE) -MMD -MP -c -o $@ $<

$(B)/unit/%: $(B)/tests/unit/%.o $(FETCH_LIB) $(LIB)
	@mkdir -p $(@D)
	$(LINK) $^ $(FETCH_PKG_LIBS) $(PKG_LIBS) $(LDLIBS)

# Written only when its text changes, so new flags rebuild, same flags do not.
$(B)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(subst ','"'"',$(FLAGS)) $(CFLAGS)' | cmp -s - $@ || \
	  echo '$(CC) $(subst ','"'"',$(FLAGS)) $(CFLAGS)' >$@

test: all $(UNIT) $(FUZZ:%=$(B)/replay/%)
	@for f in $(FUZZ); do $(B)/replay/$$f tests/fuzz/corpus/$$f/* || exit 1; done
	MAPM=$(abspath $(B)/mapm) prove -j$(JOBS) -f -o --exec '' $(UNIT) $(wildcard tests/cli/*.t)

$(B)/replay/%: $(B)/tests/fuzz/%.o $(B)/tests/fuzz/replay.o $(FETCH_LIB) $(LIB)
	@mkdir -p $(@D)
	$(LINK) $^ $(FETCH_PKG_LIBS) $(PKG_LIBS) $(LDLIBS)

$(B)/fuzz/%: $(B)/tests/fuzz/%.o $(FETCH_LIB) $(LIB)
	@mkdir -p $(@D)
	$(LINK) -fsanitize=fuzzer $^ $(FETCH_PKG_LIBS) $(PKG_LIBS) $(LDLIBS)

clean: ; rm -rf build

FORCE:
.PHONY: FORCE all test clean
.SECONDARY:
-include $(wildcard $(B)/*/*.d $(B)/*/*/*.d)
