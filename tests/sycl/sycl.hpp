/* sycl.hpp — what a SYCL runtime gives to kernels, as little as these tests need.
 *
 * A kernel is a function object.  The compiler makes an entry point of `launch<NAME>(object)`, which
 * takes the object by value: a struct with pointers, the closure. */
#pragma once

template <typename, typename... Objects> void sycl_kernel_launch(const char *, Objects...) {}

template <typename Name, typename Object>
[[clang::sycl_kernel_entry_point(Name)]] void launch(Object object) {
    object();
}

/* With local memory, in which local accessors have places. */
template <typename Name, typename Object>
[[clang::sycl_kernel_entry_point(Name)]] void launch(Object object,
                                                     __attribute__((opencl_local)) char *memory) {
    object(memory);
}

/* With a buffer and local memory as arguments of their own. */
template <typename Name, typename Object, typename T>
[[clang::sycl_kernel_entry_point(Name)]] void launch(Object object,
                                                     __attribute__((opencl_global)) T *buffer,
                                                     __attribute__((opencl_local)) T *memory) {
    object(buffer, memory);
}

extern "C" [[clang::sycl_external]] unsigned long __spirv_BuiltInGlobalInvocationId(int);
extern "C" [[clang::sycl_external]] unsigned long __spirv_BuiltInLocalInvocationId(int);
extern "C" [[clang::sycl_external]] unsigned long __spirv_BuiltInWorkgroupId(int);
extern "C" [[clang::sycl_external, clang::convergent]] void __spirv_ControlBarrier(int, int, int);

inline void wait_for_group() { __spirv_ControlBarrier(2, 2, 0x110); }

inline unsigned long item() { return __spirv_BuiltInGlobalInvocationId(0); }

/* As a runtime computes it that knows groups of 128 items. */
inline unsigned long item_of_groups() {
    return __spirv_BuiltInLocalInvocationId(0) | __spirv_BuiltInWorkgroupId(0) << 7;
}

/* A part of a buffer, as accessors are: a pointer and where in the buffer it begins. */
template <typename T> struct accessor {
    __attribute__((opencl_global)) T *data;
    unsigned long first;
    __attribute__((opencl_global)) T &operator[](unsigned long i) const { return data[first + i]; }
};

/* Of two dimensions: where an item has its row depends on the size of rows, a member. */
template <typename T> struct accessor2 {
    __attribute__((opencl_global)) T *data;
    unsigned long rows, pitch;
    __attribute__((opencl_global)) T *operator[](unsigned long i) const { return data + i * pitch; }
};

template <typename T> struct local_accessor2 {
    unsigned long first, rows, pitch;
    __attribute__((opencl_local)) T *row(__attribute__((opencl_local)) char *memory,
                                         unsigned long i) const {
        return (__attribute__((opencl_local)) T *)(memory + first) + i * pitch;
    }
};

struct range {
    unsigned long sizes[1];
};

/* An accessor whose bytes a host does not know: on a device, `init` makes it of a buffer and ranges, and
 * `finish` ends it.  The compiler is not told; a layout names the two. */
struct device_accessor {
    __attribute__((opencl_global)) float *data;
    range all;
    unsigned long first, last;
    [[clang::sycl_external]] void init(__attribute__((opencl_global)) float *buffer, range size,
                                       unsigned long begin);
    [[clang::sycl_external]] void finish();
    __attribute__((opencl_global)) float &operator[](unsigned long i) const { return data[i]; }
};
