#ifndef PORT_H
#define PORT_H

#include "fastffs/fffs_flash.h"

extern const struct fffs_flash port_flash;

#endif
