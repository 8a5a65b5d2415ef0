#pragma once

namespace fabricmark {

/// What others derive from, and what is held by pointers: never copied.
class Interface {
 public:
  Interface(const Interface&) = delete;
  Interface& operator=(const Interface&) = delete;
  virtual ~Interface() = default;

 protected:
  Interface() = default;
};

}  // namespace fabricmark
