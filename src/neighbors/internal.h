/* internal.h - shared by the files of this folder only. */
#ifndef BDML_NEIGHBORS_INTERNAL_H
#define BDML_NEIGHBORS_INTERNAL_H

#include "linalg/linalg.h"
#include "neighbors/neighbors.h"

/* ---- rows in search order (rows.c) ------------------------------------------------------------ */

/* The rows of one side. Where classes matter, rows are ordered by class, so that the rows a query
 * may be matched with are a range (same class) or all but a range (other classes) of positions. */
typedef struct bdml_knn_rows {
    int64_t n;
    const double *x;
    int64_t ld;
    int32_t *order;     /* position -> row; NULL: the same */
    int32_t *from, *to; /* position -> range of reference positions of its class; NULL: any class */
} bdml_knn_rows;

static inline int32_t bdml_knn_row(const bdml_knn_rows *r, int64_t position)
{
    return r->order ? r->order[position] : (int32_t)position;
}
static inline const double *bdml_knn_point(const bdml_knn_rows *r, int64_t position)
{
    return r->x + (size_t)bdml_knn_row(r, position) * (size_t)r->ld;
}

/* from, to of the queries r, whose classes are query_label. */
bdml_status bdml_knn_find_ranges(bdml_handle *h, const int32_t *query_label, const int32_t *label,
                                 const bdml_knn_rows *reference, bdml_knn_rows *r);
/* order of r: by class, then by row number. */
bdml_status bdml_knn_order(bdml_handle *h, const int32_t *label, bdml_knn_rows *r);
/* BDML_ERR_ARGUMENT or BDML_ERR_DATA unless these can be searched; what: "reference", "query". */
bdml_status bdml_knn_check_rows(bdml_handle *h, const char *what, const bdml_rows *r);

/* ---- the index (index.c) ------------------------------------------------------------------------ */

typedef struct bdml_knn_kernel bdml_knn_kernel;
typedef struct bdml_knn_tree bdml_knn_tree;
typedef struct bdml_knn_lists bdml_knn_lists;

/* The reference rows as products need them: y = s (x - c), see below. Made for the widest queries so far. */
typedef struct bdml_knn_frame {
    double *center;                /* d */
    double spread;                 /* largest |x_j - c_j| of the reference rows */
    double scale;                  /* s */
    double e, tiny;                /* of the error bounds */
    const bdml_knn_kernel *kernel; /* NULL: not made yet */
    void *low, *wide;              /* by position, of the kernel's real type */
    void *pack;                    /* y of all rows; NULL where memory forbids */
} bdml_knn_frame;

struct bdml_index {
    bdml_neighbor_options o;
    bdml_rows rows;          /* as given */
    bdml_knn_rows reference; /* ordered by class where there are classes */
    bdml_knn_frame frame;
    bdml_knn_tree *tree, *forest; /* of all rows, of each class: NULL until first asked for */
    bdml_knn_lists *lists;        /* likewise */
};

/* One search: the index, query rows (its own when `self`), what is asked. */
typedef struct bdml_knn_task {
    bdml_handle *h;
    bdml_index *in;
    int d, k;
    bool self; /* queries are the reference rows, each without itself */
    bdml_restrict which;
    const int32_t *label, *query_label; /* by row number */
    bdml_knn_rows reference, query;
    const int32_t *guess; /* k rows each, by query row number, or NULL */
    /* squared distance beyond which nothing need be found, by query row number, or NULL */
    const double *within;
    int32_t *index;   /* out, by query row number */
    double *distance; /* out, or NULL */
} bdml_knn_task;

/* ---- progress from inside a parallel region (search.c) ------------------------------------------ */

typedef struct bdml_knn_progress {
    bdml_handle *h;
    int64_t done, total;
    bdml_status status; /* to be looked at after the region */
    int stop;
} bdml_knn_progress;

/* One more step is done; true when the work is to stop. */
bool bdml_knn_step(bdml_knn_progress *p, int thread);

/* ---- exact distances and selection (select.c) --------------------------------------------------- */

typedef struct bdml_knn_pair {
    double distance;
    int32_t index; /* row number: breaks ties */
    int32_t slot;  /* the caller's */
} bdml_knn_pair;

/* a before b: nearer, or as near with the lower index. */
static inline bool bdml_knn_before(bdml_knn_pair a, bdml_knn_pair b)
{
    return a.distance < b.distance || (a.distance == b.distance && a.index < b.index);
}

/* sum (a_j - b_j)^2, j ascending, rounded after every operation: the definition of a distance. */
double bdml_knn_distance(int d, const double *a, const double *b);
/* The same for four points at once, to the bit. */
void bdml_knn_distance4(int d, const double *a, const double *const b[4], double out[4]);

/* k-th smallest of a[0..n), which is reordered (kernel_double.c). */
double bdml_knn_nth(double *a, int n, int k);
/* Move the k first in order to the front (not sorted among themselves); k <= count. */
void bdml_knn_select(bdml_knn_pair *pair, int64_t count, int64_t k);
void bdml_knn_sort(bdml_knn_pair *pair, int64_t count);
/* Max-heap of the best pairs so far: replace its top, the worst of k, by p. */
void bdml_knn_heap_replace(bdml_knn_pair *heap, int64_t k, bdml_knn_pair p);
/* Sorted pairs to row `row` of the output, padded with -1 and infinity. */
void bdml_knn_emit(const bdml_knn_task *t, int64_t row, const bdml_knn_pair *pair, int64_t count);

/* ---- brute force by matrix products (brute.c, kernel_*.c) ---------------------------------------- */

/* A distance is bracketed without computing it. With y = s (x - c), c near the middle of the data
 * and s a power of two, in the arithmetic of the kernel (unit roundoff u),
 *
 *     low(a,b) = |y_a|^2 + |y_b|^2 - 2 y_a.y_b - E,     E = 2 e (|y_a|^2 + |y_b|^2) + 2 tiny
 *     low(a,b)  <=  s^2 distance(a,b)  <=  low(a,b) + 2 E
 *
 * where `distance` is the rounded sum of bdml_knn_distance and e = 1.01 (d + 16) (u + 2^-53):
 *   - rounding y moves |y_a - y_b|^2 by at most 4u (|y_a|+|y_b|)^2 <= 8u N, N = |y_a|^2 + |y_b|^2;
 *   - a dot product in any order is off by d u |y_a||y_b|, the squared norms by d u of themselves:
 *     together 2 d u N at most; storing and adding them up, and the comparisons: 13 u N at most;
 *   - the plain loop is off by (d + 2) 2^-53 of the distance, which is at most 2 N;
 *   - 1.01 covers products of roundoffs, as d u < 0.005 is required; tiny covers underflow.
 * E splits into a part of a and a part of b, so each row carries `low` = |y|^2 (1 - 2e) - tiny and
 * `wide` = 4 e |y|^2 + 2 tiny, and a query compares
 *
 *     v = low_b - 2 y_a.y_b   with   limit_a >= k-th smallest of (v + wide_a + wide_b) so far.
 *
 * v > limit_a proves that b is not among the k nearest. What is left is ranked by `distance`. */
typedef struct bdml_knn_brute {
    bdml_knn_task *t;
    const bdml_knn_frame *frame;
    bool both; /* a tile of products serves its rows and its columns: queries = reference rows */
    int threads;
    bool wide; /* the processor has what BDML_KNN_WIDE functions need */

    /* Sizes that keep the working memory in its bound. */
    int block;                /* rows of a tile */
    bool whole;               /* the index keeps all reference rows packed */
    int64_t chunk_q, chunk_r; /* rows packed at once */
    int capacity;             /* candidates a query can hold */

    /* Of the kernel's real type. */
    void *low_r, *wide_r, *low_q, *wide_q; /* by position; _q are _r when self */
    void *pack_q, *pack_r;                 /* chunks of y; the index's own when it holds all */

    /* Candidates of queries first .. first + held - 1. */
    int64_t first, held;
    int32_t *count;
    void *limit;
    void *value;   /* held * capacity: v */
    int32_t *slot; /* held * capacity: reference position */

    /* Per thread. */
    void *tile;          /* block * block */
    void *high;          /* capacity: v + wide_a + wide_b */
    bdml_knn_pair *pair; /* capacity */
} bdml_knn_brute;

/* Functions compiled for AVX2, called only where the processor has it. The sums and comparisons in
 * them give the same bits. */
#if defined(__x86_64__) && defined(__GNUC__)
#define BDML_KNN_WIDE       __attribute__((target("avx2")))
#define BDML_KNN_HAS_WIDE() (__builtin_cpu_supports("avx2") != 0)
#else
#define BDML_KNN_WIDE
#define BDML_KNN_HAS_WIDE() false
#endif

/* What depends on the real type; one instance for double, one for float. */
struct bdml_knn_kernel {
    size_t size;
    double roundoff, underflow; /* u; smallest positive number */
    /* low and wide of position i. */
    void (*measure)(const bdml_knn_frame *f, void *low, void *wide, int64_t i, double norm2);
    /* y of positions first .. first + count - 1 into pack. */
    void (*pack)(const bdml_knn_frame *f, int d, const bdml_knn_rows *rows, int64_t first,
                 int64_t count, void *pack, int64_t at);
    /* tile (nr x nq) = -2 Y_r' Y_q; row offsets are those inside the packs. */
    void (*product)(const bdml_knn_brute *b, const void *pack_q, int64_t q, int nq,
                    const void *pack_r, int64_t r, int nr, int thread);
    /* Offer the tile's distances to the candidates: positions q.., r.. */
    void (*scan)(bdml_knn_brute *b, int64_t q, int nq, int64_t r, int nr, int thread);
    void (*reset)(bdml_knn_brute *b);
    /* Lower the limit of query position q to the farthest of the rows guessed, or to what is told. */
    void (*start_from)(bdml_knn_brute *b, int64_t q);
    /* Rank the candidates of query position q and write its output row. */
    void (*finish)(bdml_knn_brute *b, int64_t q, int thread);
};

extern const bdml_knn_kernel bdml_knn_kernel_double, bdml_knn_kernel_float;

/* The center and spread of the reference rows of an index (frame.c). */
bdml_status bdml_knn_frame_start(bdml_handle *h, bdml_index *in);
void bdml_knn_frame_free(bdml_knn_frame *f);
/* A frame in which the queries of the task fit too. *usable false: products cannot serve. */
bdml_status bdml_knn_frame_fit(bdml_knn_task *t, int threads, bool *usable);
/* low and wide of rows. */
void bdml_knn_frame_measure(const bdml_knn_frame *f, int d, int threads, const bdml_knn_rows *r,
                            void *low, void *wide);

/* As bdml_knn_search for given queries; rows farther from a query than `within` says may be left out (search.c). */
bdml_status bdml_knn_search_within(bdml_handle *h, const bdml_neighbor_options *o,
                                   const bdml_rows *rows, const bdml_rows *queries,
                                   bdml_restrict which, int k, const double *within, int32_t *index,
                                   double *distance);

/* *usable false: the range of the numbers is beyond what products can bracket; nothing was done. */
bdml_status bdml_knn_brute_search(bdml_knn_task *t, bool *usable);

/* ---- lists of rows, approximate (lists.c) -------------------------------------------------------- */

/* Is an approximate search asked for, and cheaper than an exact one for so many queries? */
bool bdml_knn_lists_pay(const bdml_index *in, int64_t queries);
/* As bdml_index_query, but that a neighbour may be missed. */
bdml_status bdml_knn_lists_search(bdml_handle *h, bdml_index *in, const bdml_rows *queries,
                                  bdml_restrict which, int k, int32_t *index, double *distance);
void bdml_knn_lists_free(bdml_knn_lists *lists);

/* ---- tree (tree.c) ---------------------------------------------------------------------------------- */

bdml_status bdml_knn_tree_search(bdml_knn_task *t);
void bdml_knn_tree_free(bdml_knn_tree *s);
/* Whether the settings and the shape of the reference rows call for the tree. */
bool bdml_knn_tree_pays(const bdml_index *in);

#endif
