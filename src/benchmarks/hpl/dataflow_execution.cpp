// The dataflow kernels of HPL over direct links in a torus, over an engine of messages, and between memories.
#include "benchmarks/hpl/engine_factorization.hpp"
#include "transport/registry.hpp"
#include "transport/transport.hpp"

namespace fabricmark::hpl {

namespace {

/// How far a device is behind another one in a circle of `size`.
std::size_t behind(std::size_t from, std::size_t to, std::size_t size) { return (to + size - from) % size; }

/// Over channels: each direction of the torus carries blocks of one kind, from device to device, so that no
/// word ever comes back to where it started. L goes to the next column, U to the next row, left blocks to the
/// column before, top blocks to the row before (Fig. 4.8).
template <typename T>
class LinkFactorization final : public DataflowFactorization<T> {
  using Base = DataflowFactorization<T>;
  using typename Base::Word;
  using Link = dataflow::Link<Word>;

 public:
  LinkFactorization(const runtime::Context& context, const Layout& layout, double host_bytes)
      : Base(context, layout, host_bytes),
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

/// By a transport between memories: to see that the factors are the same. Its times say nothing.
template <typename T>
class TransportFactorization final : public MemoryFactorization<T> {
  using Base = MemoryFactorization<T>;
  using typename Base::Broadcast;

 public:
  TransportFactorization(const runtime::Context& context, const Layout& layout, double host_bytes)
      : Base(context, layout, host_bytes), transport_(transport::make_transport(context)) {
    const std::size_t longest = std::max(layout.local_rows(), layout.local_columns()) * layout.block;
    for (auto& memory : memories_)
      memory = transport_->allocate(std::max(longest, std::size_t{1}) * sizeof(T));
  }

 protected:
  device::Events broadcast(const Step& step, const std::vector<Broadcast>& all,
                           const device::Events& after) override {
    for (const device::Event& event : after) event.wait();
    std::vector<transport::Message> sends;
    std::vector<transport::Message> receives;
    for (const Broadcast& one : all) {
      transport::Memory& memory = *memories_[one.is_along_row ? 0 : 1];
      const std::size_t bytes = one.count * sizeof(T);
      const auto with = [&](int peer) {
        return transport::Message{{&memory, 0, bytes}, peer, one.is_along_row ? 0 : 1};
      };
      const Layout& layout = Base::layout();
      const std::vector<int> line = line_of(layout, one.is_along_row);
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
    return {};
  }

 private:
  std::unique_ptr<transport::Transport> transport_;
  std::unique_ptr<transport::Memory> memories_[2];  ///< of what goes along the row, and the column
};

template <template <typename> typename Factorization>
std::unique_ptr<Execution> make(const runtime::Context& context, const Layout& layout, double host_bytes) {
  if (context.parameters().text("data_type") == "double")
    return std::make_unique<Factorization<double>>(context, layout, host_bytes);
  return std::make_unique<Factorization<float>>(context, layout, host_bytes);
}

}  // namespace

std::unique_ptr<Execution> make_over_transport(const runtime::Context& context, const Layout& layout,
                                               double host_bytes) {
  return make<TransportFactorization>(context, layout, host_bytes);
}

std::unique_ptr<Execution> make_over_links(const runtime::Context& context, const Layout& layout,
                                           double host_bytes) {
  return make<LinkFactorization>(context, layout, host_bytes);
}

std::unique_ptr<Execution> make_over_engines(const runtime::Context& context, const Layout& layout,
                                             double host_bytes) {
  return make<EngineFactorization>(context, layout, host_bytes);
}

}  // namespace fabricmark::hpl
