#include "subject_fastffs.h"

void app_main(void)
{
    subject_fastffs_run("minimal", &adapter_fastffs_minimal);
}
