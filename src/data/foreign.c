/* foreign.c - files of other programs that people have: told by their first bytes or their name, and answered with
 * how to make them readable. */
#include "data/data.h"

#define BYTES(text) (text), sizeof(text) - 1

/* How it becomes readable. */
#define TO_CSV            ".to_csv('data.csv', index=False)"
#define TO_ARRAYS         "numpy.savez('data.npz', X=X, y=y)"
#define BY_PANDAS(reader) "write it as CSV by pandas." reader "(FILE)" TO_CSV
#define FROM_EXCEL        "save it as CSV there, or by pandas.read_excel(FILE)" TO_CSV
#define FROM_PYTHON       "load it in Python and save " TO_ARRAYS ", or frame" TO_CSV
#define BY_H5PY           "read it in Python by h5py and save " TO_ARRAYS
#define FROM_R            "write the table in R by write.csv(x, 'data.csv', row.names = FALSE)"
#define AS_ARRAY          "save the pixels of all pictures as one array: " TO_ARRAYS

static const struct {
    const char *magic; /* the first bytes, or NULL: by its name alone */
    size_t bytes;
    const char *ending; /* of the name; NULL: by its bytes alone */
    const char *what, *how;
} foreign[] = {
    {NULL, 0, ".xlsx", "an Excel workbook", FROM_EXCEL},
    {BYTES("\xD0\xCF\x11\xE0"), ".xls", "an old Excel workbook", FROM_EXCEL},
    {NULL, 0, ".ods", "an OpenDocument table", "save it as CSV in LibreOffice"},
    {BYTES("PAR1"), ".parquet", "a Parquet file", BY_PANDAS("read_parquet")},
    {BYTES("ARROW1"), ".feather", "a Feather (Arrow) file", BY_PANDAS("read_feather")},
    {BYTES("\x80\x02"), ".pkl", "a Python pickle", FROM_PYTHON},
    {BYTES("\x80\x03"), ".pickle", "a Python pickle", FROM_PYTHON},
    {BYTES("\x80\x04"), ".joblib", "a Python pickle", FROM_PYTHON},
    {BYTES("\x80\x05"), NULL, "a Python pickle", FROM_PYTHON},
    {NULL, 0, ".h5", "an HDF5 file", BY_H5PY},
    {NULL, 0, ".hdf5", "an HDF5 file", BY_H5PY},
    {BYTES("RDX"), ".rda", "an R workspace", FROM_R},
    {NULL, 0, ".rdata", "an R workspace", FROM_R},
    {NULL, 0, ".rds", "an R object",
     "write it in R by write.csv(readRDS(FILE), 'data.csv', row.names = FALSE)"},
    {BYTES("$FL2"), ".sav", "an SPSS file", BY_PANDAS("read_spss")},
    {NULL, 0, ".dta", "a Stata file", BY_PANDAS("read_stata")},
    {NULL, 0, ".json", "JSON", BY_PANDAS("read_json")},
    {BYTES("SQLite format 3"), ".sqlite", "an SQLite data base",
     "write a table as CSV: sqlite3 -header -csv FILE 'select * from NAME' >data.csv"},
    {BYTES("\x89PNG"), ".png", "a picture", AS_ARRAY},
    {BYTES("\xFF\xD8\xFF"), ".jpg", "a picture", AS_ARRAY},
    {BYTES("%PDF"), ".pdf", "a PDF page", "its table has to be saved as CSV first"},
};

bdml_status bdml_refuse_foreign(bdml_handle *h, const char *path, const unsigned char *head,
                                size_t n)
{
    for (size_t k = 0; k < sizeof foreign / sizeof *foreign; k++) {
        bool named = foreign[k].ending && bdml_ends_in(path, foreign[k].ending);
        bool begins = foreign[k].magic && n >= foreign[k].bytes &&
                      memcmp(head, foreign[k].magic, foreign[k].bytes) == 0;
        if (named || begins)
            return bdml_fail(h, BDML_ERR_FORMAT, "%.400s: is %s, which bdml does not read; %s",
                             path, foreign[k].what, foreign[k].how);
    }
    return BDML_OK;
}
