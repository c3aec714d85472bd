/* The oracle of the sweep. */
#include "model.h"

#include <string.h>

/* Names of several lengths and folders; "b/" is a prefix to delete. */
static const char *const names[MODEL_NAMES] = {
    "a", "b/1", "b/2", "b/three", "c", "d.txt", "e/f/g", "settings", "log-0001", "x", "y", "zz", "f00", "f01", "f02", "f03",
    "f04", "f05", "f06", "f07", "f08", "f09", "f10", "f11", "f12", "f13", "f14", "f15", "f16", "f17", "f18", "f19"
};

const char *model_name(uint32_t index)
{
    return names[index];
}

const uint8_t *model_data(const struct version *version)
{
    static uint8_t pool[2 * MODEL_DATA_BYTES];
    static int made;
    uint32_t i, x = 2463534242u;

    for (i = 0; !made && i < sizeof pool; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        pool[i] = (uint8_t)(x >> 11);
    }
    made = 1;
    return pool + version->number * 40503u % MODEL_DATA_BYTES;
}

struct version model_new_version(struct model *model, uint32_t size)
{
    struct version version;

    version.number = ++model->numbers;
    version.size = size < MODEL_DATA_BYTES ? size : MODEL_DATA_BYTES;
    return version;
}

struct group *model_doubt(struct model *model)
{
    struct group *group = &model->doubt[model->groups++];

    group->count = 0;
    return group;
}

void model_change(struct group *group, uint32_t name, struct version after)
{
    group->name[group->count] = (uint8_t)name;
    group->after[group->count++] = after;
}

int model_in_doubt(const struct model *model, uint32_t name)
{
    uint32_t g, i;

    for (g = 0; g < model->groups; g++)
        for (i = 0; i < model->doubt[g].count; i++)
            if (model->doubt[g].name[i] == name)
                return 1;
    return 0;
}

void model_settle_group(struct model *model, struct group *group, int done)
{
    uint32_t i;

    for (i = 0; done && i < group->count; i++)
        model->now[group->name[i]] = group->after[i];
    group->count = 0;
}

void model_settle(struct model *model, int done)
{
    uint32_t g;

    for (g = 0; g < model->groups; g++)
        model_settle_group(model, &model->doubt[g], done);
    model->groups = 0;
}

uint32_t model_bytes(const struct model *model)
{
    uint32_t i, bytes = 0;

    for (i = 0; i < model->names; i++)
        bytes += model->now[i].number != 0 ? model->now[i].size : 0;
    return bytes;
}

uint32_t model_present(const struct model *model)
{
    uint32_t i, count = 0;

    for (i = 0; i < model->names; i++)
        count += model->now[i].number != 0;
    return count;
}
