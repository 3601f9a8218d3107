// neighbors_faiss.cpp - a contestant of the neighbour benchmark: Faiss IndexFlatL2, float32.
//
//   bench_faiss DATA N D K THREADS: DATA holds N*D doubles. For every line on standard input, search
//   all points for their K nearest and answer the seconds it took (building the index included).
#include <cblas.h>
#include <faiss/IndexFlat.h>
#include <omp.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char **argv)
{
    if (argc != 6) return 2;
    const size_t n = std::strtoul(argv[2], nullptr, 10), d = std::strtoul(argv[3], nullptr, 10);
    const size_t k = std::strtoul(argv[4], nullptr, 10);
    const int threads = std::atoi(argv[5]);
    std::vector<double> x(n * d);
    FILE *f = std::fopen(argv[1], "rb");
    if (!f || std::fread(x.data(), sizeof(double), n * d, f) != n * d) return 1;
    std::fclose(f);
    const std::vector<float> y(x.begin(), x.end());
    std::vector<float> distance(n * k);
    std::vector<faiss::Index::idx_t> index(n * k);
    omp_set_num_threads(threads);
    openblas_set_num_threads(threads);

    for (char line[64]; std::fgets(line, sizeof line, stdin);) {
        const auto start = std::chrono::steady_clock::now();
        faiss::IndexFlatL2 flat(static_cast<faiss::Index::idx_t>(d));
        flat.add(static_cast<faiss::Index::idx_t>(n), y.data());
        flat.search(static_cast<faiss::Index::idx_t>(n), y.data(),
                    static_cast<faiss::Index::idx_t>(k), distance.data(), index.data());
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        std::printf("%.6f\n", took.count());
        std::fflush(stdout);
    }
}
