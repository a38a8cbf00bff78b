/* pools.cpp MODULE — launches in a program whose other threads are those of OpenMP, or with -DTBB those of TBB:
 * from within a parallel loop, with one queue or one for each item, and beside loops.  Threads of the
 * library that have nothing to do leave the processors to the loops. */
#include "runtime/spvfuse.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <dirent.h>
#include <thread>
#ifdef TBB
#include <tbb/parallel_for.h>
#endif

template <typename F> static void in_parallel(int n, F body) {
#ifdef TBB
    tbb::parallel_for(0, n, body);
#else
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < n; i++) body(i);
#endif
}

static void expect(bool truth, const char *what) {
    if (truth) return;
    std::printf("not so: %s\n", what);
    std::exit(1);
}

static void expect_all(const std::vector<int> &v, int wanted, const char *what) {
    for (int x : v) expect(x == wanted, what);
}

/* Kernel add: p[i] += a */
struct fixture {
    const char *file;
    spvf::context context;
    spvf::device device{context, "cpu"};
    spvf::program program{device, spvf::module(context, file)};
};

static void a_queue_for_each_item(fixture &f) {
    std::vector<std::vector<int>> values(24, std::vector<int>(1 << 14));
    in_parallel(24, [&](int i) {
        spvf::buffer buffer(f.device, values[i]);
        spvf::queue queue(f.device);
        for (int n = 0; n < 10; n++)
            queue.launch(f.program, "add", spvf::range(1 << 14, 64), buffer, i);
        queue.finish();
    });
    for (int i = 0; i < 24; i++) expect_all(values[i], 10 * i, "each item has its own sums");
}

static void one_queue_for_all(fixture &f) {
    std::vector<int> values(1 << 14);
    spvf::buffer buffer(f.device, values);
    spvf::queue queue(f.device);
    in_parallel(24, [&](int) {
        for (int n = 0; n < 10; n++)
            queue.launch(f.program, "add", spvf::range(1 << 14, 64), buffer, 1);
        queue.finish();
    });
    expect_all(values, 240, "each launch runs once");
}

/* Work of the pool's threads, which no compiler leaves out. */
static std::atomic<unsigned> sink;
static void spin(int n) {
    unsigned x = static_cast<unsigned>(n);
    for (int i = 0; i < 100000; i++) x = x * 1664525 + 1013904223;
    sink += x;
}

static void beside_loops(fixture &f) {
    std::vector<int> values(1 << 20);
    std::atomic<bool> over{false};
    std::thread launches([&] {
        spvf::buffer buffer(f.device, values);
        spvf::queue queue(f.device);
        for (int n = 0; n < 60; n++) {
            queue.launch(f.program, "add", spvf::range(1 << 20, 64), buffer, 1);
            queue.finish();
        }
        over = true;
    });
    int loops = 0;
    for (; !over || !loops; loops++) in_parallel(64, spin);
    launches.join();
    expect_all(values, 60, "launches beside loops");
    std::printf("%d loops beside 60 launches\n", loops);
}

/* Nanoseconds of processors that the threads of the library have had, and how many there are. */
static unsigned long long time_of_library(int &threads) {
    unsigned long long sum = 0, one = 0;
    char path[300], name[16];
    threads = 0;
    DIR *tasks = opendir("/proc/self/task");
    while (const dirent *task = tasks ? readdir(tasks) : nullptr) {
        std::snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
        std::FILE *file = std::fopen(path, "r");
        bool ours = file && std::fscanf(file, "%15s", name) == 1 && std::string(name) == "spvfuse";
        if (file) std::fclose(file);
        std::snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", task->d_name);
        file = ours ? std::fopen(path, "r") : nullptr;
        if (file && std::fscanf(file, "%llu", &one) == 1) sum += one, threads++;
        if (file) std::fclose(file);
    }
    if (tasks) closedir(tasks);
    return sum;
}

static void idle_threads_leave_the_processors(fixture &f) {
    std::vector<int> values(1 << 22);
    spvf::buffer buffer(f.device, values);
    spvf::queue queue(f.device);
    for (int n = 0; n < 4; n++) queue.launch(f.program, "add", spvf::range(1 << 22, 64), buffer, 1);
    queue.finish();
    int threads;
    unsigned long long before = time_of_library(threads);
    auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(200))
        in_parallel(64, spin);
    unsigned long long used = time_of_library(threads) - before;
    std::printf("%d threads used %.3f ms of 200 ms\n", threads, static_cast<double>(used) / 1e6);
    expect(threads > 0 || std::thread::hardware_concurrency() == 1,
           "there are threads of the library");
    expect(used < 10000000, "they sleep");
}

int main(int argc, char **argv) {
    try {
        expect(argc == 2, "a module is given");
        fixture f{argv[1]};
        a_queue_for_each_item(f);
        one_queue_for_all(f);
        beside_loops(f);
        idle_threads_leave_the_processors(f);
        return 0;
    } catch (const std::exception &e) {
        std::printf("%s\n", e.what());
        return 1;
    }
}
