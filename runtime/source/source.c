/* source.c — OpenCL C to SPIR-V, by clang and what translates for it.
 *
 * clang reads the source from its standard input, so that includes are relative to where the host
 * is.  All files are in memory and have no name (process.c).  Headers of clCompileProgram lie in a
 * folder that only clang sees: an overlay of its file system tells which file is which.  What the
 * programs say is the log.
 *
 * Where the translator does not know what clang's optimizer makes (llvm-spirv 15 refuses freeze),
 * the source is compiled again without it.
 */
#include "runtime/source/source.h"
#include "runtime/system/process.h"
#include "runtime/system/trace.h"

#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    rt_build *build;
    const rt_clc_toolchain *tools;
    const rt_clc_source *source;
    ir_vec(int) files; /* that were made; programs may open all of them */
    const char *text;
    int input, bitcode, output, messages, names;
    const char *overlay; /* or NULL: there are no headers */
    rt_clc_stored stored;
    void *words;
    size_t size;
} compilation;

/* ----------------------------------------------------------------------------------- the files */

static int new_file(compilation *c, const char *bytes, size_t size) {
    int *at = ir_push(&c->build->arena, &c->files);
    *at = rt_memory_file(bytes, size);
    if (*at < 0) {
        c->files.n--;
        rt_throw(c->build->context, IR_ERR_IO, "files in memory cannot be made");
    }
    return *at;
}

/* What another program wrote goes. */
static void empty(int file) {
    if (ftruncate(file, 0) == 0) lseek(file, 0, SEEK_SET);
}

/* A part of the path is "..", or it begins at the root: it would not lie in the folder. */
static bool leaves_folder(const char *name) {
    if (*name == '/') return true;
    for (const char *s = name; *s; s += strspn(s, "/")) {
        size_t n = strcspn(s, "/");
        if (n == 2 && !strncmp(s, "..", 2)) return true;
        s += n;
    }
    return false;
}

/* In quotes, as YAML has it. */
static void put_quoted(ir_text *to, const char *s) {
    for (; *s; s++)
        if (*s == '"' || *s == '\\')
            ir_putf(to, "\\%c", *s);
        else if ((unsigned char)*s < ' ')
            ir_putf(to, "\\x%02x", (unsigned)*s);
        else
            ir_putf(to, "%c", *s);
}

static void put_header(compilation *c, ir_text *to, const rt_clc_header *h) {
    if (leaves_folder(h->name))
        rt_throw(c->build->context, IR_ERR_INPUT,
                 "header '%s': its name must not begin with '/' or have '..' in it", h->name);
    ir_putf(to, "{\"type\":\"file\",\"name\":\"" RT_CLC_HEADER_FOLDER "/");
    put_quoted(to, h->name);
    ir_putf(to, "\",\"external-contents\":\"/dev/fd/%d\"},\n",
            new_file(c, h->text, strlen(h->text)));
}

/* Of several with one name it is the last. */
static bool is_hidden(const rt_clc_source *s, size_t n) {
    for (size_t k = n + 1; k < s->header_count; k++)
        if (strcmp(s->headers[k].name, s->headers[n].name) == 0) return true;
    return false;
}

static void make_overlay(compilation *c) {
    ir_text text = {.arena = &c->build->arena};
    ir_put(&text, "{\"version\":0,\"case-sensitive\":true,\"use-external-names\":false,\n"
                  "\"roots\":[\n");
    for (size_t k = 0; k < c->source->header_count; k++)
        if (!is_hidden(c->source, k)) put_header(c, &text, &c->source->headers[k]);
    ir_put(&text, "]}\n");
    c->overlay = ir_sprintf(text.arena, "/dev/fd/%d", new_file(c, text.data, text.n));
}

/* A mark of UTF-8 may begin a file, and nothing but a file. */
static const char *make_text(compilation *c) {
    static const char mark[] = "\xef\xbb\xbf";
    const char *source = c->source->source;
    ir_text text = {.arena = &c->build->arena};
    rt_clc_put_prelude(&text, c->source);
    ir_put(&text, "#line 1 \"");
    put_quoted(&text, c->source->name);
    ir_put(&text, "\"\n");
    ir_put(&text, source + (strncmp(source, mark, strlen(mark)) == 0 ? strlen(mark) : 0));
    return text.data;
}

static void make_files(compilation *c) {
    c->input = new_file(c, c->text, strlen(c->text));
    c->bitcode = new_file(c, "", 0);
    c->output = new_file(c, "", 0);
    c->messages = new_file(c, "", 0);
    c->names = new_file(c, "", 0);
    if (c->source->header_count) make_overlay(c);
}

/* -------------------------------------------------------------------------------- the programs */

typedef ir_vec(const char *) arguments;

static void add(compilation *c, arguments *to, const char *const *words) {
    while (*words) *ir_push(&c->build->arena, to) = *words++;
}

#define ADD(c, to, ...) add(c, to, (const char *const[]){__VA_ARGS__, NULL})

/* Extensions of SPIR-V that some built-in functions need. */
static const char spirv_extensions[] =
    "--spirv-ext=+SPV_KHR_integer_dot_product,+SPV_KHR_subgroup_rotate,+SPV_INTEL_subgroups,"
    "+SPV_KHR_uniform_group_instructions,+SPV_EXT_shader_atomic_float_add,"
    "+SPV_EXT_shader_atomic_float_min_max";

/* What a program said, to the log. */
static void take_messages(compilation *c) {
    size_t n;
    rt_build *b = c->build;
    rt_build_say(b, rt_read_memory_file(b->context, &b->arena, c->messages, &n));
    empty(c->messages);
}

static bool has_bytes(int file) {
    struct stat s;
    return fstat(file, &s) == 0 && s.st_size > 0;
}

/* True: it has written something, and not failed as far as is known. */
static bool run(compilation *c, arguments *words, int in, int out) {
    const char *program = words->data[0];
    *ir_push(&c->build->arena, words) = NULL;
    const rt_program_run p = {.argv = (char *const *)(uintptr_t)words->data,
                              .in = in,
                              .out = out,
                              .messages = c->messages,
                              .kept = c->files.data,
                              .kept_count = c->files.n,
                              .seconds = c->source->seconds};
    lseek(in, 0, SEEK_SET);
    empty(out);
    rt_outcome outcome = rt_run_program(&p);
    take_messages(c);
    bool has_ended = outcome == RT_PROGRAM_RAN || outcome == RT_PROGRAM_FAILED;
    if (!has_ended) c->build->useless = program;
    if (outcome == RT_PROGRAM_MISSING)
        rt_throw(c->build->context, IR_ERR_DEVICE, "%s: cannot be started", program);
    if (outcome == RT_PROGRAM_TOO_SLOW)
        rt_throw(c->build->context, IR_ERR_DEVICE,
                 "%s: has not ended after %u seconds (SPVFUSE_COMPILER_SECONDS)", program,
                 p.seconds);
    return outcome == RT_PROGRAM_RAN && has_bytes(out);
}

/* Does the program have operations of sub-groups? */
static bool has_subgroups(const rt_clc_source *s) {
    bool any = strstr(s->source, "sub_group") != NULL;
    for (size_t k = 0; k < s->header_count; k++)
        any |= strstr(s->headers[k].text, "sub_group") != 0;
    return any;
}

/* Headers of clang do not say that operations of sub-groups depend on which items execute them, so
 * some versions move equal ones out of the two sides of a branch. */
static void keep_branches(compilation *c, arguments *words) {
    ADD(c, words, "-mllvm", "-simplifycfg-sink-common=0");
    ADD(c, words, "-mllvm", "-simplifycfg-hoist-common=0");
}

/* All but the names of files. */
static void add_options(compilation *c, arguments *words, bool optimizer) {
    const rt_clc_options *o = c->source->options;
    const char *extensions = ir_sprintf(&c->build->arena, "-cl-ext=%s", rt_clc_words());
    ADD(c, words, c->tools->clang, "-x", "cl", "-c", "-Xclang", "-finclude-default-header");
    ADD(c, words, "-target", c->tools->translator ? "spir64" : "spirv64");
    ADD(c, words, "-Xclang", extensions, "-D__OPENCL_VERSION__=300", "-cl-kernel-arg-info");
    ADD(c, words, "-fno-discard-value-names", "-fno-crash-diagnostics");
    ADD(c, words, "-Wno-unused-command-line-argument", "-Wno-unknown-warning-option");
    ADD(c, words, "-fgnu89-inline", o->optimize ? "-O2" : "-O0");
    if (!optimizer) ADD(c, words, "-Xclang", "-disable-llvm-passes");
    if (has_subgroups(c->source)) keep_branches(c, words);
    if (!o->has_std) ADD(c, words, "-cl-std=CL1.2");
    if (!o->is_c1) ADD(c, words, "-D__opencl_c_subgroups=1");
    if (c->source->header_count) ADD(c, words, "-I", RT_CLC_HEADER_FOLDER);
    for (uint32_t k = 0; k < o->words.n; k++) ADD(c, words, o->words.data[k]);
    if (c->tools->translator)
        ADD(c, words, "-emit-llvm");
    else if (c->tools->extensions)
        ADD(c, words, "-mllvm", spirv_extensions);
}

static bool run_clang(compilation *c, bool optimizer) {
    arguments words = {0};
    const char *names = ir_sprintf(&c->build->arena, "/dev/fd/%d", c->names);
    add_options(c, &words, optimizer);
    if (c->overlay) ADD(c, &words, "-ivfsoverlay", c->overlay);
    if (access(names, R_OK) == 0) ADD(c, &words, "-MD", "-MT", "files", "-MF", names);
    ADD(c, &words, "-o", "-", "-");
    empty(c->names);
    return run(c, &words, c->input, c->tools->translator ? c->bitcode : c->output);
}

static bool run_translator(compilation *c) {
    arguments words = {0};
    ADD(c, &words, c->tools->translator, "--preserve-ocl-kernel-arg-type-metadata-through-string");
    if (c->tools->extensions) ADD(c, &words, spirv_extensions);
    ADD(c, &words, "-o", "-", "-");
    return run(c, &words, c->bitcode, c->output);
}

static void forget(ir_text *log, size_t from) {
    log->n = from;
    if (log->data) log->data[from] = 0;
}

/* False, and nothing said when there is another way: the translator does not take it. */
static bool compile(compilation *c, bool optimizer) {
    size_t said = c->build->log.n;
    if (!run_clang(c, optimizer))
        rt_throw(c->build->context, IR_ERR_INPUT, "%s cannot be compiled", c->source->name);
    if (!c->tools->translator || run_translator(c)) return true;
    if (optimizer) forget(&c->build->log, said);
    return false;
}

static void compile_new(compilation *c, size_t said) {
    rt_build *b = c->build;
    size_t n;
    make_files(c);
    if (!compile(c, true) && !compile(c, false))
        rt_throw(b->context, IR_ERR_INPUT, "%s cannot be translated to SPIR-V", c->source->name);
    c->words = rt_read_memory_file(b->context, &b->arena, c->output, &c->size);
    const char *names = rt_read_memory_file(b->context, &b->arena, c->names, &n);
    const char *log = b->log.n > said ? b->log.data + said : "";
    if (n) rt_clc_write_stored(&c->stored, &(rt_clc_made){c->words, c->size, log, names});
}

static void compile_all(void *arg) {
    compilation *c = arg;
    arguments words = {0};
    c->text = make_text(c);
    add_options(c, &words, true);
    const rt_clc_input in = {.build = c->build,
                             .tools = c->tools,
                             .source = c->source,
                             .words = words.data,
                             .word_count = words.n,
                             .text = c->text};
    if (!rt_clc_find_stored(&c->stored, &in)) {
        compile_new(c, c->build->log.n);
        return;
    }
    rt_build_say(c->build, c->stored.log);
    c->words = ir_dup(&c->build->arena, c->stored.code, c->stored.code_size);
    c->size = c->stored.code_size;
}

static void trace_begin(const rt_clc_source *s) {
    rt_trace t;
    rt_trace_open(&t, RT_TRACE_BEGIN, 0, "build", "compile OpenCL C");
    rt_trace_text(&t, "code.file.path", s->name);
    rt_trace_write(&t);
}

static void trace_end(const compilation *c, bool ok) {
    rt_trace t;
    rt_trace_open(&t, RT_TRACE_END, 0, NULL, NULL);
    rt_trace_text(&t, "spvfuse.code.origin", c->stored.code ? "cache" : "compiler");
    rt_trace_number(&t, "spvfuse.code.bytes", c->size);
    if (!ok) rt_trace_text(&t, "error.type", "the source has errors, or there is no compiler");
    rt_trace_write(&t);
}

void *rt_clc_compile(rt_build *b, const rt_clc_toolchain *tools, const rt_clc_source *s,
                     size_t *size) {
    compilation c = {.build = b, .tools = tools, .source = s};
    bool traced = rt_is_traced();
    if (traced) trace_begin(s);
    bool ok = ir_try(&b->context->cx, compile_all, &c);
    if (traced) trace_end(&c, ok);
    rt_clc_end_stored(&c.stored);
    while (c.files.n) close(c.files.data[--c.files.n]);
    if (!ok) ir_throw(&b->context->cx, b->context->cx.status);
    *size = c.size;
    return c.words;
}
