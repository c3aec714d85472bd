// The library from C++: flags and enumerators combine without casts, errors compare, the objects are members of a class.
#include <cstring>

#include "fastffs/fastffs.h"
#include "fastffs/fffs_inspect.h"

namespace {

class RamFlash {
public:
    RamFlash() : flash_()
    {
        std::memset(bytes_, 0xFF, sizeof bytes_);
        flash_.read = read;
        flash_.program = program;
        flash_.erase = erase;
        flash_.context = this;
        flash_.size_bytes = sizeof bytes_;
        flash_.granule_bytes = 1;
        flash_.erase_bytes[0] = 256;
    }
    const fffs_flash *flash() const { return &flash_; }

private:
    static int read(void *self, uint32_t address, void *buffer, uint32_t bytes)
    {
        std::memcpy(buffer, static_cast<RamFlash *>(self)->bytes_ + address, bytes);
        return FFFS_FLASH_OK;
    }
    static int program(void *self, uint32_t address, const void *data, uint32_t bytes)
    {
        uint8_t *to = static_cast<RamFlash *>(self)->bytes_ + address;
        const uint8_t *from = static_cast<const uint8_t *>(data);
        for (uint32_t i = 0; i < bytes; i++)
            to[i] = static_cast<uint8_t>(to[i] & from[i]);
        return FFFS_FLASH_OK;
    }
    static int erase(void *self, uint32_t address, uint32_t bytes)
    {
        std::memset(static_cast<RamFlash *>(self)->bytes_ + address, 0xFF, bytes);
        return FFFS_FLASH_OK;
    }

    uint8_t bytes_[16384];
    fffs_flash flash_;
};

class Volume {
public:
    explicit Volume(const fffs_flash *flash) : fs_(), file_(), config_(), scratch_(), segments_(), buffer_()
    {
        config_.flash = flash;
        config_.scratch = scratch_;
        config_.scratch_bytes = sizeof scratch_;
        config_.segment_table = segments_;
        config_.segment_table_entries = sizeof segments_ / sizeof segments_[0];
        config_.flags = FFFS_MOUNT_VERIFY | FFFS_MOUNT_LAZY_WEIGHTS;
    }
    int start()
    {
        int status = fffs_mount(&fs_, &config_);
        if (status != FFFS_ERR_BLANK)
            return status;
        status = fffs_format(&fs_, &config_, nullptr);
        return status == FFFS_OK ? fffs_mount(&fs_, &config_) : status;
    }
    int put(const char *name, const char *text)
    {
        const uint32_t length = static_cast<uint32_t>(std::strlen(text));
        int status = fffs_open(&fs_, &file_, name, FFFS_WRITE | FFFS_CREATE | FFFS_TRUNCATE, buffer_, sizeof buffer_);
        if (status != FFFS_OK)
            return status;
        if (fffs_write(&fs_, &file_, text, length) != static_cast<int32_t>(length))
            return FFFS_ERR_IO;
        return fffs_close(&fs_, &file_);
    }
    bool holds(const char *name, const char *text)
    {
        char found[32] = {};
        if (fffs_open(&fs_, &file_, name, FFFS_READ, buffer_, sizeof buffer_) != FFFS_OK)
            return false;
        const int32_t count = fffs_read(&fs_, &file_, found, sizeof found - 1);
        return fffs_close(&fs_, &file_) == FFFS_OK && count >= 0 && std::strcmp(found, text) == 0;
    }
    int stop() { return fffs_unmount(&fs_); }

private:
    fffs fs_;
    fffs_file file_;
    fffs_config config_;
    uint32_t scratch_[64];
    uint16_t segments_[FFFS_SEGMENTS_MAX(16384, 256)];
    uint8_t buffer_[32];
};

} // namespace

int main()
{
    static RamFlash flash;
    Volume first(flash.flash()), again(flash.flash());

    if (first.start() != FFFS_OK || first.put("a", "one") != FFFS_OK || !first.holds("a", "one") || first.stop() != FFFS_OK)
        return 1;
    return again.start() == FFFS_OK && again.holds("a", "one") && !again.holds("b", "") && again.stop() == FFFS_OK ? 0 : 2;
}
