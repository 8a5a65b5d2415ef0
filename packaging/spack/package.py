# Spack recipe. Copy this folder to <repository>/packages/fabricmark/ and let `git` name your clone.
# Not tried yet: written after Spack's packaging guide.
from spack.package import *


class Fabricmark(CMakePackage):
    """Measures, models and predicts single- and multi-FPGA systems and the accelerators beside them."""

    git = "file:///path/to/your/clone/of/fabricmark"

    license("Apache-2.0")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("mpi", default=True, description="Ranks that are MPI processes")
    variant("pocl", default=False, description="Bring PoCL, to run on a CPU")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("opencl-c-headers")
    depends_on("opencl-clhpp")
    depends_on("opencl-icd-loader")
    depends_on("pocl", when="+pocl", type="run")
    depends_on("mpi", when="+mpi")
    depends_on("cli11")
    depends_on("nlohmann-json")
    depends_on("fmt")
    depends_on("tomlplusplus")
    depends_on("muparser")
    depends_on("xxhash")
    depends_on("hwloc")
    depends_on("metis@5.1:")
    depends_on("fftw precision=float,double")
    depends_on("openblas")

    # pip installs the packages of the command (requirements.txt) below the prefix, from the network: not all
    # of them have a recipe.
    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-pip", type="build")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define_from_variant("FABRICMARK_MPI", "mpi"),
            self.define("FABRICMARK_TESTS", False),
            self.define("FABRICMARK_PYTHON", self.spec["python"].command.path),
        ]
