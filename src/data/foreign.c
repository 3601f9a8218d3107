/* foreign.c - files of other programs that people have: told by their first bytes or their name, and answered with
 * how to make them readable. */
#include "data/data.h"

#include <strings.h>

#define BYTES(text) (text), sizeof(text) - 1

#define UNREAD(what) what ", which bdml does not read"

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
    {BYTES("BDMLFILE"), NULL, "a model of bdml, where data are wanted",
     "bdml info FILE looks at it, bdml predict FILE DATA applies it, bdml neighbors takes it as "
     "--model FILE"},
    {NULL, 0, ".xlsx", UNREAD("an Excel workbook"), FROM_EXCEL},
    {BYTES("\xD0\xCF\x11\xE0"), ".xls", UNREAD("an old Excel workbook"), FROM_EXCEL},
    {NULL, 0, ".ods", UNREAD("an OpenDocument table"), "save it as CSV in LibreOffice"},
    {BYTES("PAR1"), ".parquet", UNREAD("a Parquet file"), BY_PANDAS("read_parquet")},
    {BYTES("ARROW1"), ".feather", UNREAD("a Feather (Arrow) file"), BY_PANDAS("read_feather")},
    {BYTES("\x80\x02"), ".pkl", UNREAD("a Python pickle"), FROM_PYTHON},
    {BYTES("\x80\x03"), ".pickle", UNREAD("a Python pickle"), FROM_PYTHON},
    {BYTES("\x80\x04"), ".joblib", UNREAD("a Python pickle"), FROM_PYTHON},
    {BYTES("\x80\x05"), NULL, UNREAD("a Python pickle"), FROM_PYTHON},
    {NULL, 0, ".h5", UNREAD("an HDF5 file"), BY_H5PY},
    {NULL, 0, ".hdf5", UNREAD("an HDF5 file"), BY_H5PY},
    {BYTES("RDX"), ".rda", UNREAD("an R workspace"), FROM_R},
    {NULL, 0, ".rdata", UNREAD("an R workspace"), FROM_R},
    {NULL, 0, ".rds", UNREAD("an R object"),
     "write it in R by write.csv(readRDS(FILE), 'data.csv', row.names = FALSE)"},
    {BYTES("$FL2"), ".sav", UNREAD("an SPSS file"), BY_PANDAS("read_spss")},
    {NULL, 0, ".dta", UNREAD("a Stata file"), BY_PANDAS("read_stata")},
    {NULL, 0, ".json", UNREAD("JSON"), BY_PANDAS("read_json")},
    {BYTES("SQLite format 3"), ".sqlite", UNREAD("an SQLite data base"),
     "write a table as CSV: sqlite3 -header -csv FILE 'select * from NAME' >data.csv"},
    {BYTES("\x89PNG"), ".png", UNREAD("a picture"), AS_ARRAY},
    {BYTES("\xFF\xD8\xFF"), ".jpg", UNREAD("a picture"), AS_ARRAY},
    {BYTES("%PDF"), ".pdf", UNREAD("a PDF page"), "its table has to be saved as CSV first"},
};

/* <!DOCTYPE html or <html in capitals or not, behind blanks: often an error page saved under the name of the data. */
static bool is_web_page(const unsigned char *head, size_t n)
{
    static const char *const begin[] = {"<!doctype html", "<html"};
    size_t at = n >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (at < n && strchr(" \t\r\n", head[at]) && head[at]) at++;
    for (size_t k = 0; k < sizeof begin / sizeof *begin; k++)
        if (n - at >= strlen(begin[k]) &&
            strncasecmp((const char *)head + at, begin[k], strlen(begin[k])) == 0)
            return true;
    return false;
}

bdml_status bdml_refuse_foreign(bdml_handle *h, const char *path, const unsigned char *head,
                                size_t n)
{
    for (size_t k = 0; k < sizeof foreign / sizeof *foreign; k++) {
        bool named = foreign[k].ending && bdml_ends_in(path, foreign[k].ending);
        bool begins = foreign[k].magic && n >= foreign[k].bytes &&
                      memcmp(head, foreign[k].magic, foreign[k].bytes) == 0;
        if (named || begins)
            return bdml_fail(h, BDML_ERR_FORMAT, "%.400s: is %s; %s", path, foreign[k].what,
                             foreign[k].how);
    }
    if (is_web_page(head, n))
        return bdml_fail(
            h, BDML_ERR_FORMAT,
            "%.400s: is a web page (HTML), which bdml does not read; was an error or a "
            "log-in page saved in place of the data? Download the file itself, or "
            "write a table of the page by "
            "pandas.read_html(FILE)[0]" TO_CSV,
            path);
    return BDML_OK;
}
