/* Stub of the ESP32 core's FS.h: what the wrapper and its test use. */
#ifndef STUB_FS_H
#define STUB_FS_H

#include <memory>
#include <stddef.h>
#include <stdint.h>

namespace fs {

class FileImpl;
class FSImpl;
typedef std::shared_ptr<FileImpl> FileImplPtr;
typedef std::shared_ptr<FSImpl> FSImplPtr;

class File {
public:
    explicit File(FileImplPtr p = FileImplPtr()) : _p(p) {}
    size_t write(const uint8_t *buf, size_t size);
    size_t read(uint8_t *buf, size_t size);
    size_t size() const;
    void close();
    operator bool() const;

protected:
    FileImplPtr _p;
};

class FS {
public:
    explicit FS(FSImplPtr impl) : _impl(impl) {}
    File open(const char *path, const char *mode = "r", const bool create = false);
    bool exists(const char *path);
    bool remove(const char *path);
    bool rename(const char *pathFrom, const char *pathTo);
    bool mkdir(const char *path);
    bool rmdir(const char *path);

protected:
    FSImplPtr _impl;
};

} // namespace fs

using fs::File;

#endif
