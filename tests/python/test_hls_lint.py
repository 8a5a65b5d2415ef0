"""tools/hls_lint.py: each feature that it refuses is planted in a dataflow kernel and found in its line."""

import shutil
import subprocess
import sys

import pytest
from conftest import REPOSITORY

LINT = REPOSITORY / "tools" / "hls_lint.py"
EXAMPLE = REPOSITORY / "docs" / "examples" / "two_devices" / "dataflow.cpp"

# Before the planted texts; a finding is expected in each line that ends with //!
START = """\
#include "common/dataflow.hpp"
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>
int one(int x) { return x; }
"""
PLANTED = {
    "new": ("heap", "int* f() { return new int[4]; }  //!"),
    "placed new": ("heap", "int* f(int* p) { return ::new int(*p); }  //!"),
    "delete": ("heap", "void f(int* p) {\n  delete p;  //!\n}"),
    "operator new": ("heap", "void* f() { return ::operator new(4); }  //!"),
    "malloc": ("heap", "void* f() { return malloc(4); }  //!"),
    "std::malloc": ("heap", "void* f() {\n  return std::malloc(4);  //!\n}"),
    "free": ("heap", "void f(void* p) { free(p); }  //!"),
    "address of malloc": ("heap", "auto allocate = &std::malloc;  //!"),
    "alloca": ("heap", "int f(int n) { return *static_cast<int*>(__builtin_alloca(n)); }  //!"),
    "vector": ("heap", "int f(int n) {\n  std::vector<int> v(n);  //!\n  return v[0];\n}"),
    "vector in a struct": ("heap", "struct S {\n  std::vector<int> v;  //!\n};"),
    "vector by its alias": ("heap", "using many = std::vector<std::array<int, 3>>;  //!"),
    "derived from vector": ("heap", "struct S : std::vector<int> {};  //!"),
    "string": ("heap", "int f(const std::string& s) { return s[0]; }  //!"),
    "string of a call": ("heap", "bool f(int n) { return std::to_string(n).empty(); }  //!"),
    "function object": ("heap", "int f(std::function<int(int)> g) { return 1; }  //!"),
    "unique_ptr": ("heap", "int f() { return *std::make_unique<int>(3); }  //!"),
    "variable size": ("array of variable size", "int f(int n) {\n  int a[n];  //!\n  return a[0] = n;\n}"),
    "recursion": ("recursion", "int f(int n) { return n > 0 ? f(n - 1) : 0; }  //!"),
    "mutual recursion": (
        "recursion",
        "int g(int n);\nint f(int n) { return n > 0 ? g(n - 1) : 0; }  //!\nint g(int n) { return f(n); }//!",
    ),
    "recursion of a member": ("recursion", "struct S { int f(int n) { return n ? f(n - 1) : 0; } };  //!"),
    "recursion of a template": (
        "recursion",
        "template <class T>\nT f(T n) { return n ? f(n - 1) : n; }  //!\nlong g() { return f(2) + f(1L); }",
    ),
    "virtual": ("virtual", "struct S {\n  virtual int f();  //!\n};"),
    "virtual destructor": ("virtual", "struct S {\n  virtual ~S();  //!\n};\nstruct T : S {};"),
    "override": (
        "virtual",
        "struct S { virtual int f(); };  //!\nstruct T : S {\n  int f() override;  //!\n};",
    ),
    "virtual base": ("virtual", "struct A { int a; };\nstruct B : virtual A {};  //!"),
    "throw": ("exception", "int f(int n) {\n  if (n < 0) throw n;  //!\n  return n;\n}"),
    "try": (
        "exception",
        "int f(int n) {\n  try {  //!\n    return n;\n  } catch (...) {\n  }\n  return 0;\n}",
    ),
    "try of a function": ("exception", "int f(int n) try { return n; } catch (...) { return 0; }  //!"),
    "function pointer": ("function pointer", "int f(int (*g)(int)) { return g(1); }  //!"),
    "followed pointer": ("function pointer", "int f(int (*g)(int)) { return (*g)(1); }  //!"),
    "table of functions": ("function pointer", "int f(int (*g[2])(int), int n) { return (*g[n])(n); }  //!"),
    "reference": ("function pointer", "int f(int n) {\n  int (&g)(int) = one;\n  return g(n);  //!\n}"),
    "member": (
        "function pointer",
        "struct S { int m(); };\nint f(S s, int (S::*p)()) { return (s.*p)(); }  //!",
    ),
    "in a struct": ("function pointer", "struct S { int (*g)(int); };\nint f(S s) { return s.g(1); }  //!"),
    "to a template": (
        "function pointer",
        "template <typename G>\nint call(G g) { return g(1); }  //!\nint f() { return call(one); }",
    ),
    "hidden finding": ("NOLINT", "int* f() { return new int; }  // NOLINT //!"),
}
NOT_COMPILED = {
    "endless templates": "template <int N>\nint f() { return f<N + 1>(); }  //!\nint g() { return f<0>(); }",
    "not documented": "int f(fm::stream<int>& in) { return in.peek(); }  //!",
    "no such header": "#include <hls_math_of_nobody.h>  //!",
}
ALLOWED = """\
typedef fm::words<float, 4> word;
template <int N>
struct Sum {  // each is a function of its own, and their number is known
  static int of(const int* v) { return v[0] + Sum<N - 1>::of(v + 1); }
};
template <>
struct Sum<0> {
  static int of(const int*) { return 0; }
};
template <int (*F)(int)>
int apply(int x) { return F(x); }
struct Twice {
  int operator()(int x) const { return 2 * x; }
};
template <typename F>
int call(F f, int x) { return f(x); }
float root(const std::array<float, 4>& values, const int* v) {
  const auto plus = [v](int x) { return x + v[0]; };
  const int whole = Sum<4>::of(v) + apply<one>(3) + call(Twice(), 2) + plus(1) + call(plus, 1);
  return std::sqrt(values[0]) + float(whole);
}
#if !defined(__SYNTHESIS__)
std::string name() { return std::string("only where it is simulated"); }
#endif
void kernel(fm::stream<word>& in, fm::stream<word, 8>& out, int n) {
  fm::uint<9> count = 0;
  for (int i = 0; i < n; ++i, ++count) {
#pragma HLS pipeline II = 1
    out << in.read();
  }
}
"""


def lint(*words):
    command = [sys.executable, LINT, *words]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60)


def expected(text):
    return [number for number, line in enumerate(text.splitlines(), 1) if line.endswith("//!")]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The findings in one file of all planted texts, each in a namespace: {name: {line: texts}}."""
    text, of_line = START, {}
    for what, (_, planted) in PLANTED.items():
        first = text.count("\n") + 2
        text += f"namespace p{first} {{\n{planted}\n}}\n"
        of_line |= {first + i: (what, i + 1) for i in range(planted.count("\n") + 1)}
    source = tmp_path_factory.mktemp("planted") / "dataflow.cpp"
    source.write_text(text)
    done = lint(source)
    assert done.returncode == 1 and done.stderr == "", done.stderr
    findings: dict[str, dict[int, list[str]]] = {}
    for path, number, one in (line.split(":", 2) for line in done.stdout.splitlines()):
        assert path == str(source)
        what, line = of_line[int(number)]
        findings.setdefault(what, {}).setdefault(line, []).append(one.strip())
    return findings


@pytest.mark.parametrize("what", PLANTED)
def test_a_planted_feature_is_found_in_its_line(found, what):
    kind, text = PLANTED[what]
    assert sorted(found[what]) == expected(text) != []
    for texts in found[what].values():
        assert any(kind in one and "; " in one for one in texts), texts  # what it is; what to write instead


def test_a_template_is_named_once_however_often_it_is_instantiated(found):
    (texts,) = found["recursion of a template"].values()
    assert len(texts) == 1 and texts[0].startswith("recursion: f comes to call itself; ")


@pytest.mark.parametrize("what", NOT_COMPILED)
def test_what_does_not_compile_is_found_in_its_line(tmp_path, what):
    text = f'#include "common/dataflow.hpp"\n{NOT_COMPILED[what]}\n'
    (tmp_path / "dataflow.cpp").write_text(text)
    done = lint(tmp_path / "dataflow.cpp")
    lines = [line.split(":", 2) for line in done.stdout.splitlines()]
    assert done.returncode == 1 and [int(number) for _, number, _ in lines] == expected(text) != []
    assert all(one.startswith(" does not compile: ") for _, _, one in lines)


def test_what_can_be_synthesised_passes(tmp_path):
    source = tmp_path / "dataflow.cpp"
    source.write_text(START + ALLOWED)
    done = lint(source)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_sources_of_this_project_pass_and_a_fault_in_one_is_found(tmp_path):
    assert lint().stdout == ""
    text = EXAMPLE.read_text()
    line = next(n for n, one in enumerate(text.splitlines(), 1) if "link.write(" in one)
    faulty = tmp_path / "dataflow.cpp"
    faulty.write_text(text.replace("link.write(scaled)", "link.write(*new word(scaled))"))
    done = lint(faulty)
    assert done.returncode == 1 and done.stdout.startswith(f"{faulty}:{line}: heap: new; "), done.stdout


def test_a_base_kernel_is_looked_at_with_its_parameters(tmp_path):
    shutil.copy(REPOSITORY / "kernels" / "gemm" / "kernel.toml", tmp_path)
    text = (REPOSITORY / "kernels" / "gemm" / "base.cpp").read_text()
    source = tmp_path / "base.cpp"
    source.write_text(text + "int* more() { return new int[BLOCK_SIZE]; }\n")
    done = lint(source)
    assert done.stdout == f"{source}:{text.count(chr(10)) + 1}: heap: new; declare an array of fixed size\n"


def test_headers_beside_a_kernel_are_looked_at(tmp_path):
    (tmp_path / "types.hpp").write_text("#include <vector>\n\ninline int* f() { return new int; }\n")
    (tmp_path / "dataflow.cpp").write_text('#include "types.hpp"\nvoid kernel(int* out) { *out = 1; }\n')
    done = lint(tmp_path / "dataflow.cpp")
    assert done.stdout == f"{tmp_path}/types.hpp:3: heap: new; declare an array of fixed size\n"


def test_what_keeps_it_from_looking_is_one_line(tmp_path):
    old = tmp_path / "clang-tidy"
    old.write_text("#!/bin/sh\necho 'Unknown command line argument' >&2; exit 1\n")
    old.chmod(0o755)
    cases = [
        (["no_such.cpp"], 2, "no_such.cpp: no such file; "),
        ([EXAMPLE, "--clang-tidy", tmp_path / "none"], 3, "No such file or directory; make setup-also-dev"),
        ([EXAMPLE, "--clang-tidy", old], 3, "does not know custom-array-size, "),
    ]
    for words, code, text in cases:
        done = lint(*words)
        assert (done.returncode, done.stdout) == (code, ""), done
        assert done.stderr.count("\n") == 1 and text in done.stderr


def test_make_lint_runs_it():
    recipe = (REPOSITORY / "Makefile").read_text().partition("\nlint:")[2].partition("\n\n")[0]
    assert "tools/hls_lint.py" in recipe
