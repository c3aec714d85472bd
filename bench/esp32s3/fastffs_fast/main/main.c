#include "subject_fastffs.h"

void app_main(void)
{
    subject_fastffs_run("fast", &adapter_fastffs_fast);
}
