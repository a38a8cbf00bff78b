/* layout.c — what --layout FILE declares of structs that kernels take by value. */
#include "runtime/cli/cli.h"

#include <stdlib.h>
#include <string.h>

bool cli_read_layout(spvf_layout *layout, char **text) {
    size_t size;
    *layout = (spvf_layout){.size = sizeof *layout, .text_name = cli_get("--layout")};
    *text = layout->text_name ? cli_read(layout->text_name, &size) : NULL;
    layout->text = *text;
    if (!layout->text_name) return true;
    if (*text && strlen(*text) == size) return true;
    if (*text) fprintf(stderr, "%s: error: the text has a zero byte\n", layout->text_name);
    free(*text);
    return false;
}
