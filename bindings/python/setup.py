"""Build the package: the C library, its command, the declarations of its header, and a class for each of its methods.

The library comes from the CMake build of the project. BDML_BUILD names a build folder that is already made
and up to date; otherwise one is made below build/.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
import generate  # noqa: E402


def build_library():
    """The folder of the CMake build with library and command, made unless BDML_BUILD says where it is."""
    if "BDML_BUILD" in os.environ:
        return Path(os.environ["BDML_BUILD"])
    folder = HERE / "build" / "cmake"
    configure = ["cmake", "-S", str(ROOT), "-B", str(folder), "-DBDML_BUILD_TESTS=OFF"]
    if shutil.which("ccache"):
        configure.append("-DCMAKE_C_COMPILER_LAUNCHER=ccache")
    subprocess.run(configure, check=True)
    jobs = str(os.cpu_count() or 1)
    subprocess.run(["cmake", "--build", str(folder), "--target", "bdml_shared", "bdml", "-j", jobs], check=True)
    return folder


class Build(build_py):
    def finalize_options(self):
        super().finalize_options()
        self.force = True  # whatever an earlier build left

    def run(self):
        super().run()
        # An editable install runs from the sources: what is generated goes there (git ignores it).
        package = HERE / "src" / "bdml" if getattr(self, "editable_mode", False) else Path(self.build_lib) / "bdml"
        package.mkdir(parents=True, exist_ok=True)
        folder = build_library()
        for source, name in ((folder / "src" / "libbdml.so", "libbdml.so"), (folder / "cli" / "bdml", "bdml-command")):
            # a new file in the place of the old one, which a running program may have loaded
            shutil.copy(source, package / (name + ".new"))
            os.replace(package / (name + ".new"), package / name)
        generate.write(ROOT / "include" / "bdml" / "bdml.h", package)


class WithLibrary(Distribution):
    """A wheel of one platform."""

    def has_ext_modules(self):
        return True


try:
    from wheel.bdist_wheel import bdist_wheel

    class Wheel(bdist_wheel):
        """Any Python 3: the library is C and is not linked to Python."""

        def get_tag(self):
            return ("py3", "none", super().get_tag()[2])

    commands = {"build_py": Build, "bdist_wheel": Wheel}
except ImportError:
    commands = {"build_py": Build}

setup(version=generate.version(ROOT), cmdclass=commands, distclass=WithLibrary)
