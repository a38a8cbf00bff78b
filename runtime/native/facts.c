/* facts.c — the facts that code is made for, by name (facts.def). */
#include "runtime/native/native.h"

static const struct {
    const char *name, *text;
} facts[RT_FACTS] = {
#define FACT(id, name, text) [RT_FACT_##id] = {name, text},
#include "runtime/native/facts.def"
#undef FACT
};

const char *spvf_fact_name(spvf_fact fact) {
    return (unsigned)fact < RT_FACTS ? facts[fact].name : NULL;
}

const char *spvf_fact_text(spvf_fact fact) {
    return (unsigned)fact < RT_FACTS ? facts[fact].text : NULL;
}

bool rt_is_short(ir_type t, const void *bytes) {
    uint64_t value = 0;
    if (!pass_may_be_short(t)) return true;
    if (!bytes) return false;
    memcpy(&value, bytes, ir_bits(NULL, t) / 8);
    return value < IR_SHORT;
}

rt_facts rt_facts_of(const pass_group_shape *s, const rt_values *values) {
    bool sized = s->local[0] && s->whole_groups;
    return (rt_facts)sized << RT_FACT_LOCAL_SIZE | (rt_facts)s->no_offset << RT_FACT_NO_OFFSET |
           (rt_facts)s->small_ids << RT_FACT_SMALL_IDS |
           (rt_facts)(s->dims != 0) << RT_FACT_DIMENSIONS | (rt_facts)s->apart << RT_FACT_APART |
           (rt_facts)s->on_lines << RT_FACT_ON_LINES | (rt_facts)s->streams << RT_FACT_STREAMS |
           (rt_facts)(s->local_args[0] != 0) << RT_FACT_LOCAL_MEMORY |
           (rt_facts)s->short_numbers << RT_FACT_SHORT_NUMBERS |
           (rt_facts)(values && values->known) << RT_FACT_VALUES;
}

void rt_forget_facts(rt_facts without, pass_group_shape *s) {
    if (without & RT_FACT(LOCAL_SIZE)) {
        memset(s->local, 0, sizeof s->local);
        s->whole_groups = false;
    }
    s->no_offset &= !(without & RT_FACT(NO_OFFSET));
    s->small_ids &= !(without & RT_FACT(SMALL_IDS));
    s->short_numbers &= !(without & RT_FACT(SHORT_NUMBERS));
    s->apart &= !(without & RT_FACT(APART));
    s->on_lines &= !(without & RT_FACT(ON_LINES));
    s->streams &= !(without & RT_FACT(STREAMS));
    if (without & RT_FACT(DIMENSIONS)) s->dims = 0;
    if (without & RT_FACT(LOCAL_MEMORY)) memset(s->local_args, 0, sizeof s->local_args);
}

bool rt_take_without(const char **s, rt_facts *without) {
    char option[40];
    for (unsigned n = 0; n < RT_FACTS; n++) {
        snprintf(option, sizeof option, "without=%s", facts[n].name);
        if (!rt_take_option(s, option)) continue;
        *without |= (rt_facts)1 << n;
        return true;
    }
    if (!rt_take_option(s, "without=all")) return false;
    *without = RT_ALL_FACTS;
    return true;
}
