/* compiler_test.c — the compiler of OpenCL C as another program: what it made is found in the cache
 * while all that it was made from is the same, and nothing is left of one that hangs or whose host
 * is killed.
 *
 * The compiler is a script that notes each run and calls a clang. */
#include "tests/opencl/programs.h"
#include "tests/temporary.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { PATH = 1024 };
static char folder[TEMPORARY_NAME];

static const char *path_of(const char *name) {
    static char paths[4][PATH];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, PATH, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const char *text) {
    FILE *f = fopen(path_of(name), "w");
    cr_assert(f && fputs(text, f) >= 0 && fclose(f) == 0, "%s", name);
}

static void rest(long milliseconds) {
    nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000}, NULL);
}

/* With -DHANG, or where there is a file "hangs", it never ends; with -DCHILD another program does
 * not. */
static void write_compiler(const char *comment) {
    char text[2048];
    snprintf(
        text, sizeof text,
        "#!/bin/sh\n# %s\n"
        "echo run >>%s/runs\n"
        "test -e %s/hangs && { echo $$ >>%s/pids; exec sleep 1000; }\n"
        "case \"$*\" in\n"
        "*-DHANG*) echo $$ >>%s/pids; exec sleep 1000;;\n"
        "*-DCHILD*) sleep 1000 & echo $! >>%s/pids; wait;;\n"
        "esac\n"
        "for c in clang-15 clang-22 clang; do command -v $c >/dev/null && exec $c \"$@\"; done\n",
        comment, folder, folder, folder, folder, folder);
    write_file("compiler", text);
    chmod(path_of("compiler"), 0700);
}

static void begin_folder(void) {
    cr_assert(temporary_folder(folder));
    write_compiler("the first");
    setenv("SPVFUSE_CLANG", path_of("compiler"), 1);
    setenv("SPVFUSE_CACHE_DIR", path_of("cache"), 1);
    unsetenv("SPVFUSE_CACHE");
}

static void remove_all(const char *path) {
    const struct dirent *e;
    char name[2 * PATH];
    DIR *d = opendir(path);
    while (d && (e = readdir(d))) {
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (e->d_name[0] == '.') continue;
        if (unlink(name) != 0) remove_all(name);
    }
    if (d) closedir(d);
    rmdir(path);
}

static void end_folder(void) { remove_all(folder); }

static int count_runs(void) {
    FILE *f = fopen(path_of("runs"), "r");
    int n = 0, c;
    while (f && (c = fgetc(f)) != EOF) n += c == '\n';
    if (f) fclose(f);
    return n;
}

static void begin(void) {
    begin_folder();
    begin_opencl();
    cl_bool yes;
    SUCCEEDS(clGetDeviceInfo(ocl.device, CL_DEVICE_COMPILER_AVAILABLE, sizeof yes, &yes, NULL));
    cr_assert(yes);
}

static void end(void) {
    end_opencl();
    end_folder();
}

TestSuite(compiler, .init = begin, .fini = end);

#define KERNEL(body) "kernel void k(global int *out) { *out = " body "; }"

/* What the kernel gives, and how often the compiler ran for it. */
static void expect(cl_int wanted, int runs, const char *source, const char *options) {
    int before = count_runs();
    cl_program p = built(source, options);
    cl_int got = result_of(p, "k");
    int more = count_runs() - before;
    cr_expect(got == wanted, "%s, %s: %d, not %d", source, options, got, wanted);
    cr_expect(more == runs, "%s, %s: %d runs, not %d", source, options, more, runs);
    SUCCEEDS(clReleaseProgram(p));
}

/* -------------------------------------------------------------------------------- what is found */

Test(compiler, what_is_the_same_is_found) {
    expect(3, 1, KERNEL("3"), NULL);
    expect(3, 0, KERNEL("3"), NULL);
    expect(3, 0, KERNEL("3"), "");
    expect(4, 1, KERNEL("4"), NULL);
    expect(5, 1, KERNEL("A"), "-DA=5");
    expect(6, 1, KERNEL("A"), "-DA=6");
    expect(5, 0, KERNEL("A"), "-DA=5");
    expect(3, 1, KERNEL("3"), "-g");
    expect(3, 0, KERNEL("3"), "-g");
    expect(3, 1, KERNEL("3"), "-cl-opt-disable");
    expect(3, 1, KERNEL("3"), "-cl-std=CL3.0");
    expect(3, 0, KERNEL("3"), "-cl-std=CL3.0");
}

static cl_int compile_with(cl_program p, const char *text) {
    const char *name = "dir/a.h";
    cl_program header = make_program(text);
    cl_int status = clCompileProgram(p, 0, NULL, NULL, 1, &header, &name, NULL, NULL);
    SUCCEEDS(clReleaseProgram(header));
    return status;
}

Test(compiler, headers_of_programs) {
    cl_program p = make_program("#include <dir/a.h>\n" KERNEL("X"));
    int before = count_runs();
    SUCCEEDS(compile_with(p, "#define X 1\n"));
    SUCCEEDS(compile_with(p, "#define X 1\n"));
    cr_expect(count_runs() == before + 1);
    SUCCEEDS(compile_with(p, "#define X 2\n"));
    cr_expect(count_runs() == before + 2);
    SUCCEEDS(clReleaseProgram(p));
}

/* The log is that of the first time, and a mistake is one each time. */
Test(compiler, messages) {
    int before = count_runs();
    for (int n = 0; n < 2; n++) {
        cl_program p = built("#warning careful\n" KERNEL("1"), NULL);
        cr_expect(log_has(p, "program.cl:1:2: warning: careful"));
        SUCCEEDS(clReleaseProgram(p));
    }
    cr_expect(count_runs() == before + 1);
    for (int n = 0; n < 2; n++) {
        cl_program p = make_program("mistake");
        FAILS(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
        cr_expect(log_has(p, "program.cl:1:1: error"));
        SUCCEEDS(clReleaseProgram(p));
    }
    cr_expect(count_runs() == before + 3);
}

/* ---------------------------------------------------------------------------- what is different */

static const char including[] = "#include \"c.h\"\n" KERNEL("X");

/* Files that are too young are not kept: they may change without a trace. */
static void write_header(const char *name, const char *text) {
    write_file(name, text);
    rest(120);
}

static void keep_time(const char *name, const struct stat *s) {
    const struct timespec times[2] = {s->st_atim, s->st_mtim};
    cr_assert(utimensat(AT_FDCWD, path_of(name), times, 0) == 0);
}

Test(compiler, included_files) {
    char options[3 * PATH];
    struct stat s;
    mkdir(path_of("one"), 0700);
    mkdir(path_of("two"), 0700);
    snprintf(options, sizeof options, "-I %s -I%s", path_of("one"), path_of("two"));
    write_header("two/c.h", "#define X 11\n");
    expect(11, 1, including, options);
    expect(11, 0, including, options);
    cr_assert(stat(path_of("two/c.h"), &s) == 0);
    write_file("two/c.h", "#define X 12\n"); /* of the same size, and seemingly as old */
    keep_time("two/c.h", &s);
    rest(120);
    expect(12, 1, including, options);
    expect(12, 0, including, options);
    write_header("two/d.h", "#define X 13\n");
    write_header("two/c.h", "#include \"d.h\"\n");
    expect(13, 1, including, options);
    expect(13, 0, including, options);
    write_header("two/d.h", "#define X 14\n");
    expect(14, 1, including, options);
    write_header("one/c.h", "#define X 15\n"); /* it is found before the other one */
    expect(15, 1, including, options);
    expect(15, 0, including, options);
    unlink(path_of("one/c.h"));
    expect(14, 1, including, options);
    unlink(path_of("two/d.h"));
    cl_program p = make_program(including);
    FAILS(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(p, 0, NULL, options, NULL, NULL));
    SUCCEEDS(clReleaseProgram(p));
}

/* Relative to where the host is. */
Test(compiler, folders_of_the_host) {
    char before[4096];
    cr_assert(getcwd(before, sizeof before));
    mkdir(path_of("one"), 0700);
    mkdir(path_of("two"), 0700);
    write_header("one/c.h", "#define X 1\n");
    write_header("two/c.h", "#define X 2\n");
    cr_assert(chdir(path_of("one")) == 0);
    expect(1, 1, including, NULL);
    expect(1, 0, including, NULL);
    cr_assert(chdir(path_of("two")) == 0);
    expect(2, 1, including, NULL);
    cr_assert(chdir(path_of("one")) == 0);
    expect(1, 0, including, NULL);
    expect(5, 1, KERNEL("5"), NULL);
    expect(5, 1, KERNEL("5"), "-g");
    cr_assert(chdir(before) == 0);
    expect(5, 0, KERNEL("5"), NULL); /* nothing depends on the folder */
    expect(5, 1, KERNEL("5"), "-g");
}

Test(compiler, what_may_change_by_itself) {
    char options[2 * PATH];
    snprintf(options, sizeof options, "-I%s", folder);
    for (int n = 0; n < 2; n++) {
        expect(11, 1, KERNEL("sizeof(__DATE__) - 1"), NULL);
        expect(8, 1, KERNEL("sizeof(N) - 1"), "-DN=__TIME__");
        expect(0, 1, "#if __has_include(\"e.h\")\n#error\n#endif\n" KERNEL("0"), NULL);
    }
    write_header("c.h", "#define X sizeof(__TIME__)\n");
    for (int n = 0; n < 2; n++) expect(9, 1, including, options);
}

Test(compiler, another_compiler) {
    expect(3, 1, KERNEL("3"), NULL);
    write_compiler("the second");
    expect(3, 1, KERNEL("3"), NULL);
    expect(3, 0, KERNEL("3"), NULL);
    setenv("CPATH", "/nonexistent", 1);
    expect(3, 1, KERNEL("3"), NULL);
    unsetenv("CPATH");
}

/* Entries that are damaged, or not there any more, are made again. */
Test(compiler, damaged_entries) {
    expect(3, 1, KERNEL("3"), NULL);
    const struct dirent *e;
    char name[2 * PATH];
    DIR *d = opendir(path_of("cache"));
    while ((e = readdir(d))) {
        snprintf(name, sizeof name, "%s/%s", path_of("cache"), e->d_name);
        if (e->d_name[0] != '.') cr_expect(truncate(name, 100) == 0);
    }
    closedir(d);
    expect(3, 1, KERNEL("3"), NULL);
    expect(3, 0, KERNEL("3"), NULL);
    remove_all(path_of("cache"));
    expect(3, 1, KERNEL("3"), NULL);
}

static void begin_without_cache(void) {
    begin_folder();
    setenv("SPVFUSE_CACHE", "0", 1);
    begin_opencl();
    SUCCEEDS(clReleaseProgram(built(KERNEL("1"), NULL))); /* with the trial of the compiler */
}

Test(compiler_alone, no_cache, .init = begin_without_cache, .fini = end) {
    for (int n = 0; n < 2; n++) expect(3, 1, KERNEL("3"), NULL);
    cr_expect(access(path_of("cache"), F_OK) != 0);
}

/* ------------------------------------------------------------------------------ other processes */

/* Waits for it; true: it has ended as it should. */
static bool ends_well(pid_t child) {
    int status;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static pid_t start_builder(const char *options) {
    pid_t child = fork();
    if (child) return child;
    begin_opencl();
    cl_program p = make_program(KERNEL("3"));
    bool ok = clBuildProgram(p, 0, NULL, options, NULL, NULL) == CL_SUCCESS;
    _exit(ok && result_of(p, "k") == 3 ? 0 : 1);
}

/* What one has compiled all others find, the trial of the compiler included. */
Test(compiler_alone, processes, .init = begin_folder, .fini = end_folder) {
    pid_t children[8];
    cr_expect(ends_well(start_builder(NULL)));
    int before = count_runs();
    cr_expect_eq(before, 2, "%d", before);
    for (int n = 0; n < 8; n++) children[n] = start_builder(NULL);
    for (int n = 0; n < 8; n++) cr_expect(ends_well(children[n]));
    cr_expect(count_runs() == before, "%d, not %d", count_runs(), before);
}

/* -------------------------------------------------------------------------- compilers that hang */

static pid_t last_pid(void) {
    FILE *f = fopen(path_of("pids"), "r");
    int pid = 0;
    if (f) cr_expect(fscanf(f, "%d", &pid) <= 1);
    if (f) fclose(f);
    return pid;
}

static bool is_gone(void *unused) {
    char stat[PATH], state = 'Z';
    (void)unused;
    snprintf(stat, sizeof stat, "/proc/%d/stat", (int)last_pid());
    FILE *f = fopen(stat, "r");
    if (f && fscanf(f, "%*d %*s %c", &state) != 1) state = 'Z';
    if (f) fclose(f);
    return state == 'Z' || state == 'X';
}

static int files_in(const char *path) {
    DIR *d = opendir(path);
    int n = 0;
    while (readdir(d)) n++;
    closedir(d);
    return n - 2;
}

static void begin_hanging(void) {
    begin_folder();
    mkdir(path_of("tmp"), 0700);
    setenv("TMPDIR", path_of("tmp"), 1);
}

/* With what it has started itself. */
Test(compiler_alone, time_limit, .init = begin_hanging, .fini = end_folder) {
    begin_opencl();
    expect(3, 1 + 1, KERNEL("3"), NULL); /* a trial */
    setenv("SPVFUSE_COMPILER_SECONDS", "1", 1);
    for (int n = 0; n < 2; n++) {
        cl_program p = make_program(KERNEL("1"));
        unlink(path_of("pids"));
        FAILS(CL_BUILD_PROGRAM_FAILURE,
              clBuildProgram(p, 0, NULL, n ? "-DCHILD" : "-DHANG", NULL, NULL));
        cr_expect(log_has(p, "has not ended after 1 seconds (SPVFUSE_COMPILER_SECONDS)"));
        cr_expect(last_pid() > 0 && comes_true(is_gone, NULL));
        SUCCEEDS(clReleaseProgram(p));
    }
    expect(4, 1, KERNEL("4"), NULL);
    cr_expect(files_in(path_of("tmp")) == 0);
    end_opencl();
}

/* The trial costs the limit once, and each build says why there is no compiler. */
Test(compiler_alone, trial_hangs, .init = begin_hanging, .fini = end_folder) {
    setenv("SPVFUSE_COMPILER_SECONDS", "1", 1);
    write_file("hangs", "");
    begin_opencl();
    TELLS(cl_bool, CL_FALSE, clGetDeviceInfo, ocl.device, CL_DEVICE_COMPILER_AVAILABLE);
    for (int n = 0; n < 2; n++) {
        cl_program p = make_program(KERNEL("1"));
        FAILS(CL_COMPILER_NOT_AVAILABLE, clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
        cr_expect(log_has(p, path_of("compiler")));
        cr_expect(log_has(p, "has not ended after 1 seconds (SPVFUSE_COMPILER_SECONDS)"));
        SUCCEEDS(clReleaseProgram(p));
    }
    cr_expect(count_runs() == 1, "%d", count_runs());
    cr_expect(last_pid() > 0 && comes_true(is_gone, NULL));
    end_opencl();
}

static bool has_begun(void *unused) {
    (void)unused;
    return last_pid() > 0;
}

Test(compiler_alone, host_is_killed, .init = begin_hanging, .fini = end_folder) {
    cr_expect(ends_well(start_builder(NULL)));
    pid_t child = start_builder("-DHANG");
    cr_assert(comes_true(has_begun, NULL));
    cr_expect(!is_gone(NULL));
    kill(child, SIGKILL);
    cr_expect(!ends_well(child));
    cr_expect(comes_true(is_gone, NULL));
    cr_expect(files_in(path_of("tmp")) == 0);
    /* The next one does not wait for what that one had claimed. */
    cr_expect(ends_well(start_builder("-DA")));
}
