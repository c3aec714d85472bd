/* The physical limit: an imaginary filesystem that does nothing but what no filesystem can save.
 *
 * It pays for the payload in the calls that the workload makes (or in 4 KiB calls), for one 8-byte record per change, and
 * for one erase of a full 64 KiB block whenever another 64 KiB have been programmed; look-ups, listings and mounts are
 * free. `blank` spares the erases of the device's own size, since it starts blank.
 */
#ifndef BENCH_LIMIT_H
#define BENCH_LIMIT_H

#include "bench/adapter.h"
#include "bench/adapters/adapter_ram.h"
#include "emulator/nor.h"

struct limit {
    struct adapter_ram ram;        /* what the files hold */
    struct nor *clock;             /* virtual time is added here, at the costs of its model */
    int model;
    uint32_t chunk_bytes;          /* program call: 0 as the workload calls */
    uint32_t blank_bytes;          /* programmed without erase at first */
    uint32_t pending_bytes;        /* not yet programmed of the file being written */
    uint64_t programmed_bytes, erased_bytes;
};

extern const struct bench_fs limit_fs; /* self: struct limit */

void limit_init(struct limit *limit, struct nor *clock, uint32_t chunk_bytes, int blank);
void limit_done(struct limit *limit);

#endif
