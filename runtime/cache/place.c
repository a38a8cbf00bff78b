/* place.c — where the cache is, and whether there is one: what the environment says.
 *
 * Entries are code that this process will run, so the folder must belong to the user, and no other
 * user may write to it.
 */
#include "runtime/cache/cache.h"
#include "runtime/system/process.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t default_limit = UINT64_C(256) << 20;

static const char *get(const char *name) {
    const char *value = rt_environment(name);
    return value && *value ? value : NULL;
}

bool rt_cache_wanted(bool otherwise) {
    return rt_setting(RT_ENV_CACHE) ? rt_setting_is_on(RT_ENV_CACHE) : otherwise;
}

bool rt_cache_path(char *path, size_t size) {
    const char *own = rt_setting(RT_ENV_CACHE_DIR), *xdg = get("XDG_CACHE_HOME"),
               *home = get("HOME");
    if (!own && !xdg && !home) return false;
    const char *base = own ? own : xdg ? xdg : home;
    int n = snprintf(path, size, "%s%s", base, own ? "" : xdg ? "/spvfuse" : "/.cache/spvfuse");
    return n > 0 && (size_t)n < size;
}

/* What cannot be made is found missing afterwards. */
static void make_folders(char *path) {
    for (char *p = path + 1; *p; p++) {
        if (*p != '/') continue;
        *p = 0;
        mkdir(path, 0700);
        *p = '/';
    }
    mkdir(path, 0700);
}

static int open_folder(const char *path) { return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC); }

static bool is_ours(int folder) {
    struct stat s;
    return fstat(folder, &s) == 0 && s.st_uid == geteuid() && !(s.st_mode & (S_IWGRP | S_IWOTH));
}

rt_cache rt_cache_open(bool make) {
    char path[PATH_MAX];
    rt_cache c = {-1, rt_setting_size(RT_ENV_CACHE_SIZE, default_limit)};
    if (!rt_cache_path(path, sizeof path)) return c;
    c.folder = open_folder(path);
    if (c.folder < 0 && make) {
        make_folders(path);
        c.folder = open_folder(path);
    }
    if (c.folder >= 0 && !is_ours(c.folder)) rt_cache_close(&c);
    return c;
}

void rt_cache_close(rt_cache *c) {
    if (c->folder >= 0) close(c->folder);
    c->folder = -1;
}
