# Spack recipe. Copy this folder to <repository>/packages/fabricmark/ and let `git` name your clone.
# Never run by Spack itself: a test compares its dependencies with those of set-up and runs it on a stand-in.
from spack.package import *


class Fabricmark(CMakePackage):
    """Measures, models and predicts single- and multi-FPGA systems and the accelerators beside them."""

    git = "file:///path/to/your/clone/of/fabricmark"

    license("Apache-2.0")

    version("main", branch="main")

    variant("mpi", default=True, description="Ranks that are MPI processes")
    variant("pocl", default=False, description="Bring PoCL, to run on a CPU")

    # What `tools/packages.toml` names for Debian.
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("opencl-c-headers")
    depends_on("opencl-clhpp")
    depends_on("opencl-icd-loader")
    depends_on("mpi", when="+mpi")
    depends_on("cli11")
    depends_on("nlohmann-json")
    depends_on("fmt")
    depends_on("boost+context")
    depends_on("tomlplusplus")
    depends_on("muparser")
    depends_on("xxhash")
    depends_on("hwloc")
    depends_on("metis@5.1:")
    depends_on("fftw precision=float,double")
    depends_on("openblas")
    depends_on("python@3.11:", type=("build", "run"))
    # Only here.
    depends_on("pocl", when="+pocl", type="run")

    generator("ninja")

    @property
    def packages(self):
        """An environment with what the command imports (requirements.txt), which `install` copies below the
        prefix: not all of it has a recipe. It comes from a package index."""
        return join_path(self.stage.path, "packages")

    @run_before("cmake")
    def fetch_packages(self):
        self.spec["python"].command("-m", "venv", self.packages)
        python = Executable(join_path(self.packages, "bin", "python3"))
        python("-m", "pip", "install", "-r", join_path(self.stage.source_path, "requirements.txt"))

    def cmake_args(self):
        return [
            self.define_from_variant("FABRICMARK_MPI", "mpi"),
            self.define("FABRICMARK_TESTS", False),
            self.define("FABRICMARK_PYTHON", join_path(self.packages, "bin", "python3")),
        ]
