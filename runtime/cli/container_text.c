/* container_text.c — what a container holds, for people and as one JSON value. */
#include "runtime/cli/cli.h"

static const char *const owners[] = {"container", "image", "kernel", "argument"};

static const char *name_of(spvf_container *c, const spvf_property *p) {
    spvf_image_info info;
    if (p->owner == SPVF_OF_IMAGE && spvf_container_image(c, p->index, &info)) return info.name;
    if (p->owner >= SPVF_OF_KERNEL) return spvf_container_kernel(c, p->index)->name;
    return NULL;
}

/* ----------------------------------------------------------------------------------------- text */

static void print_images(spvf_container *c) {
    spvf_image_info info;
    for (size_t n = 0; spvf_container_image(c, n, &info); n++)
        printf("image %zu %s: %s%s%s, %zu bytes\n", n, info.name, info.format,
               *info.target ? " for " : "", info.target, info.size);
}

static void print_kernels(spvf_container *c) {
    size_t count;
    const spvf_kernel_info *k;
    for (size_t n = 0; (k = spvf_container_kernel(c, n)); n++) {
        cli_print_kernel(k);
        const uint32_t *images = spvf_container_providers(c, n, &count);
        fputs(count ? "  in image" : "  in no image", stdout);
        for (size_t i = 0; i < count; i++) printf("%s %u", i ? "," : "", images[i]);
        putchar('\n');
    }
}

static void print_properties(spvf_container *c) {
    spvf_property p;
    for (size_t n = 0; spvf_container_property(c, n, &p); n++) {
        const char *name = name_of(c, &p);
        printf("%s", owners[p.owner]);
        if (p.owner == SPVF_OF_ARG) printf(" %u of", p.arg);
        printf("%s%s: %s = %s\n", name ? " " : "", name ? name : "", p.key, p.value);
    }
}

void cli_print_container(spvf_container *c) {
    spvf_symbol s;
    print_images(c);
    print_kernels(c);
    for (size_t n = 0; spvf_container_symbol(c, n, &s); n++)
        printf("image %u %s %s\n", s.image, s.imported ? "imports" : "exports", s.name);
    print_properties(c);
}

/* ----------------------------------------------------------------------------------------- JSON */

static void json_member(const char *name, const char *value) {
    printf("\"%s\":", name);
    json_put_string(stdout, value);
}

static void json_images(spvf_container *c) {
    spvf_image_info info;
    for (size_t n = 0; spvf_container_image(c, n, &info); n++) {
        fputs(n ? ",{" : "{", stdout);
        json_member("name", info.name);
        putchar(',');
        json_member("format", info.format);
        putchar(',');
        json_member("target", info.target);
        printf(",\"size\":%zu}", info.size);
    }
}

static void json_kernels(spvf_container *c) {
    size_t count;
    const spvf_kernel_info *k;
    for (size_t n = 0; (k = spvf_container_kernel(c, n)); n++) {
        const uint32_t *images = spvf_container_providers(c, n, &count);
        fputs(n ? ",{\"images\":[" : "{\"images\":[", stdout);
        for (size_t i = 0; i < count; i++) printf("%s%u", i ? "," : "", images[i]);
        fputs("],\"kernel\":", stdout);
        cli_json_kernel(k);
        putchar('}');
    }
}

static void json_symbols(spvf_container *c) {
    spvf_symbol s;
    for (size_t n = 0; spvf_container_symbol(c, n, &s); n++) {
        fputs(n ? ",{" : "{", stdout);
        json_member("name", s.name);
        printf(",\"image\":%u,\"imported\":%s}", s.image, s.imported ? "true" : "false");
    }
}

static void json_properties(spvf_container *c) {
    spvf_property p;
    for (size_t n = 0; spvf_container_property(c, n, &p); n++) {
        fputs(n ? ",{" : "{", stdout);
        json_member("of", owners[p.owner]);
        putchar(',');
        json_member("name", name_of(c, &p));
        if (p.owner == SPVF_OF_ARG) printf(",\"argument\":%u", p.arg);
        putchar(',');
        json_member("key", p.key);
        putchar(',');
        json_member("value", p.value);
        putchar('}');
    }
}

void cli_json_container(spvf_container *c) {
    fputs("{\"images\":[", stdout);
    json_images(c);
    fputs("],\"kernels\":[", stdout);
    json_kernels(c);
    fputs("],\"symbols\":[", stdout);
    json_symbols(c);
    fputs("],\"properties\":[", stdout);
    json_properties(c);
    puts("]}");
}
