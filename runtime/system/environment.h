/* environment.h — what the environment says (environment.def has the variables, environment.c reads
 * them).  A process that has more rights than its user (setuid) ignores its environment. */
#ifndef SPVFUSE_RUNTIME_ENVIRONMENT_H
#define SPVFUSE_RUNTIME_ENVIRONMENT_H

#include <stdbool.h>

typedef enum {
#define VARIABLE(id, old, kind, values, doc) RT_ENV_##id,
#include "runtime/system/environment.def"
#undef VARIABLE
    RT_ENV_COUNT
} rt_setting_id;

/* The value, as it is; NULL: it is not set, or is empty. */
const char *rt_setting(rt_setting_id id);
/* Is it set to something other than 0? */
bool rt_setting_is_on(rt_setting_id id);
/* Of a NUMBER or COUNT; `otherwise` if it is not set or not understood. */
unsigned long long rt_setting_number(rt_setting_id id, unsigned long long otherwise);
/* The number of bytes of a SIZE, likewise. */
unsigned long long rt_setting_size(rt_setting_id id, unsigned long long otherwise);
/* The place of the value among the values of a WORD, from 0; -1: it is not set or not
 * understood. */
int rt_setting_word(rt_setting_id id);
/* Is the word among those of WORDS? */
bool rt_setting_has(rt_setting_id id, const char *word);

/* Says of each variable whose value is not understood, and of each that begins with SPVFUSE_ and
 * does not exist, one sentence. */
void rt_check_settings(void (*say)(void *user, const char *text), void *user);

/* A variable of others, such as PATH; NULL: it is not set, or this process may not listen to it. */
const char *rt_environment(const char *name);

#endif
