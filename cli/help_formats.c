/* help_formats.c - bdml help formats: which files are read, how their columns are found, and what to do when the
 * guess is wrong. */
#include "cli.h"

static const char *const formats[][2] = {
    {"CSV, TSV", "text, one point a line; separator, header and label are found"},
    {"svmlight", "lines 'label index:value ...' (libsvm)"},
    {"NPZ, MAT", "arrays of numpy.savez or MATLAB (to v7.2): X and y, data, target"},
    {"NPY, IDX", "one array; labels beside it, or with --labels-file"},
    {"ARFF", "Weka"},
    {NULL, NULL},
};

static const char *const cases[][2] = {
    {"the label is not the last column", "--label NAME, or its number: --label 1"},
    {"there is no label", "--label none"},
    {"labels stand in a file of their own", "--labels-file FILE"},
    {"a column numbers the rows", "is left out; --index-column NAME, none"},
    {"columns that should not count", "--drop id,name,7-9"},
    {"only some columns should count", "--columns a,b,4-8"},
    {"columns of words", "--encode onehot (0/1 columns), or --drop"},
    {"dates and times", "--drop them, or write them as numbers"},
    {"true and false", "are read as 1 and 0"},
    {"decimal commas", "--decimal ,"},
    {"an unusual separator", "--separator '|', tab, blank"},
    {"no header, or an odd one", "--header no, --header yes"},
    {"missing values (empty, ?, NA, NaN)", "--missing mean, or --missing drop"},
    {"several arrays in an NPZ or MAT file", "--variable X --label-variable y"},
    {"Excel, Parquet, pickle, HDF5, ...", "bdml says how to convert them"},
    {NULL, NULL},
};

void cli_help_formats(FILE *f)
{
    cli_wrap(
        f,
        "Data are points, one a row, with a column (or an array) that says the class of each. The "
        "format "
        "is told by the content, then by the name; --format says it. Files may be gzipped; '-' is "
        "standard input.",
        0, 0);
    fputc('\n', f);
    for (int i = 0; formats[i][0]; i++) fprintf(f, "  %-12s%s\n", formats[i][0], formats[i][1]);
    fputs("\nThe label is the column called class, label, target or y, else the last one.\n"
          "'bdml info FILE' shows what was found before anything is trained.\n\n",
          f);
    cli_bold(f, "When the guess is wrong");
    fputc('\n', f);
    for (int i = 0; cases[i][0]; i++) fprintf(f, "  %-37s%s\n", cases[i][0], cases[i][1]);
    fputs("\nA model remembers all this: predict, transform and certify need no options.\n", f);
}
