#include "device/program.hpp"
#include "device/signature.hpp"

#include "base/atomic_file.hpp"
#include "base/digest.hpp"
#include "device/memory.hpp"
#include "device/replications.hpp"
#include "device_support.hpp"

namespace fabricmark::device {

namespace {

using test::mentions;
using test::message_of;

constexpr const char* kAdd = "__kernel void add(__global int* x) { *x += STEP; }\n";

class OnProgram : public test_support::OnDevice {
 protected:
  BuiltProgram build(int step, const std::string& source = kAdd) {
    return build_from_source(device(), source, "add.cl", {{"STEP", std::to_string(step)}});
  }
  /// What the kernel makes of 40.
  int result(const Program& program) {
    const Queue queue = device().queue();
    Buffer buffer(device(), sizeof(int));
    int value = 40;
    buffer.write(queue, &value, sizeof(value));
    Timeline timeline(false);
    Replications kernel(device(), program, {"add", {{"x", ArgumentKind::kBuffer}}}, 1, timeline);
    kernel.set(0, {{"x", buffer}});
    kernel.start_on(queue, 0, {}, nullptr, nullptr);
    buffer.read(queue, &value, sizeof(value));
    queue.finish();
    return value;
  }
  /// What the cache holds, as if an earlier run had left it.
  void age() const {
    for (const std::filesystem::path& file : cached()) {
      std::filesystem::last_write_time(file,
                                       std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
    }
  }
  BuiltProgram build_in_two_runs(int step, const std::string& source = kAdd) {
    build(step, source);
    age();
    return build(step, source);
  }
  [[nodiscard]] std::vector<std::filesystem::path> cached() const {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path() / "kernels")) {
      files.push_back(entry.path());
    }
    return files;
  }
};

TEST_F(OnProgram, IsBuiltOnceAndThenTakenFromTheCache) {
  const BuiltProgram first = build(2);
  EXPECT_FALSE(first.from_cache);
  EXPECT_EQ(result(first.program), 42);
  ASSERT_EQ(cached().size(), 1U);
  // PoCL keeps what it has compiled, and its binaries are dear: one is kept of what an earlier run has built.
  const bool is_pocl = device().info().is_of_pocl();
  EXPECT_EQ(std::filesystem::file_size(cached()[0]) == 0, is_pocl);
  if (is_pocl) {
    EXPECT_FALSE(build(2).from_cache);
    EXPECT_EQ(std::filesystem::file_size(cached()[0]), 0U) << "of another rank of the same run";
    age();
    EXPECT_FALSE(build(2).from_cache);
  }
  const BuiltProgram last = build(2);
  EXPECT_TRUE(last.from_cache);
  EXPECT_EQ(result(last.program), 42);
}

TEST_F(OnProgram, IsBuiltAnewForAnotherParameter) {
  build_in_two_runs(2);
  const BuiltProgram other = build(3);
  EXPECT_FALSE(other.from_cache);
  EXPECT_EQ(result(other.program), 43);
}

TEST_F(OnProgram, IsBuiltAnewForAChangedInclude) {
  const auto file =
      folder_.write("kernel.cl", "#include \"step.h\"\n__kernel void add(__global int* x) { *x += OWN; }\n");
  (void)folder_.write("step.h", "#define OWN 5\n");
  build_in_two_runs(0, expand_includes(file, folder_.path()));
  EXPECT_TRUE(build(0, expand_includes(file, folder_.path())).from_cache);
  (void)folder_.write("step.h", "#define OWN 6\n");
  const BuiltProgram changed = build(0, expand_includes(file, folder_.path()));
  EXPECT_FALSE(changed.from_cache);
  EXPECT_EQ(result(changed.program), 46);
}

TEST_F(OnProgram, IsBuiltAnewForAnotherDriver) {
  build_in_two_runs(2);
  FoundDevice updated = found_;
  updated.info.driver += " updated";
  const Device other(updated);
  EXPECT_FALSE(build_from_source(other, kAdd, "add.cl", {{"STEP", "2"}}).from_cache);
}

TEST_F(OnProgram, IsBuiltAnewWhenItsCacheFileIsDamaged) {
  build_in_two_runs(2);
  ASSERT_EQ(cached().size(), 1U);
  const std::string whole = test::content_of(cached()[0]);
  std::string flipped = whole;
  flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 1);
  const std::string nonsense = "nonsense";
  for (const std::string& damaged :
       {std::string(), nonsense, whole.substr(0, whole.size() / 2), flipped,
        content_digest(nonsense) + nonsense}) {  // the last one only the driver notices
    write_atomically(cached()[0], damaged);
    age();
    const BuiltProgram again = build(2);
    EXPECT_FALSE(again.from_cache);
    EXPECT_EQ(result(again.program), 42);
    EXPECT_EQ(test::content_of(cached()[0]).size(), whole.size()) << "the cache is whole again";
  }
}

TEST_F(OnProgram, IsBuiltWithoutACacheWhereNoneCanBeWritten) {
  setenv("FABRICMARK_CACHE", "/proc/nowhere", 1);
  EXPECT_EQ(result(build(2).program), 42);
}

TEST_F(OnProgram, ThatDoesNotCompileIsNamedWithTheCompilersComplaint) {
  const std::string message =
      message_of([&] { build(2, "__kernel void add(__global int* x) { unknown_name = 1; }\n"); });
  EXPECT_TRUE(mentions(message, "'add.cl'") && mentions(message, "unknown_name")) << message;
}

TEST_F(OnProgram, WithoutTheEntryPointSaysWhichThereAre) {
  const BuiltProgram built = build(2);
  const std::string message = message_of([&] { entry_point(built.program, "subtract"); });
  EXPECT_TRUE(mentions(message, "'subtract'") && mentions(message, "add")) << message;
}

TEST_F(OnProgram, OfTheUserIsComparedWithTheSuites) {
  const BuiltProgram suites =
      build(0, "__kernel void add(__global float4* x, const uint n) { x[n] += 1; }\n");
  const auto remarks = [&](const std::string& source) {
    return check_signature(build(0, source + " {}\n").program, suites.program, "add", "mine.cl", "suite.cl");
  };
  EXPECT_TRUE(remarks("__kernel void add(__global float* y, uint count)").empty()) << "vectors as they like";
  EXPECT_TRUE(remarks("typedef uint word; __kernel void add(__global float* y, word n)").empty());
  const std::vector<std::string> other = remarks("__kernel void add(__global double* x, const int n)");
  ASSERT_EQ(other.size(), 2U);
  EXPECT_TRUE(mentions(other[0], "argument 1") && mentions(other[0], "'global double* x'")) << other[0];
  for (const char* source :
       {"__kernel void sum(__global float4* x, uint n)", "__kernel void add(__global float4* x)",
        "__kernel void add(__global float4* x, uint n, uint more)",
        "__kernel void add(__global float4* x, __global uint* n)",
        "__kernel void add(__global float4* x, ulong n)", "__kernel void add(__global float4* x, uint2 n)"}) {
    const std::string message = message_of([&] { remarks(source); });
    EXPECT_TRUE(mentions(message, "'mine.cl'")) << message;
    EXPECT_TRUE(mentions(message, "declare it as suite.cl does: __kernel void add(global float4* x, uint n)"))
        << message;
  }
}

TEST_F(OnProgram, ComesBackFromABitstream) {
  const auto file = folder_.write("add.bin", build(2).program->binary());
  EXPECT_EQ(result(load_bitstream(device(), file, bitstream_content(file))), 42);
}

TEST_F(OnProgram, RefusesABitstreamThatIsMissingOrNoBitstream) {
  EXPECT_TRUE(mentions(message_of([&] { bitstream_content(folder_.path() / "none.bin"); }), "none.bin"));
  for (const char* content : {"", "nonsense that is no program at all"}) {
    const auto file = folder_.write("bad.bin", content);
    EXPECT_TRUE(
        mentions(message_of([&] { load_bitstream(device(), file, bitstream_content(file)); }), "bad.bin"));
  }
}

}  // namespace

}  // namespace fabricmark::device
