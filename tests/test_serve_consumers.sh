#!/bin/sh
# Exported models as the programs that serve vectors read them: Faiss, ONNX, PyTorch. Skipped with a word, one by one,
# where Python lacks them.
python=${BDML_PYTHON:-/usr/bin/python3}
if ! "$python" -c 'import numpy' 2>/dev/null; then
    echo "skipped: no numpy for $python"
    echo "cases: 0 passed, 0 failed"
    exit 0
fi
exec "$python" "$BDML_SOURCE/tests/serve_consumers.py" "$BDML_COMMAND" "$BDML_SOURCE/data/wine.csv"
