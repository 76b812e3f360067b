# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Units of rxed's own rooms (control thread, client memory, uverbs framing).
# Each tests/unit/NAME.c below links the objects named beside it.

unit_idmap_OBJ  := user/qpmgr/idmap.c
unit_disposal_OBJ := user/qpmgr/disposal.c user/qpmgr/log.c
unit_mem_OBJ    := tests/unit/stalling_file.c user/qpmgr/mem.c user/qpmgr/disposal.c user/qpmgr/mapping.c \
	user/qpmgr/log.c user/qpmgr/loop.c
unit_event_OBJ  := user/qpmgr/uapi/event.c user/qpmgr/log.c user/qpmgr/loop.c
unit_uioctl_OBJ := user/qpmgr/uapi/uverbs_ioctl.c
unit_loop_OBJ   := user/qpmgr/loop.c
unit_doorbell_OBJ := user/qpmgr/doorbell.c
unit_detached_OBJ := user/qpmgr/detached.c
unit_relay_OBJ := user/qpmgr/relay.c user/qpmgr/detached.c
unit_worker_OBJ := user/qpmgr/worker.c user/qpmgr/doorbell.c user/qpmgr/relay.c user/qpmgr/detached.c \
	user/qpmgr/mem.c user/qpmgr/disposal.c user/qpmgr/mapping.c user/qpmgr/log.c user/qpmgr/loop.c \
	$(TRANSPORT_SRC)
unit_log_OBJ := user/qpmgr/log.c
unit_server_OBJ := user/qpmgr/uapi/server.c user/common/ipc.c user/qpmgr/log.c user/qpmgr/loop.c
DAEMON_UNITS := disposal log idmap mem event uioctl loop doorbell detached relay worker server

define daemon_unit
$(B)/tests/unit_$(1): tests/unit/$(1).c $$(call obj,$$(unit_$(1)_OBJ))
	@mkdir -p $$(@D)
	$$(call say,LD)
	$$(Q)$$(CC) $$(ALL_CFLAGS) -o $$@ $$< $$(call obj,$$(unit_$(1)_OBJ)) $$(LDFLAGS) -lcmocka -lurcu-qsbr -lisal -lz -lpthread
endef
$(foreach u,$(DAEMON_UNITS),$(eval $(call daemon_unit,$(u))))

# The test stops a copy at a chosen call.
$(B)/tests/unit_mem: LDFLAGS += -Wl,--wrap=pread,--wrap=pwrite,--wrap=rxe_mem_new,--wrap=rxe_dispose_fd
# The test makes a call fail.
$(B)/tests/unit_worker: LDFLAGS += -Wl,--wrap=realloc,--wrap=epoll_ctl
# Of the server only its connections, not what their requests lead to.
$(B)/tests/unit_server: LDFLAGS += -Wl,--wrap=getsockopt,--wrap=accept4,--unresolved-symbols=ignore-in-object-files -no-pie

.PHONY: check-daemon
check-daemon: $(DAEMON_UNITS:%=$(B)/tests/unit_%)
	@for t in $^; do $$t || exit 1; done
CHECK_TARGETS += check-daemon
