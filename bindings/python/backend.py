"""Build backend: setuptools in this folder, whether pip was started here or in the root of the project."""

import os

os.chdir(os.path.dirname(os.path.abspath(__file__)))
from setuptools.build_meta import *  # noqa: E402,F401,F403
