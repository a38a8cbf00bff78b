/* queue.cpp KERNELS.spv: a queue that fuses what is launched between two calls.  The program does not
 * say which launches follow each other; it only says when it looks at results. */
#include "runtime/spvfuse.hpp"

#include <cstdio>

static void axpy(const char *file) {
    std::vector<float> x(4096), y(4096, 1.0f), t(4096), z(4096);
    for (std::size_t i = 0; i < x.size(); i++) x[i] = static_cast<float>(i);
    spvf::context context;
    spvf::device device(context, "cpu");
    spvf::program program(device, spvf::module(context, file));
    spvf::buffer in(device, x), more(device, y), between(device, t), out(device, z);
    spvf::queue queue(device);
    const spvf_range range = spvf::range(x.size(), 64);

    queue.start_fusion();
    queue.launch(program, "scale", range, 2.0f, in, between);
    queue.launch(program, "add", range, between, more, out);
    queue.complete_fusion(); /* one kernel is enqueued */
    queue.finish();
    std::printf("2 * %g + %g = %g\n", x[10], y[10], z[10]);

    /* `slope` reads what other work-groups of `scale` write: two kernels, and a warning.  It takes
     * the buffer from its second half on. */
    const spvf_argument half = {between, 2048 * sizeof(float), nullptr, 0, nullptr};
    queue.start_fusion();
    queue.launch(program, "scale", spvf::range(4096, 64), 2.0f, in, between);
    queue.launch(program, "slope", spvf::range(1024, 64), half, out);
    queue.complete_fusion();
    queue.finish();
    for (const std::string &warning : context.warnings()) std::printf("%s\n", warning.c_str());
    std::printf("slope: %g\n", z[10]);
}

int main(int argc, char **argv) {
    try {
        if (argc == 2) axpy(argv[1]);
        return argc != 2;
    } catch (const spvf::error &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
