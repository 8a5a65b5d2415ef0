"""Libraries that are linked again with only what a bundle uses of them.

Debian's LLVM compiles for twenty kinds of processors, and PoCL asks it for one; where the same LLVM is there
as archives (llvm-15-dev, libclang-15-dev), what PoCL asks for is linked from these alone: 67 MB of 175, and
neither z3 nor ICU. NumPy brings an OpenBLAS, which does what programs ask Debian's for.
"""

import os
import re
import tempfile
from pathlib import Path

from binaries import Fault, libraries, run, symbols

OF_TARGET = re.compile(r"LLVMInitialize([A-Za-z0-9]+?)(TargetInfo|TargetMC|Target|AsmParser|AsmPrinter)$")
KEPT_TARGET = "X86"
# LLVM calls Polly, whose archives are not there: as Polly unasked, it does nothing.
NO_POLLY = """
struct info { unsigned version; const char *name, *text; void (*callbacks)(void *); };
static void none(void *builder) { (void)builder; }
struct info _Z18getPollyPluginInfov(void) { struct info i = {1, "Polly", "", none}; return i; }
"""
SYSTEM_LIBRARIES = ("-lz", "-ltinfo", "-lpthread", "-ldl", "-lm")
# Functions that programs call of OpenBLAS, by those of NumPy's, whose names and integers are others.
BLAS = {"cblas_dgemm", "openblas_get_corename", "openblas_set_num_threads"}
BLAS_SOURCE = """
void scipy_cblas_dgemm64_(int, int, int, long, long, long, double, const double *, long, const double *, long,
                          double, double *, long);
char *scipy_openblas_get_corename64_(void);
void scipy_openblas_set_num_threads64_(int);
void cblas_dgemm(int order, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda,
                 const double *b, int ldb, double beta, double *c, int ldc) {
  scipy_cblas_dgemm64_(order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
char *openblas_get_corename(void) { return scipy_openblas_get_corename64_(); }
void openblas_set_num_threads(int count) { scipy_openblas_set_num_threads64_(count); }
"""


def usual_archives(llvm: Path) -> Path:
    """Where Debian has the archives of an LLVM."""
    version = re.search(r"libLLVM-(\d+)", llvm.name)
    return Path(f"/usr/lib/llvm-{version.group(1)}/lib" if version else "/nowhere")


def archives(llvm: Path, folder: Path | None) -> list[Path]:
    """The archives of that LLVM and its clang, but for those of other processors; none without these."""
    found = sorted((folder or usual_archives(llvm)).glob("lib*.a"))
    if not {"libLLVMX86CodeGen.a", "libclangCodeGen.a"} <= {file.name for file in found}:
        return []
    others = {
        match.group(1)
        for name in symbols(llvm, defined=True)
        if (match := OF_TARGET.match(name)) and match.group(1) != KEPT_TARGET
    }
    unwanted = tuple(f"libLLVM{name}" for name in others)
    return [file for file in found if not file.name.startswith(unwanted)]


def llvm(pocl: Path, found: dict[str, Path], folder: Path | None, target: Path) -> bool:
    """Writes the LLVM and clang that PoCL asks for; False where their archives are not there."""
    name = next((name for name in found if name.startswith("libLLVM")), "")
    clang = next((name for name in found if name.startswith("libclang-cpp")), "")
    parts = archives(found[name], folder) if name and clang else []
    if not parts:
        return False
    asked = symbols(pocl, defined=False)
    known = symbols(found[name], defined=True) | symbols(found[clang], defined=True)
    wanted = sorted(asked & known)
    other = [word for word in wanted if (m := OF_TARGET.match(word)) and m.group(1) != KEPT_TARGET]
    tag = "LLVM_" + re.findall(r"\d+", name)[0]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "others.c").write_text("".join(f"void {word}(void) {{}}\n" for word in other) + NO_POLLY)
        listed = "".join(f"{word};\n" for word in wanted)
        (folder / "names.map").write_text(f"{tag} {{\nglobal:\n{listed}local: *;\n}};\n")
        roots = "\n".join(f"-Wl,-u,{word}" for word in wanted if word not in other)
        (folder / "words").write_text(f"{roots}\n" + "\n".join(map(str, ["-Wl,--start-group", *parts])))
        run("cc", "-c", "-Os", "-fPIC", "others.c", folder=folder)
        run(
            "c++", "-shared", "-s", "-o", target.absolute(), f"-Wl,-soname,{name}",
            "-Wl,--gc-sections", "-Wl,-O1",
            "-Wl,-z,pack-relative-relocs", "-Wl,--hash-style=gnu",
            "-Wl,-z,defs", "-Wl,--version-script=names.map", "others.o", "@words", "-Wl,--end-group",
            *SYSTEM_LIBRARIES, folder=folder,
        )  # fmt: skip
    if lacking := set(wanted) - symbols(target, defined=True):
        raise Fault(
            f"the LLVM that was linked lacks {sorted(lacking)[0]}; install matching llvm and clang archives"
        )
    return True


def blas(programs: list[Path], numpy_libraries: Path, target: Path) -> bool:
    """Writes a libopenblas.so.0 that calls NumPy's; False where programs ask for more than it has."""
    own = sorted(numpy_libraries.glob("libscipy_openblas64_*.so"))
    system = libraries(programs).get("libopenblas.so.0")
    if not own or system is None:
        return False
    asked = set().union(*(symbols(program, defined=False) for program in programs))
    if not (asked & symbols(system, defined=True)) <= BLAS | symbols_of_libc(system):
        return False
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "blas.c"
        source.write_text(BLAS_SOURCE)
        run(
            "cc", "-shared", "-s", "-O2", "-fPIC", "-o", target.absolute(), "-Wl,-soname,libopenblas.so.0",
            f"-Wl,-rpath,$ORIGIN/{os.path.relpath(numpy_libraries, target.parent)}",
            "-Wl,-z,defs", "-Wl,--allow-shlib-undefined",
            source, own[0],
        )  # fmt: skip
    return True


def symbols_of_libc(library: Path) -> set[str]:
    """Names that a library has in common with the C library, such as _init."""
    return symbols(library, defined=True) & symbols(Path("/lib/x86_64-linux-gnu/libc.so.6"), defined=True)
