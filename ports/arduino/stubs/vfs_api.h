/* Stub. */
#ifndef STUB_VFS_API_H
#define STUB_VFS_API_H

#include "FSImpl.h"

class VFSImpl : public fs::FSImpl {
public:
    fs::FileImplPtr open(const char *path, const char *mode, const bool create) override;
    bool exists(const char *path) override;
    bool rename(const char *pathFrom, const char *pathTo) override;
    bool remove(const char *path) override;
    bool mkdir(const char *path) override;
    bool rmdir(const char *path) override;
};

#endif
