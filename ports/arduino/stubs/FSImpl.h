/* Stub. */
#ifndef STUB_FSIMPL_H
#define STUB_FSIMPL_H

#include "FS.h"

namespace fs {

class FileImpl {
public:
    virtual ~FileImpl() {}
    virtual size_t write(const uint8_t *buf, size_t size) = 0;
    virtual size_t read(uint8_t *buf, size_t size) = 0;
    virtual size_t size() const = 0;
    virtual void close() = 0;
    virtual operator bool() = 0;
};

class FSImpl {
public:
    FSImpl() : _mountpoint(nullptr) {}
    virtual ~FSImpl() {}
    virtual FileImplPtr open(const char *path, const char *mode, const bool create) = 0;
    virtual bool exists(const char *path) = 0;
    virtual bool rename(const char *pathFrom, const char *pathTo) = 0;
    virtual bool remove(const char *path) = 0;
    virtual bool mkdir(const char *path) = 0;
    virtual bool rmdir(const char *path) = 0;
    void mountpoint(const char *mp) { _mountpoint = mp; }
    const char *mountpoint() { return _mountpoint; }

protected:
    const char *_mountpoint;
};

} // namespace fs

#endif
