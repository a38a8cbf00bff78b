/* inspect.c — spvf_cache: counts the entries of the cache, verifies or removes them.
 *
 * An entry is sound, foreign (of another version of the library) or damaged.  Verifying reads every
 * entry as a launch would.  The folder is not made if there is none.
 */
#include "runtime/cache/cache.h"

#include <limits.h>
#include <unistd.h>

typedef struct {
    spvf_context *context;
    spvf_cache_action action;
    spvf_cache_info info;
    rt_cache cache;
    ir_arena arena;
} inspection;

static rt_entry_state check(const inspection *i, const char *name) {
    const uint8_t *bytes;
    size_t size;
    rt_key key = rt_key_of_name(name);
    if (!rt_entry_map(&i->cache, name, &bytes, &size)) return RT_ENTRY_DAMAGED;
    rt_entry_state state = rt_entry_check(bytes, size, &key);
    rt_entry_unmap(bytes, size);
    return state;
}

static void verify(inspection *i, const rt_file *f) {
    rt_entry_state state = check(i, f->name);
    i->info.foreign += state == RT_ENTRY_FOREIGN;
    i->info.damaged += state == RT_ENTRY_DAMAGED;
    if (state == RT_ENTRY_DAMAGED)
        ir_report(&i->context->cx, (ir_message){.severity = IR_WARNING, .file = i->info.directory},
                  "entry %s is damaged", f->name);
}

static void remove_file(inspection *i, const char *name) {
    if (unlinkat(i->cache.folder, name, 0) != 0)
        rt_throw(i->context, IR_ERR_IO, "%s/%s: cannot be removed", i->info.directory, name);
}

static void inspect(void *arg) {
    inspection *i = arg;
    rt_file_list files = {0};
    if (i->cache.folder >= 0) rt_list_files(&i->cache, &i->arena, &files);
    foreach_in (const rt_file, f, files) {
        i->info.entries += f->is_entry;
        i->info.bytes += f->bytes;
        if (i->action == SPVF_CACHE_VERIFY && f->is_entry) verify(i, f);
        if (i->action == SPVF_CACHE_CLEAR) remove_file(i, f->name);
    }
    if (i->action == SPVF_CACHE_CLEAR && i->cache.folder >= 0) rt_forget_sizes(&i->cache);
}

spvf_status spvf_cache(spvf_context *context, spvf_cache_action action,
                       void (*answer)(void *user, const spvf_cache_info *info), void *user) {
    char path[PATH_MAX];
    if (!context || !answer) return rt_refuse_call(context, __func__, "answer is NULL");
    if ((unsigned)action > SPVF_CACHE_CLEAR)
        return rt_refuse_call(context, __func__, "%d is no action", (int)action);
    inspection i = {.context = context, .action = action, .cache = rt_cache_open(false)};
    i.info.directory = rt_cache_path(path, sizeof path) ? path : NULL;
    i.info.limit = i.cache.limit;
    ir_arena_init(&i.arena, &context->cx);
    spvf_status status = rt_guard(context, inspect, &i);
    ir_arena_free(&i.arena);
    rt_cache_close(&i.cache);
    if (status == SPVF_OK) answer(user, &i.info);
    return status;
}
