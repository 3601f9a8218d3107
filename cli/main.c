/* main.c - the command bdml, in one process. */
#include "cli.h"

int main(int argc, char **argv)
{
    cli_settle(argv);
    return cli_main(argc, argv, NULL);
}
