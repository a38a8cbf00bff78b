/* queue_stress.c — many threads on a few queues, to be run under ThreadSanitizer: each command runs
 * once, after all that it waits for, and is destroyed. */
#include "runtime/queue/queue.h"

#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 8, QUEUES = 4, COMMANDS = 3000, KEPT = 4 };

typedef struct {
    rt_event event; /* the first member */
    _Atomic int *alive;
    uint64_t stamp;
    rt_event *wait[KEPT]; /* that it was told to wait for; with references */
    unsigned waits;
} job;

static rt_queue queues[QUEUES];
static rt_resource memory[8];
static char stamps[10]; /* where some of it lies */
static _Atomic uint64_t clock_now;
static _Atomic int alive, ran, wrong, called;

static int32_t run(rt_event *e) {
    job *j = (job *)e;
    for (unsigned k = 0; k < j->waits; k++) wrong += rt_event_now(j->wait[k]) != RT_COMPLETE;
    j->stamp = ++clock_now;
    ran++;
    return RT_COMPLETE;
}

static void destroy(rt_event *e) {
    job *j = (job *)e;
    for (unsigned k = 0; k < j->waits; k++) rt_event_release(j->wait[k]);
    alive--;
    free(j);
}

static void count(rt_event *e, int32_t status, void *user) {
    (void)e, (void)user;
    called += status == RT_COMPLETE;
}

static job *new_job(rt_event **recent, unsigned n) {
    job *j = calloc(1, sizeof *j);
    rt_event_init(&j->event, rt_scheduler_get(), run, destroy);
    alive++;
    for (unsigned k = 0; k < n; k++) {
        if (!recent[k]) continue;
        rt_event_retain(recent[k]);
        j->wait[j->waits++] = recent[k];
    }
    return j;
}

static void *enqueue(void *arg) {
    uint32_t seed = (uint32_t)(uintptr_t)arg * 2654435761u + 1;
    rt_event *recent[KEPT] = {NULL};
    for (unsigned i = 0; i < COMMANDS; i++) {
        seed = seed * 1664525 + 1013904223;
        rt_queue *q = &queues[seed >> 24 & (QUEUES - 1)];
        job *j = new_job(recent, seed >> 16 & 3);
        rt_enqueue_kind kind = (seed >> 8 & 15) == 0   ? RT_ENQUEUE_BARRIER
                               : (seed >> 8 & 15) == 1 ? RT_ENQUEUE_MARKER
                                                       : RT_ENQUEUE_COMMAND;
        rt_access access = {&memory[seed >> 20 & 7], seed >> 13 & 1};
        rt_order order = {kind, j->waits, 1, j->wait, &access};
        wrong += !rt_enqueue(q, &j->event, &order);
        wrong += !rt_event_notify(&j->event, RT_COMPLETE, count, NULL);
        if ((seed >> 4 & 63) == 0) wrong += rt_event_wait(&j->event) != RT_COMPLETE;
        if ((seed >> 4 & 255) == 1) rt_queue_finish(q);
        rt_event **slot = &recent[i % KEPT];
        if (*slot) rt_event_release(*slot);
        *slot = &j->event;
    }
    for (unsigned k = 0; k < KEPT; k++)
        if (recent[k]) rt_event_release(recent[k]);
    return NULL;
}

int main(void) {
    pthread_t t[THREADS];
    for (unsigned k = 0; k < QUEUES; k++) rt_queue_init(&queues[k], rt_scheduler_get(), k & 1);
    for (unsigned k = 0; k < 8; k += 2) /* every other one shares bytes with the next of them */
        rt_resource_place(rt_scheduler_get(), &memory[k], stamps + k, 3);
    for (uintptr_t k = 0; k < THREADS; k++) pthread_create(&t[k], NULL, enqueue, (void *)k);
    for (unsigned k = 0; k < THREADS; k++) pthread_join(t[k], NULL);
    for (unsigned k = 0; k < QUEUES; k++) rt_queue_finish(&queues[k]);
    for (unsigned k = 0; k < 8; k++) rt_resource_free(&memory[k]);
    bool ok = !wrong && ran == THREADS * COMMANDS;
    for (unsigned k = 0; k < 1000000 && (alive || called != ran); k++) sched_yield();
    ok &= alive == 0 && called == ran;
    printf("commands of many threads: %d passed, %d failed\n", ok, !ok);
    return !ok;
}
