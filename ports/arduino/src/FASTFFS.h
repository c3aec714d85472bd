/* FASTFFS for the Arduino core of the ESP32, in the shape of its LittleFS and SPIFFS libraries.
 *
 *     #include <FASTFFS.h>
 *     FASTFFS.begin(true);
 *     File file = FASTFFS.open("/config.json", "w");
 */
#ifndef FASTFFS_ARDUINO_H
#define FASTFFS_ARDUINO_H

#include "FS.h"

namespace fs {

class FASTFFSFS : public FS {
public:
    FASTFFSFS();
    ~FASTFFSFS();
    /* Mounts. formatOnFail formats a partition that is erased (or whose first format was cut short); formatForeign also one
     * that holds something else, such as an older SPIFFS. A damaged volume is never formatted. True also when it is mounted
     * already: nothing happens then, open files go on. */
    bool begin(bool formatOnFail = false, const char *basePath = "/fastffs", uint8_t maxOpenFiles = 10,
               const char *partitionLabel = "spiffs", bool formatForeign = false);
    /* Deletes everything; false when files are open. */
    bool format();
    size_t totalBytes();
    size_t usedBytes();
    /* False when files are open: the volume then stays mounted. */
    bool end();
    /* Collects garbage until nothing is left to do: in idle time it makes later writes shorter. */
    bool gc();
    /* Whether the last begin() has formatted, and the enum fffs_status of its mount. */
    bool formatted() const { return formatted_; }
    int status() const { return status_; }

private:
    char label_[17];
    bool formatted_;
    int status_;
};

} // namespace fs

extern fs::FASTFFSFS FASTFFS;

#endif
