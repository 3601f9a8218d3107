/* placement.h - where data lie so badly that the digits of doubles do not suffice, and what would help. */
#ifndef BDML_PLACEMENT_H
#define BDML_PLACEMENT_H

#include "data/data.h"

enum { BDML_PLACEMENT_SIZE = 200 };

/* A sentence: the row that lies far away from all others, or columns of very different spread; "" when nothing
 * strikes. */
bdml_status bdml_placement_help(bdml_handle *h, const bdml_dataset *data,
                                char text[BDML_PLACEMENT_SIZE]);

#endif
