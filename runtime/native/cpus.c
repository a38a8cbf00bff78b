/* cpus.c — how many threads this process should have, and where one of them runs.
 *
 * The processors that the scheduler lets it use, fewer when its control group (version 2 or 1) gets
 * less time than that: a quota of 150 % is worth two threads.  Files tell the quota, and reading
 * them takes as long as compiling a small kernel: it is read once in a process.
 */
#define _GNU_SOURCE
#include "runtime/native/native.h"
#include "runtime/system/process.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_THREADS = 4096, PATH = 1024 };

static unsigned limit; /* threads that the quotas of control groups are worth */

static unsigned by_affinity(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return (unsigned)CPU_COUNT(&set);
    long all = sysconf(_SC_NPROCESSORS_ONLN); /* more processors than the set has room for */
    return all > 0 ? (unsigned)all : 1;
}

/* Reads up to two numbers of a file; "max" counts as none. */
static int read_numbers(const char *path, long long out[2]) {
    FILE *f = fopen(path, "r");
    if (!f) return 0;
    int n = fscanf(f, "%lld %lld", &out[0], &out[1]);
    fclose(f);
    return n > 0 ? n : 0;
}

static unsigned quota_to_cpus(long long quota, long long period, unsigned most) {
    if (quota <= 0 || period <= 0) return most;
    long long cpus = (quota + period - 1) / period;
    return cpus < most ? (unsigned)cpus : most;
}

/* Version 2: every group up to the root may have a limit. */
static unsigned limit_by_group(char *path, unsigned most) {
    for (;;) {
        char file[PATH + 64];
        long long n[2];
        snprintf(file, sizeof file, "/sys/fs/cgroup%s/cpu.max", path);
        if (read_numbers(file, n) == 2) most = quota_to_cpus(n[0], n[1], most);
        char *slash = strrchr(path, '/');
        if (!slash) return most;
        *slash = 0;
    }
}

static unsigned limit_by_groups(unsigned most) {
    char line[PATH];
    FILE *f = fopen("/proc/self/cgroup", "r");
    if (!f) return most;
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "0::/", 4) == 0) most = limit_by_group(line + 3, most);
    }
    fclose(f);
    return most;
}

static unsigned limit_by_version_1(unsigned most) {
    long long quota[2], period[2];
    if (read_numbers("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", quota) != 1 ||
        read_numbers("/sys/fs/cgroup/cpu/cpu.cfs_period_us", period) != 1)
        return most;
    return quota_to_cpus(quota[0], period[0], most);
}

static void find_limit(void) { limit = limit_by_version_1(limit_by_groups(MAX_THREADS)); }

unsigned rt_cpu_count(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_limit);
    unsigned n = by_affinity();
    if (n > limit) n = limit;
    return n ? n : 1;
}

unsigned rt_default_threads(void) {
    unsigned long long n = rt_setting_number(RT_ENV_THREADS, 0);
    if (n == 0) return rt_cpu_count();
    return n < MAX_THREADS ? (unsigned)n : MAX_THREADS;
}

void rt_pin_thread(unsigned n) {
    cpu_set_t all, one;
    if (sched_getaffinity(0, sizeof all, &all) != 0) return;
    unsigned wanted = n % (unsigned)CPU_COUNT(&all), seen = 0;
    for (size_t c = 0; c < CPU_SETSIZE; c++) {
        if (!CPU_ISSET(c, &all) || seen++ != wanted) continue;
        CPU_ZERO(&one);
        CPU_SET(c, &one);
        sched_setaffinity(0, sizeof one, &one);
        return;
    }
}
