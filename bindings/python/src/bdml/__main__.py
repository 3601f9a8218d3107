"""`python -m bdml ...`: the command that the package carries."""

import os
import sys

from ._report import COMMAND

os.execv(COMMAND, ["bdml", *sys.argv[1:]])
