// Counts boots in a file. The partition scheme needs a data partition "spiffs", as the default ones have.
#include <FASTFFS.h>

void setup()
{
    Serial.begin(115200);
    if (!FASTFFS.begin(true)) {
        Serial.printf("not mounted: status %d\n", FASTFFS.status());
        return;
    }
    int boots = 0;
    File file = FASTFFS.open("/boots", "r");
    if (file) {
        boots = file.parseInt();
        file.close();
    }
    file = FASTFFS.open("/boots", "w");
    file.print(boots + 1);
    file.close(); // the commit: from here on the new number is there, whatever power does
    Serial.printf("boot number %d, %u of %u bytes used\n", boots + 1, (unsigned)FASTFFS.usedBytes(),
                  (unsigned)FASTFFS.totalBytes());
}

void loop() {}
