// HPL between cards whose bitstream has ACCL's engine beside the kernels of kernels/hpl/dataflow.cpp, as
// `fabricmark build hpl --variant dataflow --transport accl-udp` links them (build/rules/accl.toml): panels
// lie in memory, and a kernel has the engine broadcast them. Never run on a card.
#include <limits>
#include <vector>

#include "base/error.hpp"
#include "benchmarks/hpl/dataflow_factorization.hpp"
#include "benchmarks/hpl/execution.hpp"
#include "benchmarks/hpl/steps.hpp"
#include "board/accl_driver/card_engine.hpp"
#include "board/accl_driver/card_unit.hpp"

namespace fabricmark::hpl {

namespace {

/// What arrives from the next device of a row or column, or leaves for it, and who is there.
struct CardLine {
  CardLine(const accl::CardEngine& engine, const Layout& layout, bool is_row, collectives::Type type)
      : ranks(static_cast<std::uint32_t>(line_of(layout, is_row).size())) {
    if (ranks > 1) use = engine.use(type, engine.communicator(line_of(layout, is_row)));
  }
  std::uint32_t ranks;
  fm::accl_use use{};
};

/// The iterations one after the other, and of each: lu; the factors to row and column; top and left; the
/// panels; inner.
template <typename T>
class CardFactorization final : public Execution {
 public:
  CardFactorization(const runtime::Context& context, const Layout& layout, double host_bytes)
      : layout_(layout),
        engine_(context),
        row_(engine_, layout, /*is_row=*/true, kType),
        column_(engine_, layout, /*is_row=*/false, kType),
        lu_(context, "hpl_lu", "lu"),
        top_(context, "hpl_top", "top"),
        left_(context, "hpl_left", "left"),
        put_lower_(context, "hpl_put", "put_l"),
        put_upper_(context, "hpl_put", "put_u"),
        put_top_(context, "hpl_put", "put_top"),
        put_left_(context, "hpl_put", "put_left"),
        take_lower_(context, "hpl_take", "take_l"),
        take_upper_(context, "hpl_take", "take_u"),
        inner_(context, "hpl_inner", "inner"),
        carry_(context, "hpl_carry", "carry", kFailed),
        matrix_(lu_.buffer(0, bytes(layout.elements()))),
        lower_(put_lower_.buffer(1, bytes(block_elements()))),
        upper_(put_upper_.buffer(1, bytes(block_elements()))),
        top_panel_(put_top_.buffer(1, bytes(layout.local_columns() * layout.block))),
        left_panel_(put_left_.buffer(1, bytes(layout.local_rows() * layout.block))) {
    context.require_memory({.host_bytes = host_bytes}, "size", 2);
    for (const accl::CardUnit* unit : {&lu_, &top_, &left_, &inner_}) {
      unit->set(0, matrix_);
      unit->set(2, std::uint64_t{layout_.local_columns()});
      unit->set(3, number(layout_.block));
    }
    put_lower_.set(1, lower_);
    take_lower_.set(0, lower_);
    put_upper_.set(1, upper_);
    take_upper_.set(0, upper_);
    put_top_.set(1, top_panel_);
    inner_.set(5, top_panel_);
    put_left_.set(1, left_panel_);
    inner_.set(4, left_panel_);
    for (const accl::CardUnit* unit : {&put_lower_, &put_upper_, &take_lower_, &take_upper_})
      unit->set(2, words(1));
    carry_.set(kRow, row_.use);
    carry_.set(kColumn, column_.use);
  }

  void poison() override {
    for (device::Buffer* buffer : {&matrix_, &lower_, &upper_, &top_panel_, &left_panel_}) {
      const std::vector<T> nothing(buffer->bytes() / sizeof(T), std::numeric_limits<T>::quiet_NaN());
      lu_.write(*buffer, nothing.data(), bytes(nothing.size()));
    }
  }
  void write_matrix(const void* values) override { lu_.write(matrix_, values, bytes(layout_.elements())); }
  void read_factors(void* values) override { lu_.read(matrix_, values, bytes(layout_.elements())); }
  void factorize() override {
    for (std::size_t k = 0; k < layout_.blocks(); ++k) iterate(make_step(layout_, k));
  }
  [[nodiscard]] std::optional<double> exchange_hidden() const override { return std::nullopt; }

 private:
  static constexpr auto kType =
      sizeof(T) == sizeof(double) ? collectives::Type::kFloat64 : collectives::Type::kFloat32;
  // Arguments of hpl_carry: where those of the row and of the column begin, and the last one.
  static constexpr unsigned kRow = 2;
  static constexpr unsigned kColumn = 8;
  static constexpr unsigned kFailed = 14;

  static std::size_t bytes(std::size_t elements) { return elements * sizeof(T); }
  static std::uint32_t number(std::size_t count) { return static_cast<std::uint32_t>(count); }
  [[nodiscard]] std::size_t block_elements() const { return layout_.block * layout_.block; }
  /// Of so many blocks.
  [[nodiscard]] std::uint32_t words(std::size_t blocks) const {
    return number(blocks * bytes(block_elements()) / kernels::word_bytes);
  }
  /// The first element of one of this rank's blocks.
  [[nodiscard]] std::uint64_t place(std::size_t row, std::size_t column) const {
    return row * layout_.block * layout_.local_columns() + column * layout_.block;
  }

  void iterate(const Step& step) {
    const bool is_last = step.iteration + 1 == layout_.blocks();
    if (step.is_owner()) {
      lu_.set(1, place(step.row(), step.column()));
      lu_.set(6, is_last ? 0U : 1U);
      if (is_last) {
        accl::run({&lu_});
      } else {
        accl::run({&put_lower_, &put_upper_, &lu_});
      }
    }
    if (is_last) return;
    carry(step, step.is_in_row ? &lower_ : nullptr, 1, step.is_in_column ? &upper_ : nullptr, 1);
    update_panels(step);
    carry(step, step.below.count() > 0 ? &left_panel_ : nullptr, step.below.count(),
          step.right.count() > 0 ? &top_panel_ : nullptr, step.right.count());
    if (step.below.count() == 0 || step.right.count() == 0) return;
    inner_.set(1, place(step.below.begin, step.right.begin));
    inner_.set(6, number(step.below.count()));
    inner_.set(7, number(step.right.count()));
    accl::run({&inner_});
  }

  void update_panels(const Step& step) {
    std::vector<const accl::CardUnit*> all;
    if (step.updates_top()) {
      top_.set(1, place(step.row(), step.right.begin));
      top_.set(6, number(step.right.count()));
      put_top_.set(2, words(step.right.count()));
      all.insert(all.end(), {&put_top_, &top_, &take_lower_});
    }
    if (step.updates_left()) {
      left_.set(1, place(step.below.begin, step.column()));
      left_.set(6, number(step.below.count()));
      put_left_.set(2, words(step.below.count()));
      all.insert(all.end(), {&put_left_, &left_, &take_upper_});
    }
    accl::run(all);
  }

  /// So many blocks of memory along the row and along the column, each null where nothing goes there.
  void carry(const Step& step, const device::Buffer* along_row, std::size_t row_blocks,
             const device::Buffer* along_column, std::size_t column_blocks) {
    const bool is_in_row =
        set_broadcast(kRow, row_, step.iteration % layout_.grid.columns, along_row, row_blocks, lower_);
    const bool is_in_column = set_broadcast(kColumn, column_, step.iteration % layout_.grid.rows,
                                            along_column, column_blocks, upper_);
    if (!is_in_row && !is_in_column) return;
    accl::run({&carry_});
    carry_.require_no_failure();
  }
  /// Whether there is one. `any`: memory to name where there is none.
  bool set_broadcast(unsigned argument, const CardLine& line, std::size_t root, const device::Buffer* blocks,
                     std::size_t count, const device::Buffer& any) const {
    const bool is_needed = line.ranks > 1 && blocks != nullptr;
    carry_.set(argument + 3, static_cast<std::int32_t>(root));
    carry_.set(argument + 4, accl::address_of(is_needed ? *blocks : any));
    carry_.set(argument + 5, number(is_needed ? count * block_elements() : 0));
    return is_needed;
  }

  Layout layout_;
  accl::CardEngine engine_;
  CardLine row_, column_;
  accl::CardUnit lu_, top_, left_;
  accl::CardUnit put_lower_, put_upper_, put_top_, put_left_, take_lower_, take_upper_, inner_;
  accl::CardCaller carry_;
  device::Buffer matrix_, lower_, upper_, top_panel_, left_panel_;
};

}  // namespace

std::unique_ptr<Execution> make_on_cards(const runtime::Context& context, const Layout& layout,
                                         double host_bytes) {
  accl::require_one_replica(context);
  require_panels_in_memory(context);
  if (context.parameters().text("data_type") == "double")
    return std::make_unique<CardFactorization<double>>(context, layout, host_bytes);
  return std::make_unique<CardFactorization<float>>(context, layout, host_bytes);
}

void require_panels_in_memory(const runtime::Context& context) {
  if (context.parameters().text("mode") != "streaming") return;
  throw bad_use("panels of HPL are kept in memory, from which and to which the engine carries them",
                "use --mode buffered");
}

}  // namespace fabricmark::hpl
