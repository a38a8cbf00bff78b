/* themes.c — the kernels of `ninja bench-simd` and `ninja bench-cuda`, theme by theme. */
#include "tests/bench/simd/simd.h"

const theme *const *all_themes(unsigned *n) {
    static const theme *const themes[] = {
        &elementwise_theme, &math_theme,   &integers_theme,  &loops_theme,
        &groups_theme,      &images_theme, &divergent_theme, &structs_theme,
    };
    *n = sizeof themes / sizeof *themes;
    return themes;
}
