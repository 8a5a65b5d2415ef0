#pragma once

namespace fabricmark {

/// What a thread waits for that may never come.
enum class Awaiting {
  kDevice,  ///< a kernel or a copy, which cannot be withdrawn
  kEnd,     ///< that what the process has opened is closed
};

/// Ends the process, with one line and exit code 3 (environment), where one wait takes longer than this; a
/// runtime's own wait cannot be given up in any other way. Not in a library: nothing is ended where this was
/// never called. Times in which the whole process was stopped do not count.
void limit_waits(double seconds);

/// Lives as long as this thread waits. Costs two additions, so that it may stand in timed regions; of waits
/// inside of each other the outermost counts.
class Watched {
 public:
  explicit Watched(Awaiting what);
  ~Watched();
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 private:
  void* slot_;  ///< of the thread that made it
};

}  // namespace fabricmark
