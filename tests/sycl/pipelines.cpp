/* pipelines.cpp — pipelines of kernels as a SYCL program has them. */
#include "sycl.hpp"

/* -------------------------------------------------------- a chain, each step written in its own way */

struct scale {
    accessor<float> in, out;
    float by;
    void operator()() const { out[item()] = in[item()] * by; }
};

struct shift {
    accessor<float> in;
    float by;
    accessor<float> out;
    unsigned n;
    void operator()() const {
        if (item() < n) out[item()] = in[item()] + by;
    }
};

struct square {
    accessor<float> in, out;
    void operator()() const {
        unsigned long i = item_of_groups();
        out[i] = in[i] * in[i];
    }
};

/* Pointers without accessors, as with unified shared memory. */
struct halve {
    __attribute__((opencl_global)) const float *in;
    __attribute__((opencl_global)) float *out;
    void operator()() const { out[item()] = in[item()] * 0.5f; }
};

/* ------------------------------------------------------------------------------------- a diamond */

struct product {
    accessor<float> a, b, out;
    void operator()() const { out[item()] = a[item()] * b[item()]; }
};

struct sum {
    accessor<float> a, b, out;
    void operator()() const { out[item()] = a[item()] + b[item()]; }
};

/* ------------------------------------------------- the vectors of a conjugate gradient iteration */

struct axpy { /* y += a * x */
    float a;
    accessor<float> x, y;
    void operator()() const { y[item()] += a * x[item()]; }
};

struct xpay { /* y = x + a * y */
    accessor<float> x, y;
    float a;
    void operator()() const { y[item()] = x[item()] + a * y[item()]; }
};

/* -------------------------------------------------------------- a stencil that reads neighbours */

struct smooth {
    accessor<float> in, out;
    unsigned n;
    void operator()() const {
        unsigned long i = item(), left = i ? i - 1 : 0, right = i + 1 < n ? i + 1 : i;
        out[i] = in[left] + 2 * in[i] + in[right];
    }
};

/* ------------------------------------------------------- a product of matrices, tile by tile */

struct tiled {
    accessor2<const float> a, b;
    accessor2<float> c;
    local_accessor2<float> left, right;
    unsigned n;
    void operator()(__attribute__((opencl_local)) char *memory) const {
        unsigned long x = __spirv_BuiltInLocalInvocationId(0),
                      y = __spirv_BuiltInLocalInvocationId(1);
        unsigned long column = __spirv_BuiltInGlobalInvocationId(0);
        unsigned long row = __spirv_BuiltInGlobalInvocationId(1);
        float sum = 0;
        for (unsigned at = 0; at < n; at += 16) {
            left.row(memory, y)[x] = a[row][at + x];
            right.row(memory, y)[x] = b[at + y][column];
            wait_for_group();
            for (unsigned k = 0; k < 16; k++)
                sum += left.row(memory, y)[k] * right.row(memory, k)[x];
            wait_for_group();
        }
        c[row][column] = sum;
    }
};

/* ------------------------------------- an object without pointers, which remains one argument */

struct weights {
    unsigned shift, weight[4];
    void operator()(__attribute__((opencl_global)) unsigned *out,
                    __attribute__((opencl_local)) unsigned *memory) const {
        unsigned long i = __spirv_BuiltInLocalInvocationId(0);
        memory[i] = weight[i & 3] + shift;
        wait_for_group();
        out[item()] = memory[(i + 1) % 32] * weight[2] + weight[i & 3];
    }
};

/* ------------------------------------------- a closure whose types do not name all of its bytes */

/* What a compiler says of the union is that it is the first struct, which has padding. */
struct mixed {
    char small;
    union {
        struct {
            char first;
            int second;
        } parts;
        char bytes[8];
    } either;
    accessor<char> out;
    short numbers[3];
    void operator()() const {
        unsigned long i = item();
        out[i] = i < 8 ? either.bytes[i] : i == 8 ? small : (char)numbers[i - 9];
    }
};

/* --------------------------------------------- accessors that functions of the device put together */

void device_accessor::init(__attribute__((opencl_global)) float *buffer, range size,
                           unsigned long begin) {
    data = buffer + begin;
    all = size;
    first = begin;
    last = begin + size.sizes[0];
}

void device_accessor::finish() {
    if (item() == 0) data[0] += 1;
}

struct blend {
    device_accessor in;
    float by;
    device_accessor out[2];
    void operator()() {
        unsigned long i = item();
        if (i >= in.all.sizes[0]) return;
        out[0][i] = in[i] * by;
        out[1][i] = in[i] + by + in.last;
    }
};

struct Scale;
struct Shift;
struct Square;
struct Halve;
struct Product;
struct Sum;
struct Axpy;
struct Xpay;
struct Smooth;
struct Tiled;
struct Weights;
struct Mixed;
struct Blend;

int main() {
    launch<Scale>(scale{});
    launch<Shift>(shift{});
    launch<Square>(square{});
    launch<Halve>(halve{});
    launch<Product>(product{});
    launch<Sum>(sum{});
    launch<Axpy>(axpy{});
    launch<Xpay>(xpay{});
    launch<Smooth>(smooth{});
    launch<Tiled>(tiled{}, nullptr);
    launch<Weights, weights, unsigned>({}, nullptr, nullptr);
    launch<Mixed>(mixed{});
    launch<Blend>(blend{});
}
