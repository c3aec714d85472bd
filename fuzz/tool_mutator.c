/* The tool fuzzer's inputs are a command line of FUZZ_LINE_BYTES bytes, then an image: one of the two is changed. */
#include <string.h>
#include "fuzz.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    uint32_t random = seed | 1u;
    size_t line = size < FUZZ_LINE_BYTES ? size : (size_t)FUZZ_LINE_BYTES, now;

    if (size < FUZZ_LINE_BYTES + FUZZ_OPTION_BYTES || max_size < size || fuzz_below(&random, 2) == 0) {
        now = LLVMFuzzerMutate(data, line, line);
        memset(data + now, 0, line - now); /* the image stays where it is */
        return size;
    }
    return line + fuzz_mutate_image(data + line, size - line, max_size - line, seed);
}
