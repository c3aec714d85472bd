/* The core's file classes on the stub VFS of the ESP-IDF port. */
#include "vfs_api.h"

#include <fcntl.h>
#include <string>
#include <string.h>

extern "C" {
#include "ports/esp-idf/stubs/stub_idf.h"
}

namespace {

class StubFile : public fs::FileImpl {
public:
    explicit StubFile(int fd) : fd_(fd) {}
    ~StubFile() override { close(); }
    size_t write(const uint8_t *buf, size_t size) override
    {
        ssize_t done = stub_write(fd_, buf, size);
        return done < 0 ? 0 : (size_t)done;
    }
    size_t read(uint8_t *buf, size_t size) override
    {
        ssize_t done = stub_read(fd_, buf, size);
        return done < 0 ? 0 : (size_t)done;
    }
    size_t size() const override
    {
        struct stat st;
        return stub_fstat(fd_, &st) == 0 ? (size_t)st.st_size : 0;
    }
    void close() override
    {
        if (fd_ >= 0)
            (void)stub_close(fd_);
        fd_ = -1;
    }
    operator bool() override { return fd_ >= 0; }

private:
    int fd_;
};

std::string full(fs::FSImpl *impl, const char *path)
{
    return std::string(impl->mountpoint() != nullptr ? impl->mountpoint() : "/nowhere") + path;
}

} // namespace

fs::FileImplPtr VFSImpl::open(const char *path, const char *mode, const bool create)
{
    (void)create;
    int flags = mode[0] == 'r' ? O_RDONLY : O_WRONLY | O_CREAT | (mode[0] == 'a' ? O_APPEND : O_TRUNC);
    int fd = stub_open(full(this, path).c_str(), flags);
    return fd < 0 ? fs::FileImplPtr() : fs::FileImplPtr(new StubFile(fd));
}

bool VFSImpl::exists(const char *path)
{
    struct stat st;
    return stub_stat(full(this, path).c_str(), &st) == 0;
}

bool VFSImpl::rename(const char *pathFrom, const char *pathTo)
{
    return stub_rename(full(this, pathFrom).c_str(), full(this, pathTo).c_str()) == 0;
}

bool VFSImpl::remove(const char *path) { return stub_unlink(full(this, path).c_str()) == 0; }
bool VFSImpl::mkdir(const char *path) { return stub_mkdir(full(this, path).c_str(), 0777) == 0; }
bool VFSImpl::rmdir(const char *path) { return stub_rmdir(full(this, path).c_str()) == 0; }

namespace fs {

size_t File::write(const uint8_t *buf, size_t size) { return _p ? _p->write(buf, size) : 0; }
size_t File::read(uint8_t *buf, size_t size) { return _p ? _p->read(buf, size) : 0; }
size_t File::size() const { return _p ? _p->size() : 0; }
void File::close() { _p.reset(); }
File::operator bool() const { return _p != nullptr && static_cast<bool>(*_p); }

File FS::open(const char *path, const char *mode, const bool create) { return File(_impl->open(path, mode, create)); }
bool FS::exists(const char *path) { return _impl->exists(path); }
bool FS::remove(const char *path) { return _impl->remove(path); }
bool FS::rename(const char *pathFrom, const char *pathTo) { return _impl->rename(pathFrom, pathTo); }
bool FS::mkdir(const char *path) { return _impl->mkdir(path); }
bool FS::rmdir(const char *path) { return _impl->rmdir(path); }

} // namespace fs
