/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Event channels: what read() on a completion channel or on the context's
 * asynchronous descriptor returns. Senders are worker threads.
 */
#include "uapi/uverbs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "log.h"

#define OVERFLOW_MAX (1u << 20) /* bytes; a program that reads none loses more */

/* A read end with an open file description of its own: O_NONBLOCK is ours. */
static int reopen_reader(int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

/* With the lock held: moves overflow into the pipe; true when all went. */
static bool flush_overflow(struct uchannel *ch)
{
	size_t done = 0;
	ssize_t n;

	while (done < ch->overflow_len) {
		n = write(ch->wfd, ch->overflow + done, ch->record);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += ch->record;
	}
	memmove(ch->overflow, ch->overflow + done, ch->overflow_len - done);
	ch->overflow_len -= done;
	return ch->overflow_len == 0;
}

static void drain_cb(struct rxe_watch *w, uint32_t events)
{
	struct uchannel *ch = caa_container_of(w, struct uchannel, drain);
	bool all;

	(void)events;
	pthread_mutex_lock(&ch->lock);
	all = flush_overflow(ch);
	if (all)
		ch->draining = false;
	pthread_mutex_unlock(&ch->lock);
	if (all)
		rxe_loop_del(rxed.loop, w);
}

/* Control thread: a sender found the pipe full. */
static void kick_cb(struct rxe_task *t)
{
	struct uchannel *ch = caa_container_of(t, struct uchannel, kick);
	bool start, dead;

	pthread_mutex_lock(&ch->lock);
	ch->kicked = false;
	dead = ch->wfd < 0;
	start = !dead && !ch->draining && ch->overflow_len;
	if (start)
		ch->draining = true;
	pthread_mutex_unlock(&ch->lock);
	if (dead)
		uchannel_free(ch);
	else if (start && rxe_loop_add(rxed.loop, &ch->drain))
		ch->draining = false;
}

struct uchannel *uchannel_new(uint32_t record, int *client_fd)
{
	struct uchannel *ch = calloc(1, sizeof(*ch));
	int p[2] = {-1, -1};

	if (!ch)
		return NULL;
	if (pipe2(p, O_CLOEXEC))
		goto fail;
	ch->rfd = reopen_reader(p[0]);
	if (ch->rfd < 0 || fcntl(p[1], F_SETFL, O_NONBLOCK))
		goto fail;
	ch->record = record;
	ch->wfd = p[1];
	ch->drain.fd = p[1];
	ch->drain.cb = drain_cb;
	ch->drain.events = EPOLLOUT;
	ch->kick.cb = kick_cb;
	pthread_mutex_init(&ch->lock, NULL);
	*client_fd = p[0];
	return ch;
fail:
	if (p[0] >= 0) {
		close(p[0]);
		close(p[1]);
	}
	free(ch);
	return NULL;
}

void uchannel_free(struct uchannel *ch)
{
	bool kicked;

	if (ch->draining)
		rxe_loop_del(rxed.loop, &ch->drain);
	pthread_mutex_lock(&ch->lock);
	if (ch->wfd >= 0) {
		close(ch->wfd);
		close(ch->rfd);
	}
	ch->wfd = -1;
	ch->draining = false;
	kicked = ch->kicked;
	pthread_mutex_unlock(&ch->lock);
	if (kicked)
		return; /* kick_cb() comes and frees it */
	pthread_mutex_destroy(&ch->lock);
	free(ch->overflow);
	free(ch);
}

/* With the lock held. */
static bool overflow_add(struct uchannel *ch, const void *record)
{
	if (ch->overflow_len + ch->record > ch->overflow_room) {
		size_t room = ch->overflow_room ? 2 * ch->overflow_room : 4096;
		void *p = room <= OVERFLOW_MAX ? realloc(ch->overflow, room) : NULL;

		if (!p)
			return false;
		ch->overflow = p;
		ch->overflow_room = room;
	}
	memcpy(ch->overflow + ch->overflow_len, record, ch->record);
	ch->overflow_len += ch->record;
	return true;
}

void uchannel_send(struct uchannel *ch, const void *record, uint32_t *sent)
{
	bool kick = false;
	ssize_t n = -1;

	pthread_mutex_lock(&ch->lock);
	if (!ch->overflow_len) {
		do {
			n = write(ch->wfd, record, ch->record);
		} while (n < 0 && errno == EINTR);
	}
	if (n == ch->record || overflow_add(ch, record))
		(*sent)++;
	else
		log_warn("queueing an event: its program left %zu bytes of events unread; "
			 "this one is lost",
			 ch->overflow_len);
	if (ch->overflow_len && !ch->draining && !ch->kicked)
		kick = ch->kicked = true;
	pthread_mutex_unlock(&ch->lock);
	if (kick)
		rxe_loop_post(rxed.loop, &ch->kick);
}

uint32_t uchannel_take_back(struct uchannel *ch, uint64_t element)
{
	uint8_t *keep = NULL, rec[16];
	size_t len = 0, room = 0, at;
	uint32_t taken = 0;
	int unread;
	uint64_t e;

	pthread_mutex_lock(&ch->lock);
	/*
	 * Everything unread, in order: the pipe, then the overflow. Only what is
	 * there now: a program that opened the pipe anew may go on writing to it.
	 */
	if (ioctl(ch->rfd, FIONREAD, &unread))
		unread = 0;
	for (; unread >= (int)ch->record; unread -= ch->record) {
		if (read(ch->rfd, rec, ch->record) != (ssize_t)ch->record)
			break;
		memcpy(&e, rec, sizeof(e));
		if (e == element) {
			taken++;
			continue;
		}
		if (len + ch->record > room) {
			void *p = realloc(keep, room = room ? 2 * room : 1024);

			if (!p)
				break;
			keep = p;
		}
		memcpy(keep + len, rec, ch->record);
		len += ch->record;
	}
	for (at = 0; at < len; at += ch->record)
		if (write(ch->wfd, keep + at, ch->record) < 0)
			break; /* cannot be: it came out of this pipe */
	for (at = 0; at < ch->overflow_len;) {
		memcpy(&e, ch->overflow + at, sizeof(e));
		if (e != element) {
			at += ch->record;
			continue;
		}
		ch->overflow_len -= ch->record;
		memmove(ch->overflow + at, ch->overflow + at + ch->record, ch->overflow_len - at);
		taken++;
	}
	pthread_mutex_unlock(&ch->lock);
	free(keep);
	return taken;
}

/* ---- called by engines, on worker threads ----------------------------------- */

void rxe_uverbs_cq_event(struct rxe_cq *cq)
{
	struct ucq *ucq = rxe_cq_owner(cq);

	if (ucq->channel)
		uchannel_send(ucq->channel->ch, &ucq->o.user_handle, &ucq->comp_sent);
}

static void send_async(struct uctx *ctx, uint64_t element, uint32_t kind, uint32_t *sent)
{
	struct ib_uverbs_async_event_desc ev = {.element = element, .event_type = kind};

	if (ctx->async)
		uchannel_send(ctx->async, &ev, sent);
}

void rxe_uverbs_async_event(enum rxe_event_kind kind, void *obj)
{
	if (kind == RXE_EV_CQ_ERR) {
		struct ucq *cq = rxe_cq_owner(obj);

		log_warn("CQ overrun on device %s: a program of process %d (%s) let it fill up",
			 cq->o.ctx->dev->name, cq->o.ctx->peer->pid, cq->o.ctx->peer->comm);
		send_async(cq->o.ctx, cq->o.user_handle, kind, &cq->async_sent);
	} else if (kind == RXE_EV_SRQ_LIMIT_REACHED) {
		struct usrq *srq = rxe_srq_owner(obj);

		send_async(srq->o.ctx, srq->o.user_handle, kind, &srq->async_sent);
	} else {
		struct uqp *qp = rxe_qp_owner(obj);

		send_async(qp->o.ctx, qp->o.user_handle, kind, &qp->async_sent);
	}
}

/* Control thread: an event of the port or, of no port, the device. */
void uctx_port_event(struct uctx *ctx, enum rxe_event_kind kind)
{
	send_async(ctx, kind == RXE_EV_DEVICE_FATAL ? 0 : 1, kind, &ctx->async_sent);
}
