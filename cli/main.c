#include "bdml/bdml.h"
#include <stdio.h>
int main(void)
{
    printf("%s\n", bdml_version());
    return 0;
}
