/* save.h — launches become plans in the folder of SPVFUSE_SAVE, or in what a context remembers
 * (save.c, api/save.h). */
#ifndef SPVFUSE_RUNTIME_DEVICES_SAVE_H
#define SPVFUSE_RUNTIME_DEVICES_SAVE_H

#include "runtime/api/save.h"
#include "runtime/devices/device.h"

static inline bool rt_is_saved(const rt_device *d) { return d->context->past || rt_saves(); }
/* Before its launches are run by this thread, which may use the device; messages go to the
 * context. */
void rt_save_submission(rt_device *d, const rt_submission *s);
/* Before it is prepared: contents of memory do not matter, and memory may not be there yet. */
void rt_save_prepared_launch(rt_device *d, spvf_context *c, const rt_launch *l);

#endif
