/* command_form.c — which of two forms a call that records a command has.
 *
 * Version 0.9.5 of cl_khr_command_buffer inserted a parameter, a list of properties, into functions
 * that kept their names.  A program that was built with older headers calls the same function
 * without it:
 *
 *     older   buffer, queue,             own arguments, count, list, point, handle
 *     newer   buffer, queue, properties, own arguments, count, list, point, handle
 *
 * `count` and `list` are the sync points that the command waits for, `point` is where its own sync
 * point goes, and `handle`, which must be NULL here, where a handle of the command would go.
 *
 * The calling convention of x86-64 passes integers and pointers in registers and stack slots of 64
 * bits, whatever their types.  So an entry takes what follows the queue as slots, as many as the
 * newer form has, and looks at their values.  The last one has any value in the older form.
 *
 *   Buffers    The own arguments begin with one or two buffers.  A buffer begins with the address
 *              of the loader's table of entries, a list of properties with 0 or the number of a
 *              property.  So the form is older if slot 0 is an object, and newer if slot 1 is one;
 *              if neither is, the call is refused.
 *   Memory     The own arguments of copies and fills of shared virtual memory begin with an
 *              address, another one, and a size.  So slot 2 is a size in the older form and an
 *              address in the newer one, where memory is mapped.  In programs at fixed addresses a
 *              size of some megabytes can be both.  Then the form is older if the two addresses
 *              before it lead to that much memory, and count, list and point can follow it.  If
 *              slot 0 is NULL and slot 2 is no address, the call is refused: it has an address
 *              that is NULL in either form.
 *   Barriers   There are no own arguments.  The form is that of earlier calls for the command
 *              buffer, as far as one of those told.  Otherwise both forms are tried: the count says
 *              whether there is a list, it is at most the number of commands, addresses are aligned
 *              and not in the first page, and the handle of the older form is NULL.
 *              If both forms fit, there are two cases:
 *                - All slots are 0.  Both forms mean the same, but the newer one has a handle in
 *                  the last slot.  It is taken in processes that asked for a query of version
 *                  0.9.6.
 *                - A number is a count in one form and an address in the other.  The call is
 *                  refused; this takes a command buffer with 4096 commands or more.
 *
 * The form of the first call that is recorded and tells it by its own arguments is that of all
 * calls for the command buffer from then on.  A call that is refused tells nothing.
 *
 * Updates of commands are told apart by the first slot, a count or the address of a struct.
 * Kernels have one form: older headers have the list of properties, too.  The variable
 * SPVFUSE_COMMAND_BUFFER_VERSION, if it is set, says the form for the whole process
 * (docs/OPENCL.md).
 */
#define _GNU_SOURCE
#include "runtime/opencl/ocl.h"
#include "runtime/system/process.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { FIRST_PAGE = 4096 }; /* nothing lies below */

/* ---------------------------------------------------------------------------- without the call */

static _Atomic bool knows_newer; /* the process has asked for a query of version 0.9.6 */

void ocl_note_newer_headers(void) { knows_newer = true; }

/* "0.9.4" and "0.9.5" or newer, by the last number. */
static ocl_form read_switch(void) {
    const char *s = rt_setting(RT_ENV_COMMAND_BUFFER_VERSION);
    const char *dot = s ? strrchr(s, '.') : NULL;
    if (!dot) return OCL_FORM_UNKNOWN;
    return strtol(dot + 1, NULL, 10) < 5 ? OCL_FORM_OLDER : OCL_FORM_NEWER;
}

static ocl_form wanted_form;

static void set_wanted_form(void) { wanted_form = read_switch(); }

/* The form that is known before the call is looked at. */
static ocl_form known_form(cl_command_buffer_khr b) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_wanted_form);
    return wanted_form ? wanted_form : b->form;
}

/* ------------------------------------------------------------------------------- what slots are */

static bool is_address(ocl_slot s, size_t align) { return s >= FIRST_PAGE && s % align == 0; }

static bool is_mapped(ocl_slot s) {
    ocl_slot page = s & ~(ocl_slot)(FIRST_PAGE - 1);
    unsigned char resident;
    return is_address(s, 1) && mincore((void *)page, 1, &resident) == 0;
}

/* The ends are looked at, and nothing between. */
static bool is_range(ocl_slot s, ocl_slot size) {
    return is_mapped(s) && is_mapped(size ? s + size - 1 : s);
}

/* The slot may be any number, and may lead to less memory than an object has: eight aligned bytes
 * are on one page, but perhaps of two variables. */
__attribute__((no_sanitize("address"))) static bool is_object(ocl_slot s) {
    return is_address(s, _Alignof(ocl_object)) && is_mapped(s) &&
           ((const ocl_object *)s)->dispatch == ocl_platform()->object.dispatch;
}

/* Can these be count, list and point? */
static bool can_be_order(cl_uint commands, const ocl_slot *s) {
    cl_uint count = (cl_uint)s[0];
    bool list = count ? count <= commands && is_address(s[1], _Alignof(cl_uint)) : !s[1];
    return list && (!s[2] || is_address(s[2], _Alignof(cl_uint)));
}

static bool can_be_properties(ocl_slot s) { return !s || is_address(s, _Alignof(cl_properties)); }

/* --------------------------------------------------------------------------- the form of a call */

ocl_form ocl_form_of_buffers(cl_command_buffer_khr b, const ocl_slot *s, unsigned buffers) {
    ocl_form form = known_form(b);
    if (form) return form;
    if (is_object(s[0])) return OCL_FORM_OLDER;
    bool newer = is_object(s[1]) && (buffers < 2 || is_object(s[2]));
    return newer ? OCL_FORM_NEWER : OCL_FORM_UNKNOWN;
}

ocl_form ocl_form_of_memory(cl_command_buffer_khr b, const ocl_slot *s, unsigned own) {
    ocl_form form = known_form(b);
    if (form) return form;
    if (!is_mapped(s[2])) return s[0] ? OCL_FORM_OLDER : OCL_FORM_UNKNOWN;
    bool older = is_range(s[0], s[2]) && is_range(s[1], s[2]) &&
                 can_be_order(ocl_count_commands(b), s + own);
    return older ? OCL_FORM_OLDER : OCL_FORM_NEWER;
}

ocl_form ocl_form_of_update(const ocl_slot *s) {
    return is_address(s[0], _Alignof(void *)) && is_mapped(s[0]) ? OCL_FORM_OLDER : OCL_FORM_NEWER;
}

ocl_form ocl_form_of_barrier(cl_command_buffer_khr b, const ocl_slot *s) {
    ocl_form known = known_form(b);
    if (known) return known;
    if (!s[0] && !s[1] && !s[2] && !s[3]) return knows_newer ? OCL_FORM_NEWER : OCL_FORM_OLDER;
    cl_uint commands = ocl_count_commands(b);
    bool older = can_be_order(commands, s) && !s[3];
    bool newer = can_be_properties(s[0]) && can_be_order(commands, s + 1);
    if (older && newer) return OCL_FORM_UNKNOWN;
    return newer ? OCL_FORM_NEWER : OCL_FORM_OLDER;
}
