#include "subject_fastffs.h"

void app_main(void)
{
    subject_fastffs_run("default", &adapter_fastffs_default);
}
