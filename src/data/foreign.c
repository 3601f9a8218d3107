/* foreign.c - files of other programs that people have: told by their first bytes or their name, and answered with
 * how to make them readable. */
#include "data/data.h"

#define BYTES(text) (text), sizeof(text) - 1

static const struct {
    const char *magic; /* the first bytes, or NULL: by its name alone */
    size_t bytes;
    const char *ending; /* of the name; NULL: by its bytes alone */
    const char *what, *how;
} foreign[] = {
    {NULL, 0, ".xlsx", "an Excel workbook",
     "save it as CSV there, or by pandas.read_excel(FILE).to_csv('data.csv', index=False)"},
    {BYTES("\xD0\xCF\x11\xE0"), ".xls", "an old Excel workbook",
     "save it as CSV there, or by pandas.read_excel(FILE).to_csv('data.csv', index=False)"},
    {NULL, 0, ".ods", "an OpenDocument table", "save it as CSV in LibreOffice"},
    {BYTES("PAR1"), ".parquet", "a Parquet file",
     "write it as CSV by pandas.read_parquet(FILE).to_csv('data.csv', index=False)"},
    {BYTES("ARROW1"), ".feather", "a Feather (Arrow) file",
     "write it as CSV by pandas.read_feather(FILE).to_csv('data.csv', index=False)"},
    {BYTES("\x80\x02"), ".pkl", "a Python pickle",
     "load it in Python and save numpy.savez('data.npz', X=X, y=y), or frame.to_csv('data.csv', "
     "index=False)"},
    {BYTES("\x80\x03"), ".pickle", "a Python pickle",
     "load it in Python and save numpy.savez('data.npz', X=X, y=y), or frame.to_csv('data.csv', "
     "index=False)"},
    {BYTES("\x80\x04"), ".joblib", "a Python pickle",
     "load it in Python and save numpy.savez('data.npz', X=X, y=y), or frame.to_csv('data.csv', "
     "index=False)"},
    {BYTES("\x80\x05"), NULL, "a Python pickle",
     "load it in Python and save numpy.savez('data.npz', X=X, y=y), or frame.to_csv('data.csv', "
     "index=False)"},
    {NULL, 0, ".h5", "an HDF5 file",
     "read it in Python by h5py and save numpy.savez('data.npz', X=X, y=y)"},
    {NULL, 0, ".hdf5", "an HDF5 file",
     "read it in Python by h5py and save numpy.savez('data.npz', X=X, y=y)"},
    {BYTES("RDX"), ".rda", "an R workspace",
     "write the table in R by write.csv(x, 'data.csv', row.names = FALSE)"},
    {NULL, 0, ".rdata", "an R workspace",
     "write the table in R by write.csv(x, 'data.csv', row.names = FALSE)"},
    {NULL, 0, ".rds", "an R object",
     "write it in R by write.csv(readRDS(FILE), 'data.csv', row.names = FALSE)"},
    {BYTES("$FL2"), ".sav", "an SPSS file",
     "write it as CSV by pandas.read_spss(FILE).to_csv('data.csv', index=False)"},
    {NULL, 0, ".dta", "a Stata file",
     "write it as CSV by pandas.read_stata(FILE).to_csv('data.csv', index=False)"},
    {NULL, 0, ".json", "JSON",
     "write it as CSV by pandas.read_json(FILE).to_csv('data.csv', index=False)"},
    {BYTES("SQLite format 3"), ".sqlite", "an SQLite data base",
     "write a table as CSV: sqlite3 -header -csv FILE 'select * from NAME' >data.csv"},
    {BYTES("\x89PNG"), ".png", "a picture",
     "save the pixels of all pictures as one array: numpy.savez('data.npz', X=X, y=y)"},
    {BYTES("\xFF\xD8\xFF"), ".jpg", "a picture",
     "save the pixels of all pictures as one array: numpy.savez('data.npz', X=X, y=y)"},
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
