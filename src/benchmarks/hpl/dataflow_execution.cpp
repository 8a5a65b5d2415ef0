// The dataflow kernels of HPL over direct links in a torus, over an engine of messages, and between memories.
#include <fmt/format.h>

#include "base/error.hpp"
#include "benchmarks/hpl/dataflow_factorization.hpp"
#include "fabric/registry.hpp"
#include "fabric/transport.hpp"

namespace fabricmark::hpl {

namespace {

using collectives::Operation;
using collectives::Type;
using collectives::View;

/// How far a device is behind another one in a circle of `size`.
std::size_t behind(std::size_t from, std::size_t to, std::size_t size) { return (to + size - from) % size; }

fabric::Topology torus_of(const Layout& layout) {
  return fabric::torus(static_cast<int>(layout.grid.rows), static_cast<int>(layout.grid.columns));
}

/// Over channels: each direction of the torus carries blocks of one kind, from device to device, so that no
/// word ever comes back to where it started. L goes to the next column, U to the next row, left blocks to the
/// column before, top blocks to the row before (Fig. 4.8).
template <typename T, int G>
class LinkFactorization final : public DataflowFactorization<T, G> {
  using Base = DataflowFactorization<T, G>;
  using typename Base::Word;
  using Link = dataflow::Link<Word>;

 public:
  LinkFactorization(const runtime::Context& context, const Layout& layout, double host_bytes)
      : Base(context, layout, torus_of(layout), host_bytes),
        next_column_(Base::board().template open<Word>(0, Base::link_bytes())),
        column_before_(Base::board().template open<Word>(1, Base::link_bytes())),
        next_row_(Base::board().template open<Word>(2, Base::link_bytes())),
        row_before_(Base::board().template open<Word>(3, Base::link_bytes())) {}

 protected:
  void carry_factors(const Step& step) override {
    if (step.iteration + 1 == layout().blocks()) return;
    if (step.is_in_row) {
      const auto uses = [](const Step& one) { return one.updates_top(); };
      forward("forward L", along_row(step, uses, /*is_ascending=*/true), Base::lower_sent(),
              column_before_.in, Base::lower_used(), next_column_.out);
    }
    if (step.is_in_column) {
      const auto uses = [](const Step& one) { return one.updates_left(); };
      forward("forward U", along_column(step, uses, /*is_ascending=*/true), Base::upper_sent(),
              row_before_.in, Base::upper_used(), next_row_.out);
    }
  }

  device::Events carry_panels(const Step& step) override {
    device::Events kept;
    if (step.right.count() > 0) {
      keep("keep top", along_column(step, Base::has_inner, /*is_ascending=*/false), step, step.right.count(),
           Base::top_sent(), next_row_.in, row_before_.out, kept);
    }
    if (step.below.count() > 0) {
      keep("keep left", along_row(step, Base::has_inner, /*is_ascending=*/false), step, step.below.count(),
           Base::left_sent(), next_column_.in, column_before_.out, kept);
    }
    return kept;
  }

 private:
  /// What this device does with blocks that come by.
  struct Role {
    bool is_first = false;  ///< they start here
    bool keeps = false;
    bool passes = false;
    [[nodiscard]] bool is_idle() const { return !is_first && !keeps && !passes; }
  };

  [[nodiscard]] const Layout& layout() const { return Base::layout(); }
  /// Along this device's row from the owner's column, to the next or the one before; whoever `uses` them
  /// keeps them, and they go as far as the last one who does.
  template <typename Uses>
  Role along_row(const Step& step, const Uses& uses, bool is_ascending) {
    const common::Grid& grid = layout().grid;
    return role(step, uses, is_ascending,
                {step.iteration % grid.columns, layout().grid_column(), grid.columns},
                [&](std::size_t column) { return grid.rank_at(layout().grid_row(), column); });
  }
  template <typename Uses>
  Role along_column(const Step& step, const Uses& uses, bool is_ascending) {
    const common::Grid& grid = layout().grid;
    return role(step, uses, is_ascending, {step.iteration % grid.rows, layout().grid_row(), grid.rows},
                [&](std::size_t row) { return grid.rank_at(row, layout().grid_column()); });
  }
  struct Circle {
    std::size_t first = 0;
    std::size_t own = 0;
    std::size_t size = 1;
  };
  template <typename Uses, typename RankAt>
  Role role(const Step& step, const Uses& uses, bool is_ascending, const Circle& circle,
            const RankAt& rank_at) {
    const auto distance = [&](std::size_t place) {
      return is_ascending ? behind(circle.first, place, circle.size)
                          : behind(place, circle.first, circle.size);
    };
    Role found;
    const std::size_t own = distance(circle.own);
    found.is_first = own == 0;
    found.keeps = uses(step);
    for (std::size_t place = 0; place < circle.size; ++place) {
      found.passes |= distance(place) > own && uses(Base::step_of(rank_at(place), step));
    }
    return found;
  }

  void forward(const char* name, const Role& role, fm::stream<Word>& own, fm::stream<Word>& link,
               fm::stream<Word>& kept, fm::stream<Word>& next) {
    if (role.is_idle()) return;
    Base::start(name, {}, kernels::forward<T>, role.is_first ? own : link, kept, next, Base::words(),
                role.keeps, role.passes);
  }
  void keep(const char* name, const Role& role, const Step& step, std::size_t blocks, fm::stream<Word>& own,
            fm::stream<Word>& link, fm::stream<Word>& next, device::Events& kept) {
    if (role.is_idle()) return;
    Word* const panel = Base::panel(&own == &Base::top_sent(), step);
    const device::Event event =
        Base::start(name, Base::readers(step), kernels::keep<T>, role.is_first ? own : link, panel, next,
                    static_cast<long>(blocks) * Base::words(), role.keeps && panel != nullptr, role.passes);
    if (role.keeps) kept.push_back(event);
  }

  Link next_column_;
  Link column_before_;
  Link next_row_;
  Link row_before_;
};

/// Between memories: kernels leave their blocks there, and the host has them broadcast along rows and
/// columns.
template <typename T, int G>
class MemoryFactorization : public DataflowFactorization<T, G> {
  using Base = DataflowFactorization<T, G>;

 public:
  using typename Base::Word;

 protected:
  /// What goes from the owner's column along this device's row, or from its row along this device's column.
  struct Broadcast {
    bool is_along_row = false;
    T* data = nullptr;  ///< null where only time is asked for
    std::size_t count = 0;
  };

  MemoryFactorization(const runtime::Context& context, const Layout& layout, double host_bytes)
      : Base(context, layout, torus_of(layout), host_bytes) {
    if (!Base::board().computes()) return;
    lower_.resize(layout.block * layout.block);
    upper_.resize(lower_.size());
  }

  /// The device where it begins, as a place in the row or column.
  [[nodiscard]] std::size_t root(const Broadcast& one, const Step& step) const {
    const common::Grid& grid = Base::layout().grid;
    return step.iteration % (one.is_along_row ? grid.columns : grid.rows);
  }
  /// The ranks of a row or a column of the grid, in their order.
  [[nodiscard]] std::vector<int> line(bool is_row, std::size_t number) const {
    const common::Grid& grid = Base::layout().grid;
    std::vector<int> ranks;
    for (std::size_t place = 0; place < (is_row ? grid.columns : grid.rows); ++place)
      ranks.push_back(is_row ? grid.rank_at(number, place) : grid.rank_at(place, number));
    return ranks;
  }

  /// Both at the same time; returns when they are there.
  virtual void broadcast(const Step& step, const std::vector<Broadcast>& all) = 0;

  [[nodiscard]] static bool is_root(const Broadcast& one, const Step& step) {
    return one.is_along_row ? step.is_in_column : step.is_in_row;
  }

  void carry_factors(const Step& step) override {
    if (step.iteration + 1 == Base::layout().blocks()) return;
    const auto words = static_cast<long>(Base::words());
    const bool computes = Base::board().computes();
    device::Events left;
    if (step.is_owner()) {
      left.push_back(
          Base::start("put L", {}, kernels::put<T>, Base::lower_sent(), words_of(lower_), words, computes));
      left.push_back(
          Base::start("put U", {}, kernels::put<T>, Base::upper_sent(), words_of(upper_), words, computes));
    }
    for (const device::Event& event : left) event.wait();
    std::vector<Broadcast> all;
    if (step.is_in_row) all.push_back({true, lower_.data(), elements()});
    if (step.is_in_column) all.push_back({false, upper_.data(), elements()});
    broadcast(step, all);
    if (step.updates_top()) {
      Base::start("take L", {}, kernels::take<T>, words_of(lower_), Base::lower_used(), Base::words(),
                  computes);
    }
    if (step.updates_left()) {
      Base::start("take U", {}, kernels::take<T>, words_of(upper_), Base::upper_used(), Base::words(),
                  computes);
    }
  }

  device::Events carry_panels(const Step& step) override {
    device::Events left;
    if (step.updates_top()) left.push_back(put("put top", true, step, step.right.count(), Base::top_sent()));
    if (step.updates_left()) {
      left.push_back(put("put left", false, step, step.below.count(), Base::left_sent()));
    }
    for (const device::Event& event : left) event.wait();
    for (const device::Event& event : Base::readers(step)) event.wait();
    std::vector<Broadcast> all;
    if (step.below.count() > 0) {
      all.push_back({true, elements_of(Base::panel(false, step)), step.below.count() * elements()});
    }
    if (step.right.count() > 0) {
      all.push_back({false, elements_of(Base::panel(true, step)), step.right.count() * elements()});
    }
    broadcast(step, all);
    return {};
  }

 private:
  static Word* words_of(std::vector<T>& values) { return reinterpret_cast<Word*>(values.data()); }
  static T* elements_of(Word* words) { return reinterpret_cast<T*>(words); }
  [[nodiscard]] std::size_t elements() const { return Base::layout().block * Base::layout().block; }
  device::Event put(const char* name, bool is_top, const Step& step, std::size_t blocks,
                    fm::stream<Word>& blocks_sent) {
    return Base::start(name, Base::readers(step), kernels::put<T>, blocks_sent, Base::panel(is_top, step),
                       static_cast<long>(blocks) * Base::words(), Base::board().computes());
  }

  std::vector<T> lower_;
  std::vector<T> upper_;
};

/// By the engine of messages of each board.
template <typename T, int G>
class EngineFactorization final : public MemoryFactorization<T, G> {
  using Base = MemoryFactorization<T, G>;
  using typename Base::Broadcast;

 public:
  EngineFactorization(const runtime::Context& context, const Layout& layout, double host_bytes)
      : Base(context, layout, host_bytes) {
    if (Base::board().is_called_by_logic() || Base::board().is_streaming()) {
      throw bad_use("the host calls the engine for the broadcasts of HPL, from memory to memory",
                    "use --issuer host and --mode buffered");
    }
    engine::Accl& engine = Base::board().engine();
    row_ = engine.communicator(Base::line(/*is_row=*/true, layout.grid_row()));
    column_ = engine.communicator(Base::line(/*is_row=*/false, layout.grid_column()));
  }

 protected:
  void broadcast(const Step& step, const std::vector<Broadcast>& all) override {
    std::vector<engine::Request> requests;
    for (const Broadcast& one : all) {
      const View view{reinterpret_cast<std::byte*>(one.data), one.count,
                      sizeof(T) == sizeof(double) ? Type::kFloat64 : Type::kFloat32};
      requests.push_back(Base::board().engine().collective({.operation = Operation::kBroadcast,
                                                            .root = static_cast<int>(Base::root(one, step)),
                                                            .count = one.count,
                                                            .own = Base::is_root(one, step) ? view : View{},
                                                            .result = view},
                                                           one.is_along_row ? row_ : column_));
    }
    for (engine::Request& request : requests) {
      const engine::Result& result = request.wait();
      if (!result.is_done())
        throw Error(ExitCode::kInvalidResult, result.text, "see the first rank that says so");
    }
  }

 private:
  int row_ = 0;
  int column_ = 0;
};

/// By a transport between memories: to see that the factors are the same. Its times say nothing.
template <typename T, int G>
class TransportFactorization final : public MemoryFactorization<T, G> {
  using Base = MemoryFactorization<T, G>;
  using typename Base::Broadcast;

 public:
  TransportFactorization(const runtime::Context& context, const Layout& layout, double host_bytes)
      : Base(context, layout, host_bytes), transport_(fabric::make_transport(context)) {
    const std::size_t longest = std::max(layout.local_rows(), layout.local_columns()) * layout.block;
    for (auto& memory : memories_)
      memory = transport_->allocate(std::max(longest, std::size_t{1}) * sizeof(T));
  }

 protected:
  void broadcast(const Step& step, const std::vector<Broadcast>& all) override {
    std::vector<fabric::Message> sends;
    std::vector<fabric::Message> receives;
    for (const Broadcast& one : all) {
      fabric::Memory& memory = *memories_[one.is_along_row ? 0 : 1];
      const std::size_t bytes = one.count * sizeof(T);
      const auto with = [&](int peer) {
        return fabric::Message{{&memory, 0, bytes}, peer, one.is_along_row ? 0 : 1};
      };
      const Layout& layout = Base::layout();
      const std::vector<int> line =
          Base::line(one.is_along_row, one.is_along_row ? layout.grid_row() : layout.grid_column());
      if (!Base::is_root(one, step)) {
        receives.push_back(with(line[Base::root(one, step)]));
        continue;
      }
      memory.write(0, std::as_bytes(std::span(one.data, one.count)));
      for (const int rank : line) {
        if (rank != layout.rank) sends.push_back(with(rank));
      }
    }
    transport_->exchange(sends, receives);
    for (const Broadcast& one : all) {
      if (Base::is_root(one, step)) continue;
      memories_[one.is_along_row ? 0 : 1]->read(0, std::as_writable_bytes(std::span(one.data, one.count)));
    }
  }

 private:
  std::unique_ptr<fabric::Transport> transport_;
  std::unique_ptr<fabric::Memory> memories_[2];  ///< of what goes along the row, and the column
};

template <typename T, int G>
std::unique_ptr<Execution> make_on(const runtime::Context& context, const Layout& layout, double host_bytes) {
  const std::string& transport = context.parameters().text("transport");
  if (!runtime::is_of_kernels(transport))
    return std::make_unique<TransportFactorization<T, G>>(context, layout, host_bytes);
  if (transport == "channels") return std::make_unique<LinkFactorization<T, G>>(context, layout, host_bytes);
  return std::make_unique<EngineFactorization<T, G>>(context, layout, host_bytes);
}

template <typename T>
std::unique_ptr<Execution> make_of(const runtime::Context& context, const Layout& layout, double host_bytes) {
  switch (context.parameters().integer("register_block")) {
    case 4:
      return make_on<T, 4>(context, layout, host_bytes);
    case 8:
      return make_on<T, 8>(context, layout, host_bytes);
    case 16:
      return make_on<T, 16>(context, layout, host_bytes);
    default:
      throw bad_use(fmt::format("dataflow kernels with register blocks of {}",
                                context.parameters().integer("register_block")),
                    "use --register-block 4, 8 or 16");
  }
}

}  // namespace

std::unique_ptr<Execution> make_dataflow(const runtime::Context& context, const Layout& layout,
                                         double host_bytes) {
  if (context.parameters().text("data_type") == "double") return make_of<double>(context, layout, host_bytes);
  return make_of<float>(context, layout, host_bytes);
}

}  // namespace fabricmark::hpl
