/* Transactions: several changes of names as one. */
#ifndef FFFS_TRANSACTION_H
#define FFFS_TRANSACTION_H

#include "volume.h"

/* As the public calls of the same names; the entry has checked the volume, the handle and whether changes may be made. */
int fffs_transaction_begin(struct fffs *fs, struct fffs_txn *txn, struct fffs_change *changes, uint32_t count);
int fffs_transaction_put(struct fffs *fs, struct fffs_txn *txn, struct fffs_file *file);
int fffs_transaction_delete(struct fffs *fs, struct fffs_txn *txn, const char *name);
int fffs_transaction_rename(struct fffs *fs, struct fffs_txn *txn, const char *from, const char *to);
int fffs_transaction_commit(struct fffs *fs, struct fffs_txn *txn);
int fffs_transaction_abort(struct fffs *fs, struct fffs_txn *txn);

#endif
