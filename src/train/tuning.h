/* tuning.h - what the setting tune tries. Private to train. */
#ifndef BDML_TUNING_H
#define BDML_TUNING_H

#include "base/base.h"

enum { BDML_TUNING_VALUES = 4 };

typedef struct bdml_tuning {
    const char *method;
    bdml_opt option;
    int count;
    double value[BDML_TUNING_VALUES];
} bdml_tuning;

/* Of that method; NULL: it has none. */
const bdml_tuning *bdml_tuning_for(const char *method);
/* The same, and NULL where these settings do not ask for it: the parameter is given, or tune is off. */
const bdml_tuning *bdml_tuning_asked(const bdml_options *o, const char *method);

#endif
