/* See FASTFFS.h. All file calls go through the virtual filesystem of ESP-IDF (VFSImpl of the core). */
#include "FASTFFS.h"

#include <string.h>

#include "esp_fastffs.h"
#include "vfs_api.h"

using namespace fs;

FASTFFSFS::FASTFFSFS() : FS(FSImplPtr(new VFSImpl())), label_{0}, formatted_(false), status_(FFFS_ERR_NOT_MOUNTED) {}

FASTFFSFS::~FASTFFSFS()
{
    (void)end();
}

bool FASTFFSFS::begin(bool formatOnFail, const char *basePath, uint8_t maxOpenFiles, const char *partitionLabel,
                      bool formatForeign)
{
    if (partitionLabel == nullptr || strlen(partitionLabel) >= sizeof label_)
        return false;
    if (esp_fastffs_mounted(partitionLabel))
        return strcmp(label_, partitionLabel) == 0; /* mounted by this object, or by somebody else */
    if (label_[0] != '\0')
        return false; /* another partition is mounted here */
    esp_vfs_fastffs_conf_t conf = {};
    conf.base_path = basePath;
    conf.partition_label = partitionLabel;
    conf.max_files = maxOpenFiles;
    conf.format_if_mount_failed = formatOnFail;
    conf.format_if_foreign = formatForeign;
    conf.formatted = &formatted_;
    conf.mount_status = &status_;
    if (esp_vfs_fastffs_register(&conf) != ESP_OK)
        return false;
    strcpy(label_, partitionLabel);
    _impl->mountpoint(basePath);
    return true;
}

bool FASTFFSFS::end()
{
    if (label_[0] == '\0')
        return true;
    if (esp_vfs_fastffs_unregister(label_) == ESP_ERR_INVALID_STATE)
        return false;
    label_[0] = '\0';
    status_ = FFFS_ERR_NOT_MOUNTED;
    _impl->mountpoint(nullptr);
    return true;
}

bool FASTFFSFS::format()
{
    return label_[0] != '\0' && esp_fastffs_format(label_) == ESP_OK;
}

bool FASTFFSFS::gc()
{
    return label_[0] != '\0' && esp_fastffs_gc(label_) == ESP_OK;
}

size_t FASTFFSFS::totalBytes()
{
    size_t total = 0;
    return label_[0] != '\0' && esp_fastffs_info(label_, &total, nullptr) == ESP_OK ? total : 0;
}

size_t FASTFFSFS::usedBytes()
{
    size_t used = 0;
    return label_[0] != '\0' && esp_fastffs_info(label_, nullptr, &used) == ESP_OK ? used : 0;
}

FASTFFSFS FASTFFS;
