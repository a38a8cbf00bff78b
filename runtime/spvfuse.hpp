/* spvfuse.hpp — spvfuse.h and spvfuse_queue.h for C++17: objects that release what they hold, and
 * exceptions in place of statuses.
 *
 *     spvf::context context;
 *     spvf::device device(context, "cpu");
 *     spvf::program program(device, spvf::module(context, "k.spv"));
 *     spvf::queue queue(device);
 *     std::vector<float> x(1000);
 *     spvf::buffer b(device, x);
 *     queue.launch(program, "scale", spvf::range(1000, 50), b, 2.0f);
 *     queue.finish();
 *
 * An object may be moved, not copied, and converts to the handle of the C interface, so that all
 * functions of that can be called with it.  What is destroyed lives on until the commands that use
 * it have ended, but memory that is the program's has to outlive them: finish the queue first.
 * Errors: spvf::error, with the last message of an error that the library gave.
 * Warnings, such as refusals, are kept for context::warnings.
 * Threads: as in the C interface.
 * Containers, plans and explanations are not wrapped: call the C interface for them. */
#ifndef SPVFUSE_HPP
#define SPVFUSE_HPP

#include "spvfuse_queue.h"

#include <array>
#include <cstdint>
#include <fstream>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace spvf {

class error : public std::runtime_error {
  public:
    error(spvf_status status, const std::string &text) : std::runtime_error(text), code(status) {}
    spvf_status status() const { return code; }

  private:
    spvf_status code;
};

/* What the library said, from whatever thread. */
class messages {
  public:
    /* Called by the library, which no exception may pass through. */
    void add(const spvf_message &message) noexcept try {
        std::lock_guard<std::mutex> guard(lock);
        if (message.severity == SPVF_ERROR) last = message.formatted;
        if (message.severity == SPVF_WARNING) warned.push_back(message.formatted);
    } catch (const std::exception &) {
    }
    std::vector<std::string> take_warnings() {
        std::lock_guard<std::mutex> guard(lock);
        return std::exchange(warned, {});
    }
    void check(spvf_status status) {
        if (status == SPVF_OK) return;
        std::lock_guard<std::mutex> guard(lock);
        throw error(status,
                    last.empty() ? std::string(spvf_status_name(status)) : std::exchange(last, {}));
    }

  private:
    std::mutex lock;
    std::string last;
    std::vector<std::string> warned;
};

/* The owner of a handle, and of the messages that the library may add to as long as there is one. */
template <typename T, void (*destroy)(T *)> class handle {
  public:
    handle(handle &&) = default;
    handle &operator=(handle &&other) noexcept {
        owned = std::move(other.owned); /* what was destroyed may have had something to say */
        said = std::move(other.said);
        return *this;
    }
    operator T *() const { return owned.get(); }
    T *get() const { return owned.get(); }
    const std::shared_ptr<messages> &log() const { return said; }

  protected:
    explicit handle(const std::shared_ptr<messages> &log) : said(log) {}
    /* Takes what `make(T **)` has made. */
    template <typename F> void own(F make) {
        T *made = nullptr;
        said->check(make(&made));
        owned.reset(made);
    }

  private:
    struct deleter {
        void operator()(T *object) const { destroy(object); }
    };
    std::shared_ptr<messages> said;
    std::unique_ptr<T, deleter> owned;
};

/* What a context is to remember for context::reproducer: so many launches and fusions, with what buffers of
 * at most `contents` bytes held, in at most `bytes`; 0: 256 MiB. */
struct recall {
    std::uint32_t launches = 16;
    std::size_t contents = 0, bytes = 0;
};

class context : public handle<spvf_context, spvf_context_destroy> {
  public:
    context() : context(recall{0, 0, 0}) {}
    explicit context(const recall &what) : handle(std::make_shared<messages>()) {
        spvf_context_options options = {};
        options.remember = what.launches;
        options.remember_contents = what.contents;
        options.remember_bytes = what.bytes;
        options.size = sizeof options;
        options.message = [](void *user, const spvf_message *message) {
            static_cast<messages *>(user)->add(*message);
        };
        options.message_user = log().get();
        own([&](spvf_context **out) { return spvf_context_create(&options, out); });
    }
    /* All warnings since the last call. */
    std::vector<std::string> warnings() const { return log()->take_warnings(); }
    /* Writes what is remembered to a folder, as plans; gives their number. */
    std::size_t reproducer(const std::string &folder) const {
        std::size_t plans = 0;
        log()->check(spvf_context_reproducer(get(), folder.c_str(), &plans));
        return plans;
    }
};

class module : public handle<spvf_module, spvf_module_destroy> {
  public:
    /* SPIR-V, a container, or text of the IR, from a file. */
    module(const context &context, const std::string &file) :handle(context.log()) {
        std::ifstream in(file, std::ios::binary);
        if (!in) throw error(SPVF_ERROR_IO, file + ": cannot be read");
        std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
        own([&](spvf_module **out) {
            return spvf_module_load(context, file.c_str(), bytes.data(), bytes.size(), nullptr,
                                    out);
        });
    }
};

/* What a device is, can do and has, as spvf_device_info says; "" and 0: not known, or not limited. */
struct device_info {
    std::string name, description, why_not, version, target;
    bool takes_spirv = false, usable = false, missing = false;
    spvf_capabilities can = {};
    std::uint32_t parallel = 0, vector_bytes = 0;
    std::uint64_t memory = 0, local_memory = 0, group_items = 0;
    std::array<std::uint64_t, 3> group_size = {}, groups = {};
    std::vector<std::uint32_t> subgroup_sizes;

    explicit device_info(const spvf_device_info &info)
        : name(text(info.name)), description(text(info.description)), why_not(text(info.why_not)),
          version(text(info.sizes->version)), target(text(info.sizes->target)),
          takes_spirv(info.takes_spirv), usable(info.usable), missing(info.missing), can(*info.can),
          parallel(info.sizes->parallel), vector_bytes(info.sizes->vector_bytes),
          memory(info.sizes->memory), local_memory(info.sizes->local_memory),
          group_items(info.sizes->group_items) {
        const spvf_device_sizes &sizes = *info.sizes;
        for (std::size_t d = 0; d < 3; d++) {
            group_size[d] = sizes.group_size[d];
            groups[d] = sizes.groups[d];
        }
        for (std::size_t n = 0; n < sizes.subgroup_size_count; n++)
            subgroup_sizes.push_back(sizes.subgroup_sizes[n]);
    }

  private:
    static std::string text(const char *given) { return given ? given : ""; }
};

/* Lists what the library tells of.  No exception passes through it: `lost` says that there was one. */
struct device_list {
    std::vector<device_info> found;
    bool lost = false;
    static void add(void *user, const spvf_device_info *info) noexcept {
        device_list *list = static_cast<device_list *>(user);
        try {
            list->found.emplace_back(*info);
        } catch (const std::exception &) {
            list->lost = true;
        }
    }
    spvf_status status(spvf_status given) const { return lost ? SPVF_ERROR_MEMORY : given; }
};

/* The devices of this machine; of a kind of which it has none there is one that is `missing`. */
inline std::vector<device_info> devices(const context &context) {
    device_list list;
    const spvf_status status = spvf_devices(context, device_list::add, &list);
    context.log()->check(list.status(status));
    return list.found;
}

class device : public handle<spvf_device, spvf_device_destroy> {
  public:
    explicit device(const context &context, const char *name = nullptr) : handle(context.log()) {
        own([&](spvf_device **out) { return spvf_device_open(context, name, out); });
    }
    /* With the options that it was opened with. */
    device_info info() const {
        device_list list;
        const spvf_status status = spvf_device_describe(get(), device_list::add, &list);
        log()->check(list.status(status));
        return list.found.front();
    }
};

class program : public handle<spvf_program, spvf_program_destroy> {
  public:
    program(const device &device, const spvf_module *module) : handle(device.log()) {
        own([&](spvf_program **out) { return spvf_program_create(device, module, out); });
    }
    /* Compiles a kernel for launches on a range. */
    void prepare(const char *kernel, const spvf_range &range) const {
        log()->check(spvf_program_prepare(get(), kernel, &range));
    }
    /* Its code, which is the program's. */
    const spvf_native_kernel &native(const char *kernel) const {
        const spvf_native_kernel *found = nullptr;
        log()->check(spvf_program_native(get(), kernel, &found));
        return *found;
    }
};

class buffer : public handle<spvf_buffer, spvf_buffer_destroy> {
  public:
    /* Memory of the device, with a copy of what is at `host` unless that is null. */
    buffer(const device &device, std::size_t bytes, void *host = nullptr,
           spvf_buffer_flags flags = SPVF_COPY_HOST)
        : handle(device.log()) {
        own([&](spvf_buffer **out) { return spvf_buffer_create(device, bytes, host, flags, out); });
    }
    /* The memory of the vector, which outlives the commands that use it and keeps its size. */
    template <typename T>
    buffer(const device &device, std::vector<T> &memory)
        : buffer(device, memory.size() * sizeof(T), memory.data(), SPVF_USE_HOST) {}
};

/* A range of one dimension; others are made as spvf_range. */
inline spvf_range range(std::uint64_t global, std::uint64_t local = 0) {
    spvf_range made = {};
    made.dims = 1;
    made.global[0] = global;
    made.local[0] = local;
    return made;
}

inline spvf_argument argument(const buffer &buffer) { return {buffer, 0, nullptr, 0, nullptr}; }
inline spvf_argument argument(const spvf_argument &made) { return made; }
template <typename T, typename = std::enable_if_t<std::is_trivially_copyable<T>::value>>
spvf_argument argument(const T &value) {
    return {nullptr, 0, &value, sizeof value, nullptr};
}

inline spvf_launch launch_of(spvf_program *program, const char *kernel, const spvf_range &range,
                             const spvf_argument *args, std::size_t count) {
    spvf_launch what = {};
    what.size = sizeof what;
    what.program = program;
    what.kernel = kernel;
    what.range = range;
    what.args = args;
    what.arg_count = count;
    return what;
}

class queue : public handle<spvf_queue, spvf_queue_destroy> {
  public:
    explicit queue(const device &device) : handle(device.log()) {
        own([&](spvf_queue **out) { return spvf_queue_create(device, nullptr, out); });
    }
    /* Arguments are buffers and values, in the order of the kernel's parameters; parts of buffers,
     * addresses and local memory are made as spvf_argument. */
    template <typename... T>
    void launch(const program &program, const char *kernel, const spvf_range &range,
                const T &...arguments) {
        std::array<spvf_argument, sizeof...(T)> all = {argument(arguments)...};
        const spvf_launch what = launch_of(program, kernel, range, all.data(), all.size());
        log()->check(spvf_queue_launch(get(), &what, nullptr, nullptr));
    }
    void finish() { log()->check(spvf_queue_finish(get())); }
    void start_fusion() { log()->check(spvf_queue_start_fusion(get(), nullptr)); }
    void complete_fusion() { log()->check(spvf_queue_complete_fusion(get(), nullptr)); }
};

/* Launches that are recorded once, fused, and run as often as the program wants. */
class graph : public handle<spvf_graph, spvf_graph_destroy> {
  public:
    explicit graph(const device &device) : handle(device.log()) {
        own([&](spvf_graph **out) { return spvf_graph_create(device, nullptr, out); });
    }
    /* The number of the launch. */
    template <typename... T>
    std::size_t launch(const program &program, const char *kernel, const spvf_range &range,
                       const T &...arguments) {
        std::array<spvf_argument, sizeof...(T)> all = {argument(arguments)...};
        const spvf_launch what = launch_of(program, kernel, range, all.data(), all.size());
        std::size_t index = 0;
        log()->check(spvf_graph_launch(get(), &what, &index));
        return index;
    }
    /* The contents of the buffer are not needed outside of the graph. */
    void internal(const buffer &buffer) {
        log()->check(spvf_graph_internal(get(), buffer, SPVF_PROMOTE_AUTO));
    }
    void commit() { log()->check(spvf_graph_commit(get())); }
    std::size_t kernel_count() const { return spvf_graph_kernel_count(get()); }
    /* For the runs to come. */
    template <typename T> void set_value(std::size_t launch, std::size_t arg, const T &value) {
        log()->check(spvf_graph_set_value(get(), launch, arg, &value, sizeof value));
    }
    void run(const queue &queue) { log()->check(spvf_graph_run(get(), queue, nullptr, nullptr)); }
};

} // namespace spvf

#endif
