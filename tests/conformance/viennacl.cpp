/* viennacl.cpp — ViennaCL's vectors, matrices and solvers, whose kernels it writes itself, against
 * loops of the host.  Prints "passed 1" or "failed 1: NAME" for each test in each precision.
 *
 * ViennaCL is a library of C++ headers; Debian has it without its tests.
 */
#include <viennacl/compressed_matrix.hpp>
#include <viennacl/coordinate_matrix.hpp>
#include <viennacl/ell_matrix.hpp>
#include <viennacl/fft.hpp>
#include <viennacl/linalg/bicgstab.hpp>
#include <viennacl/linalg/cg.hpp>
#include <viennacl/linalg/gmres.hpp>
#include <viennacl/linalg/inner_prod.hpp>
#include <viennacl/linalg/lu.hpp>
#include <viennacl/linalg/maxmin.hpp>
#include <viennacl/linalg/norm_1.hpp>
#include <viennacl/linalg/norm_2.hpp>
#include <viennacl/linalg/norm_inf.hpp>
#include <viennacl/linalg/prod.hpp>
#include <viennacl/matrix.hpp>
#include <viennacl/vector.hpp>

#include <cmath>
#include <cstdio>
#include <exception>
#include <map>
#include <random>
#include <vector>

namespace {

namespace la = viennacl::linalg;
template <typename T> using host_vector = std::vector<T>;
template <typename T> using host_matrix = std::vector<std::vector<T>>;
template <typename T> using host_sparse = std::vector<std::map<unsigned, T>>;

std::mt19937 engine(1);

template <typename T> T random_value() { return std::uniform_real_distribution<T>(-1, 1)(engine); }

template <typename T> host_vector<T> random_vector(size_t n) {
    host_vector<T> v(n);
    for (T &x : v) x = random_value<T>();
    return v;
}

template <typename T> host_matrix<T> random_matrix(size_t rows, size_t columns) {
    host_matrix<T> m(rows);
    for (auto &row : m) row = random_vector<T>(columns);
    return m;
}

template <typename T> viennacl::vector<T> there(const host_vector<T> &v) {
    viennacl::vector<T> to(v.size());
    viennacl::copy(v, to);
    return to;
}

template <typename T> viennacl::matrix<T> there(const host_matrix<T> &m) {
    viennacl::matrix<T> to(m.size(), m[0].size());
    viennacl::copy(m, to);
    return to;
}

template <typename T> host_vector<T> here(const viennacl::vector<T> &v) {
    host_vector<T> to(v.size());
    viennacl::copy(v, to);
    return to;
}

template <typename T> host_matrix<T> here(const viennacl::matrix<T> &m) {
    host_matrix<T> to(m.size1(), host_vector<T>(m.size2()));
    viennacl::copy(m, to);
    return to;
}

/* Within what n additions may lose. */
template <typename T> bool close(T got, T want, size_t n) {
    return std::abs(got - want) <=
           T(n) * 4 * std::numeric_limits<T>::epsilon() * (1 + std::abs(want));
}

template <typename T> bool close(const host_vector<T> &got, const host_vector<T> &want, size_t n) {
    for (size_t k = 0; k < want.size(); k++)
        if (!close(got[k], want[k], n)) return false;
    return got.size() == want.size();
}

template <typename T> bool close(const host_matrix<T> &got, const host_matrix<T> &want, size_t n) {
    for (size_t k = 0; k < want.size(); k++)
        if (!close(got[k], want[k], n)) return false;
    return got.size() == want.size();
}

template <typename T> host_vector<T> product(const host_matrix<T> &m, const host_vector<T> &v) {
    host_vector<T> r(m.size());
    for (size_t i = 0; i < m.size(); i++)
        for (size_t k = 0; k < v.size(); k++) r[i] += m[i][k] * v[k];
    return r;
}

template <typename T> host_matrix<T> product(const host_matrix<T> &a, const host_matrix<T> &b) {
    host_matrix<T> r(a.size(), host_vector<T>(b[0].size()));
    for (size_t i = 0; i < a.size(); i++)
        for (size_t k = 0; k < b.size(); k++)
            for (size_t j = 0; j < b[0].size(); j++) r[i][j] += a[i][k] * b[k][j];
    return r;
}

template <typename T> host_matrix<T> transposed(const host_matrix<T> &m) {
    host_matrix<T> r(m[0].size(), host_vector<T>(m.size()));
    for (size_t i = 0; i < m.size(); i++)
        for (size_t j = 0; j < m[0].size(); j++) r[j][i] = m[i][j];
    return r;
}

/* Symmetric, and its diagonal is larger than the rest: every solver comes to an end. */
template <typename T> host_sparse<T> random_sparse(size_t n) {
    host_sparse<T> m(n);
    for (size_t i = 0; i < n; i++) {
        m[i][i] = 9;
        size_t j = (i * 7 + 3) % n;
        if (j != i) m[i][j] = m[j][i] = T(-0.5);
        if (i) m[i][i - 1] = m[i - 1][i] = -1;
    }
    return m;
}

template <typename T> host_vector<T> product(const host_sparse<T> &m, const host_vector<T> &v) {
    host_vector<T> r(m.size());
    for (size_t i = 0; i < m.size(); i++)
        for (const auto &e : m[i]) r[i] += e.second * v[e.first];
    return r;
}

template <typename T> bool test_vectors() {
    for (size_t n : {1, 100, 4097, 100003}) {
        host_vector<T> x = random_vector<T>(n), y = random_vector<T>(n), z(n);
        viennacl::vector<T> a = there(x), b = there(y), c(n);
        c = T(2) * a - b / T(3) + la::element_prod(a, b);
        for (size_t k = 0; k < n; k++) z[k] = 2 * x[k] - y[k] / 3 + x[k] * y[k];
        if (!close(here(c), z, 4)) return false;
        c = la::element_exp(a);
        for (size_t k = 0; k < n; k++) z[k] = std::exp(x[k]);
        if (!close(here(c), z, 4)) return false;
    }
    return true;
}

template <typename T> bool test_reductions() {
    for (size_t n : {1, 100, 4097, 100003}) {
        host_vector<T> x = random_vector<T>(n), y = random_vector<T>(n);
        viennacl::vector<T> a = there(x), b = there(y);
        double dot = 0, sum = 0, squares = 0, most = 0;
        for (size_t k = 0; k < n; k++) {
            dot += double(x[k]) * y[k];
            sum += std::abs(x[k]);
            squares += double(x[k]) * x[k];
            most = std::max(most, double(std::abs(x[k])));
        }
        T got[] = {la::inner_prod(a, b), la::norm_1(a), la::norm_2(a), la::norm_inf(a)};
        if (!close(got[0], T(dot), 2000) || !close(got[1], T(sum), 2000)) return false;
        if (!close(got[2], T(std::sqrt(squares)), 2000) || got[3] != T(most)) return false;
    }
    return true;
}

template <typename T> bool test_scans() {
    for (size_t n : {1, 100, 4097, 100003}) {
        host_vector<T> x(n), want(n);
        T sum = 0;
        for (size_t k = 0; k < n; k++) want[k] = sum += x[k] = T(engine() % 4);
        viennacl::vector<T> a = there(x), b(n);
        la::inclusive_scan(a, b);
        if (here(b) != want) return false;
    }
    return true;
}

template <typename T> bool test_matrix_vector() {
    for (size_t n : {1, 17, 130, 333}) {
        host_matrix<T> m = random_matrix<T>(n, n + 5);
        host_vector<T> x = random_vector<T>(n + 5), y = random_vector<T>(n);
        viennacl::matrix<T> a = there(m);
        viennacl::vector<T> b = there(x), c = there(y), r = la::prod(a, b);
        if (!close(here(r), product(m, x), n + 5)) return false;
        viennacl::vector<T> t = la::prod(trans(a), c);
        if (!close(here(t), product(transposed(m), y), n)) return false;
    }
    return true;
}

template <typename T> bool test_matrix_matrix() {
    for (size_t n : {1, 17, 64, 130}) {
        host_matrix<T> x = random_matrix<T>(n, n + 3), y = random_matrix<T>(n + 3, n + 1);
        viennacl::matrix<T> a = there(x), b = there(y), c = la::prod(a, b);
        if (!close(here(c), product(x, y), n + 3)) return false;
        viennacl::matrix<T> d = la::prod(trans(b), trans(a));
        if (!close(here(d), transposed(product(x, y)), n + 3)) return false;
    }
    return true;
}

template <typename T> bool test_direct_solver() {
    const size_t n = 130;
    host_matrix<T> m = random_matrix<T>(n, n);
    for (size_t k = 0; k < n; k++) m[k][k] += n;
    host_vector<T> x = random_vector<T>(n);
    viennacl::matrix<T> a = there(m);
    viennacl::vector<T> b = there(product(m, x));
    la::lu_factorize(a);
    la::lu_substitute(a, b);
    return close(here(b), x, n);
}

template <typename T, typename M> bool multiplies() {
    for (size_t n : {10, 1000, 5003}) {
        host_sparse<T> m = random_sparse<T>(n);
        host_vector<T> x = random_vector<T>(n);
        M a;
        viennacl::copy(m, a);
        viennacl::vector<T> b = there(x), r = la::prod(a, b);
        if (!close(here(r), product(m, x), 20)) return false;
    }
    return true;
}

template <typename T> bool test_sparse() {
    return multiplies<T, viennacl::compressed_matrix<T>>() &&
           multiplies<T, viennacl::coordinate_matrix<T>>() &&
           multiplies<T, viennacl::ell_matrix<T>>();
}

template <typename T, typename S> bool solves(const S &solver) {
    host_sparse<T> m = random_sparse<T>(2000);
    host_vector<T> x = random_vector<T>(m.size());
    viennacl::compressed_matrix<T> a;
    viennacl::copy(m, a);
    viennacl::vector<T> b = there(product(m, x)), r = la::solve(a, b, solver);
    return close(here(r), x, 200);
}

template <typename T> bool test_iterative_solvers() {
    const double most = 20 * std::numeric_limits<T>::epsilon();
    return solves<T>(la::cg_tag(most, 200)) && solves<T>(la::bicgstab_tag(most, 200)) &&
           solves<T>(la::gmres_tag(most, 200));
}

/* A transform and the one back. */
template <typename T> bool test_fourier() {
    for (size_t n : {16, 1024, 4096}) {
        host_vector<T> x = random_vector<T>(2 * n);
        viennacl::vector<T> a = there(x), b(2 * n), c(2 * n);
        viennacl::fft(a, b);
        viennacl::ifft(b, c);
        if (!close(here(c), x, 100)) return false;
    }
    return true;
}

bool ends_well(bool (*test)()) {
    try {
        return test();
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return false;
    }
}

template <typename T> void run_all(const char *precision) {
    const struct {
        const char *name;
        bool (*test)();
    } tests[] = {{"vectors", test_vectors<T>},
                 {"reductions", test_reductions<T>},
                 {"scans", test_scans<T>},
                 {"matrix_vector", test_matrix_vector<T>},
                 {"matrix_matrix", test_matrix_matrix<T>},
                 {"direct_solver", test_direct_solver<T>},
                 {"sparse", test_sparse<T>},
                 {"iterative_solvers", test_iterative_solvers<T>},
                 {"fourier", test_fourier<T>}};
    for (const auto &t : tests) {
        if (ends_well(t.test))
            std::puts("passed 1");
        else
            std::printf("failed 1: %s %s\n", precision, t.name);
        std::fflush(stdout);
    }
}

} // namespace

int main() {
    run_all<float>("float");
    run_all<double>("double");
}
