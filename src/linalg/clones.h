/* clones.h - one loop, several vector units: chosen when the program starts. */
#ifndef BDML_CLONES_H
#define BDML_CLONES_H

/* Compile a loop for the vector units of newer processors too, chosen when the program starts: the
 * loops over pairs run 1.4 times faster with AVX2 than with SSE2. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) /* what chooses would run before the sanitizer is ready */
#define BDML_NO_CLONES
#endif
#endif
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__) && !defined(BDML_NO_CLONES) &&                       \
    (!defined(__clang__) || __clang_major__ >= 14)
#define BDML_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define BDML_CLONES
#endif

#endif
