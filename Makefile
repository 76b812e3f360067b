# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# make          builds everything into build/
# make demo     two namespaces, two daemons, ibv_rc_pingpong between them
# make check    all tests          make bench    the comparisons README quotes
# make sim SIM_SEEDS=N   more of the simulation    make check-mutations   all of them
# make install  PREFIX=/usr/local  make format   clang-format in place
# make SANITIZE=address,undefined|thread build/asan/rxed|build/tsan/rxed

# SANITIZE=address,undefined or =thread: the same below build/asan, build/tsan.
SANITIZE ?=
B	:= build$(if $(SANITIZE),/$(if $(findstring thread,$(SANITIZE)),tsan,asan))
CC	?= gcc
CLANG	?= clang
PREFIX	?= /usr/local
LIBDIR	?= $(PREFIX)/lib/rxe
PKGS	:= libbpf libxdp libnl-3.0 libnl-route-3.0 liburcu-qsbr
WARN	:= -Wall -Wextra -Werror
CFLAGS	?= -O2 -g
ifneq ($(SANITIZE),)
override CFLAGS += -O1 -fsanitize=$(SANITIZE) -fno-sanitize-recover=undefined -fno-omit-frame-pointer
# TSan does not model fences; those there are order atomics only.
override CFLAGS += $(if $(findstring thread,$(SANITIZE)),-Wno-tsan)
endif
CPPFLAGS += -Iinclude -Iuser -Iuser/qpmgr -D_GNU_SOURCE -DRXE_LIBDIR='"$(LIBDIR)"' $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
LIBS	:= $(shell pkg-config --libs $(PKGS) 2>/dev/null) -lisal -lpthread
ALL_CFLAGS = -std=gnu11 $(WARN) $(CFLAGS) $(CPPFLAGS) -MMD -MP
MULTIARCH := $(shell $(CC) -print-multiarch)

COMMON_SRC    := $(wildcard user/common/*.c)
TRANSPORT_SRC := $(wildcard user/qpmgr/transport/*.c)
QPMGR_SRC     := $(wildcard user/qpmgr/*.c user/qpmgr/datapath/*.c user/qpmgr/uapi/*.c user/qpmgr/cm/*.c)
VERBS_SRC     := $(wildcard user/verbs/*.c)
CLI_SRC       := $(wildcard user/cli/*.c)
BPF_SRC       := $(wildcard bpf/*.bpf.c)

# One line a step; make V=1 shows the commands.
Q	:= $(if $(V),,@)
say	= @printf '  %-4s %s\n' $(1) $@

obj = $(patsubst %.c,$(B)/obj/%.o,$(1))

BPF_OBJ := $(patsubst bpf/%.c,$(B)/%.o,$(BPF_SRC))
PROGS := $(B)/rxed $(B)/rxe $(B)/librxe_verbs.so

.PHONY: all demo check bench install clean format format-check deps
all: $(BPF_OBJ) $(PROGS)

$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) $(EXTRA_CFLAGS) -c $< -o $@

$(call obj,$(VERBS_SRC)): EXTRA_CFLAGS = -fPIC -fvisibility=hidden
$(B)/pic/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -fPIC -fvisibility=hidden -c $< -o $@

$(B)/librxe_transport.a: $(call obj,$(TRANSPORT_SRC))
	@rm -f $@; ar rcs $@ $^
$(B)/librxe_common.a: $(call obj,$(COMMON_SRC))
	@rm -f $@; ar rcs $@ $^
$(B)/rxed: $(call obj,$(QPMGR_SRC)) $(B)/librxe_transport.a $(B)/librxe_common.a
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
$(B)/rxe: $(call obj,$(CLI_SRC)) $(B)/librxe_common.a
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
$(B)/librxe_common_pic.a: $(patsubst %.c,$(B)/pic/%.o,$(COMMON_SRC))
	@rm -f $@; ar rcs $@ $^
# From an archive: only what it calls, so that no preloaded program needs ISA-L.
$(B)/librxe_verbs.so: $(call obj,$(VERBS_SRC)) $(B)/pic/user/common/ipc.o
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -o $@ $^ -ldl -lpthread

$(B)/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h include/rxe/*.h)
	@mkdir -p $(@D)
	$(call say,BPF)
	$(Q)$(CLANG) -O2 -g -target bpf -mcpu=v3 -Wall -Wextra -Werror -Iinclude -I/usr/include/$(MULTIARCH) -c $< -o $@

-include $(shell find $(B) -name '*.d' -type f -not -path '$(B)/peervm/*' 2>/dev/null)

clean:
	rm -rf $(B)
format:
	git ls-files '*.c' '*.h' | xargs clang-format -i
format-check:
	@git ls-files '*.c' '*.h' | xargs clang-format --dry-run -Werror

# The set-up runs first: what it installs decides the flags above, so that the
# rest is a make of its own.
deps:
	@scripts/deps.sh build demo check
demo:
	@scripts/deps.sh build demo
	@$(MAKE) -j$$(nproc) --no-print-directory all
	@scripts/demo.sh
check:
	@scripts/deps.sh build demo check
	@$(MAKE) -j$$(nproc) --no-print-directory all
	@$(MAKE) --no-print-directory run-checks
bench:
	@scripts/deps.sh build demo bench
	@$(MAKE) --no-print-directory all
	@$(MAKE) -C bench run B=$(abspath $(B))

CHECK_TARGETS :=
-include $(wildcard tests/*.mk)

# Every group, also after one that failed; the last line counts the groups. What
# a group needs is built in parallel; its tests run one after the other.
.PHONY: run-checks
run-checks:
	@passed=0; failed=0; names=; \
	for t in $(CHECK_TARGETS); do \
		echo "== $$t"; \
		if $(MAKE) -j$$(nproc) --no-print-directory $$t; then passed=$$((passed + 1)); \
		else failed=$$((failed + 1)); names="$$names $$t"; fi; \
	done; \
	[ -z "$$names" ] || echo "failed:$$names"; \
	echo "groups: $$passed passed, $$failed failed"; \
	[ $$failed -eq 0 ]

DESTDIR	?=
install: all
	install -d $(DESTDIR)$(PREFIX)/sbin $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(LIBDIR)
	install $(B)/rxed $(DESTDIR)$(PREFIX)/sbin/
	install $(B)/rxe $(DESTDIR)$(PREFIX)/bin/
	install $(B)/librxe_verbs.so $(DESTDIR)$(LIBDIR)/
	install -m 644 $(BPF_OBJ) $(DESTDIR)$(LIBDIR)/
	install scripts/demo.sh scripts/hosts.sh $(DESTDIR)$(LIBDIR)/
	for n in 7 8; do \
		install -d $(DESTDIR)$(PREFIX)/share/man/man$$n; \
		install -m 644 man/*.$$n $(DESTDIR)$(PREFIX)/share/man/man$$n/; \
	done
