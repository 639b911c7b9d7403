#include "gegenbauer/moments.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "gegenbauer/error.hpp"
#include "gegenbauer/sizes.hpp"

namespace gegenbauer {

namespace {

struct Hash {
  std::size_t operator()(const Exponents& k) const {
    std::size_t hash = 14695981039346656037U;  // Fowler, Noll and Vo
    for (const std::int32_t n : k) hash = (hash ^ static_cast<std::size_t>(n)) * 1099511628211U;
    return hash;
  }
};

TensorBasis chebyshev(const MomentHalf& half) {
  return {MultiIndexSet(static_cast<Index>(half.sums.front().size()), half.sums), 0.0, Normalization::chebyshev};
}

}  // namespace

MomentHalf::MomentHalf(const Half& half) : n_parts(half.size()), part_of_term(half.of_term) {
  const std::vector<Exponents>& parts = half.parts;
  // The parts are downward closed, so their sums are as well.
  std::unordered_map<Exponents, std::int32_t, Hash> position;
  Exponents sum(parts.front().size());
  for (std::size_t a = 0; a < parts.size(); ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      std::transform(parts[a].begin(), parts[a].end(), parts[b].begin(), sum.begin(), std::plus<>());
      if (position.try_emplace(sum, 0).second) sums.push_back(sum);
    }
  }
  std::sort(sums.begin(), sums.end(), Graded());
  for (std::size_t i = 0; i < sums.size(); ++i) position.at(sums[i]) = static_cast<std::int32_t>(i);
  for (const Exponents& part : parts) part_sum.push_back(position.at(part));
  // T_a T_b in each input: a + b and |a - b|, which are one when either is 0
  pair_start.push_back(0);
  for (const Exponents& a : parts) {
    for (const Exponents& b : parts) {
      std::vector<Exponents> found{Exponents(a.size(), 0)};
      for (std::size_t t = 0; t < a.size(); ++t) {
        const std::size_t n = found.size();
        for (std::size_t i = 0; i < n; ++i) {
          found[i][t] = a[t] + b[t];
          if (a[t] > 0 && b[t] > 0) {
            found.push_back(found[i]);
            found.back()[t] = std::abs(a[t] - b[t]);
          }
        }
      }
      for (const Exponents& k : found) pair_sum.push_back(position.at(k));
      pair_start.push_back(static_cast<std::int32_t>(pair_sum.size()));
    }
  }
}

namespace {

const Halves& checked_halves(const TensorBasis& basis) {
  const auto& halves = basis.plan<BasisHalves>();
  require(MomentPlan::exists(basis), "the moments of ", basis.n_terms(), " terms in ", basis.n_inputs(),
          " inputs need too large a plan (a work of ", halves.plan_work(), ", at most ", MomentPlan::kMostWork,
          " is allowed): sum the features instead (GramStatistics, engine='primal'), or use fewer inputs or a lower "
          "degree");
  return halves;
}

}  // namespace

MomentPlan::MomentPlan(const TensorBasis& basis) : MomentPlan(basis, checked_halves(basis)) {}

MomentPlan::MomentPlan(const TensorBasis& basis, const Halves& halves)
    : n_terms_(basis.n_terms()),
      left_(halves.left),
      right_(halves.right),
      right_input_(halves.right.first_input),
      left_basis_(chebyshev(left_)),
      right_basis_(chebyshev(right_)) {
  make_staircase();
  make_connection(basis);
  const Vector sums = connection_.cwiseAbs().rowwise().sum();
  std::vector<double> shares(size_of(n_terms_), 1.0);
  const MultiIndexSet& indices = basis.indices();
  for (Index l = 0; l < n_terms_; ++l) {
    if (l > 0) shares[size_of(l)] = shares[size_of(indices.parent(l))] * sums(indices.degree(l));
    const double bound = scale_[size_of(l)] * shares[size_of(l)];
    squared_bounds_ += bound * bound;
  }
  padded_moments_ = Staircase(left_basis_, right_basis_, right_input_, rows(0)).padded_size();
}

void MomentPlan::make_staircase() {
  // What a pair of left parts needs is the sum of their reaches; what a sum needs its differences need as well.
  members_.resize(size_of(left_.n_parts));
  reach_.assign(size_of(left_.n_parts), 0);
  for (Index l = 0; l < n_terms_; ++l) {
    const std::int32_t left = left_.part_of_term[size_of(l)];
    const std::int32_t right = right_.part_of_term[size_of(l)];
    members_[size_of(left)].push_back({right, static_cast<std::int32_t>(l)});
    std::int32_t& most = reach_[size_of(left)];
    most = std::max(most, total_degree(right_.sums[size_of(right_.part_sum[size_of(right)])]));
  }
  for (std::vector<Member>& members : members_)
    std::sort(members.begin(), members.end(),
              [](const Member& a, const Member& b) { return a.right_part < b.right_part; });
  std::vector<std::int32_t> sum_reach(size_of(left_.n_sums()), 0);
  const Index n = left_.n_parts;
  for (Index a = 0; a < n; ++a) {
    for (Index b = 0; b < n; ++b) {
      const std::int32_t total = reach_[size_of(a)] + reach_[size_of(b)];
      for (std::int32_t i = left_.pair_start[size_of(a * n + b)]; i < left_.pair_start[size_of(a * n + b + 1)]; ++i) {
        std::int32_t& most = sum_reach[size_of(left_.pair_sum[size_of(i)])];
        most = std::max(most, total);
      }
    }
  }
  for (const Exponents& k : right_.sums) {
    const auto total = size_of(total_degree(k));
    if (up_to_.size() <= total) up_to_.resize(total + 1, up_to_.empty() ? 0 : up_to_.back());
    ++up_to_[total];
  }
  const auto lay = [&](const std::vector<std::int32_t>& totals, std::vector<std::int32_t>& need,
                       std::vector<Index>& start) {
    Index end = 0;
    for (const std::int32_t total : totals) {
      need.push_back(sums_up_to(total));
      start.push_back(end);
      end += need.back();
    }
    return end;
  };
  n_moments_ = lay(sum_reach, sum_need_, sum_start_);
  n_target_moments_ = lay(reach_, part_need_, part_start_);
}

std::int32_t MomentPlan::sums_up_to(std::int32_t total) const {
  return up_to_[std::min(size_of(total), up_to_.size() - 1)];
}

std::vector<StaircaseRow> MomentPlan::rows(Index n_targets) const {
  std::vector<StaircaseRow> rows;
  for (std::size_t i = 0; i < sum_need_.size(); ++i) rows.push_back({static_cast<std::int32_t>(i), 0, sum_need_[i]});
  for (Index k = 0; k < n_targets; ++k)
    for (std::size_t a = 0; a < part_need_.size(); ++a)
      rows.push_back({left_.part_sum[a], static_cast<std::int32_t>(k + 1), part_need_[a]});
  return rows;
}

void MomentPlan::make_connection(const TensorBasis& basis) {
  const MultiIndexSet& indices = basis.indices();
  const Index degree = *std::max_element(indices.max_degrees().begin(), indices.max_degrees().end());
  // C_n = sum over i of u_i u_{n-i} T_|n-2i| with u_i = (lam)_i / i!. Only the shares are taken from it; the size comes
  // from the leading coefficients of p_n and T_n, so any normalisation is served, and any weights of the inputs, and
  // nothing overflows or cancels.
  std::vector<double> u(size_of(degree) + 1, 1.0);
  for (std::size_t i = 1; i < u.size(); ++i)
    u[i] = u[i - 1] * (basis.lam() + static_cast<double>(i) - 1.0) / static_cast<double>(i);
  connection_ = Matrix::Zero(degree + 1, degree + 1);
  for (Index n = 0; n <= degree; ++n) {
    connection_(n, n) = 1.0;
    if (basis.lam() == 0.0) continue;
    for (Index i = 1; i < n; ++i)
      connection_(n, std::abs(n - 2 * i)) += u[size_of(i)] * u[size_of(n - i)] / (2 * u[size_of(n)]);
  }
  std::unordered_map<Exponents, std::int32_t, Hash> position;
  std::vector<Exponents> terms;
  for (Index l = 0; l < n_terms_; ++l) {
    terms.push_back(indices.exponents(l));
    position.emplace(terms.back(), static_cast<std::int32_t>(l));
  }
  factors_.resize(size_of(basis.n_inputs()));
  scale_.assign(size_of(n_terms_), 1.0);
  // from the highest degree down, so that a column is changed before those that it needs
  for (std::size_t t = 0; t < factors_.size(); ++t) {
    const Recurrence& recurrence = basis.recurrences()[static_cast<Index>(t)];
    std::vector<double> leading{1.0};
    for (Index n = 1; n <= indices.max_degree(static_cast<Index>(t)); ++n)
      leading.push_back(leading.back() * recurrence.slope(n) * (n == 1 ? 1.0 : 0.5));
    std::vector<Index> order(size_of(n_terms_));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return terms[size_of(a)][t] > terms[size_of(b)][t]; });
    for (const Index l : order) {
      const std::int32_t n = terms[size_of(l)][t];
      if (n == 0) break;
      scale_[size_of(l)] *= leading[size_of(n)];
      if (n < 2 || basis.lam() == 0.0) continue;
      factors_[t].push_back({static_cast<std::int32_t>(l), n, static_cast<Index>(below_.size())});
      Exponents lower = terms[size_of(l)];
      for (std::int32_t j = n - 2; j >= 0; j -= 2) {
        lower[t] = j;
        below_.push_back(position.at(lower));
      }
    }
  }
}

MomentCounts MomentPlan::counts(Index n_targets) const {
  const auto k = static_cast<double>(n_targets);
  return {padded_moments_ + k * static_cast<double>(n_target_moments_),
          static_cast<double>(sum_need_.size()) + k * static_cast<double>(part_need_.size()),
          static_cast<double>(left_basis_.n_factors() + right_basis_.n_factors() + left_basis_.n_terms() +
                              right_basis_.n_terms())};
}

void MomentPlan::accumulate(const Design& design, double* statistic, const Control& control,
                            TargetProducts products) const {
  const Samples& samples = design.samples;
  const Index n_targets = design.targets.cols;
  require(samples.cols() == design.basis.n_inputs() && design.basis.n_terms() == n_terms_,
          "the design does not fit the plan of the moments");
  require(n_targets == 0 || design.targets.rows == samples.rows(), "Y must have ", samples.rows(), " rows, got ",
          design.targets.rows);
  const auto scale = [&](Index s) { return design.row_scale == nullptr ? 1.0 : design.row_scale[s]; };
  const Staircase staircase(left_basis_, right_basis_, right_input_, rows(n_targets));
  staircase.accumulate(
      samples, n_targets + 1,
      [&](Index first, Index count, double* out, Index stride) {
        for (Index s = 0; s < count; ++s) out[s] = scale(first + s) * scale(first + s);
        for (Index k = 0; k < n_targets; ++k)
          for (Index s = 0; s < count; ++s) out[(k + 1) * stride + s] = scale(first + s) * design.targets(first + s, k);
      },
      statistic, control);
  if (products == TargetProducts::left_out) return;
  double* target_gram = statistic + staircase.size();
  for (Index k = 0; k < n_targets; ++k)
    for (Index j = 0; j < n_targets; ++j) {
      double sum = 0.0;
      for (Index s = 0; s < samples.rows(); ++s) sum += design.targets(s, k) * design.targets(s, j);
      target_gram[k * n_targets + j] += sum;
    }
}

namespace {

using Positions = std::unordered_map<Exponents, std::int32_t, Hash>;

Positions positions(const std::vector<Exponents>& functions) {
  Positions position;
  position.reserve(functions.size());
  for (std::size_t i = 0; i < functions.size(); ++i) position.emplace(functions[i], static_cast<std::int32_t>(i));
  return position;
}

// One function of a half that depends on an input: it takes shares of those with a lower degree there.
struct Receiver {
  std::int32_t function;
  std::int32_t degree;
  std::vector<std::int32_t> lower;  // by their degree, 0 .. degree - 1
};

// From the highest degree down, so that a function is changed before those that need it as it was.
std::vector<Receiver> receivers(const std::vector<Exponents>& functions, const Positions& position, std::size_t input) {
  std::vector<Receiver> found;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const std::int32_t degree = functions[i][input];
    if (degree == 0) continue;
    Exponents k = functions[i];
    Receiver receiver{static_cast<std::int32_t>(i), degree, {}};
    for (std::int32_t j = 0; j < degree; ++j) {
      k[input] = j;
      receiver.lower.push_back(position.at(k));
    }
    found.push_back(std::move(receiver));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Receiver& a, const Receiver& b) { return a.degree > b.degree; });
  return found;
}

// Functions of the left inputs: whole rows take shares of rows. The rows belong to one factor, so that each function
// has one at most, and the need of a row is no larger than that of the rows with lower degrees, since the sets are
// downward closed.
void substitute_rows(double* statistic, const std::vector<StaircaseRow>& rows, const std::vector<Receiver>& order,
                     const Matrix& coefficients) {
  std::vector<std::pair<double*, Index>> place;  // values of a function, and how many
  for (const StaircaseRow& row : rows) {
    if (place.size() <= size_of(row.function)) place.resize(size_of(row.function) + 1);
    place[size_of(row.function)] = {statistic, row.need};
    statistic += row.need;
  }
  for (const Receiver& receiver : order) {
    if (size_of(receiver.function) >= place.size()) continue;
    const auto [values, need] = place[size_of(receiver.function)];
    const std::int32_t n = receiver.degree;
    for (Index i = 0; i < need; ++i) values[i] *= coefficients(n, n);
    for (std::int32_t j = 0; need > 0 && j < n; ++j) {
      const double share = coefficients(n, j);
      const double* lower = place[size_of(receiver.lower[size_of(j)])].first;
      for (Index i = 0; i < need; ++i) values[i] += share * lower[i];
    }
  }
}

// Functions of the right inputs: entries of each row take shares of entries.
void substitute_columns(double* statistic, const std::vector<StaircaseRow>& rows, const std::vector<Receiver>& order,
                        const Matrix& coefficients) {
  for (const StaircaseRow& row : rows) {
    for (const Receiver& receiver : order) {
      if (receiver.function >= row.need) continue;
      const std::int32_t n = receiver.degree;
      double value = coefficients(n, n) * statistic[receiver.function];
      for (std::int32_t j = 0; j < n; ++j) value += coefficients(n, j) * statistic[receiver.lower[size_of(j)]];
      statistic[receiver.function] = value;
    }
    statistic += row.need;
  }
}

}  // namespace

void MomentPlan::substitute(double* statistic, Index n_targets, const std::vector<Substitution>& maps) const {
  const std::size_t n_left = left_.sums.front().size();
  const std::size_t n_right = right_.sums.front().size();
  require(n_targets >= 0, "the number of targets must not be negative, got ", n_targets);
  require(maps.size() == std::max(n_left, size_of(right_input_) + n_right),
          "there must be one map for each input, got ", maps.size());
  std::int32_t degree = 0;
  for (const std::vector<Exponents>* sums : {&left_.sums, &right_.sums})
    for (const Exponents& k : *sums) degree = std::max(degree, *std::max_element(k.begin(), k.end()));
  const Recurrence chebyshev(0.0, degree, Normalization::chebyshev);
  std::vector<std::vector<StaircaseRow>> rows_of(size_of(n_targets + 1));
  for (const StaircaseRow& row : rows(n_targets)) rows_of[size_of(row.factor)].push_back(row);
  const Positions of_left = positions(left_.sums);
  const Positions of_right = positions(right_.sums);
  for (std::size_t t = 0; t < maps.size(); ++t) {
    if (maps[t].is_identity()) continue;
    const Matrix coefficients = chebyshev.substituted(maps[t]);
    const bool on_left = t < n_left;
    const std::vector<Receiver> order =
        on_left ? receivers(left_.sums, of_left, t) : receivers(right_.sums, of_right, t - size_of(right_input_));
    double* section = statistic;
    for (const std::vector<StaircaseRow>& own : rows_of) {
      (on_left ? substitute_rows : substitute_columns)(section, own, order, coefficients);
      section += &own == rows_of.data() ? n_moments_ : n_target_moments_;
    }
  }
}

void MomentPlan::shift_targets(double* statistic, const std::vector<double>& shifts) const {
  const auto n_targets = static_cast<Index>(shifts.size());
  double* with_targets = statistic + n_moments_;
  double* products = with_targets + n_targets * n_target_moments_;
  const auto left = size_of(left_.part_of_term.front());
  const Index right = right_.part_sum[size_of(right_.part_of_term.front())];
  const double weight = statistic[sum_start_[size_of(left_.part_sum[left])] + right];
  const auto sum = [&](Index k) { return with_targets[k * n_target_moments_ + part_start_[left] + right]; };
  // the products first, which need the sums of the targets as they were
  for (Index k = 0; k < n_targets; ++k) {
    for (Index j = 0; j <= k; ++j) {
      const double a = shifts[size_of(k)];
      const double b = shifts[size_of(j)];
      products[k * n_targets + j] += a * sum(j) + b * sum(k) + a * b * weight;
      products[j * n_targets + k] = products[k * n_targets + j];
    }
  }
  for (Index k = 0; k < n_targets; ++k) {
    for (std::size_t a = 0; a < part_need_.size(); ++a) {
      const double* moments = statistic + sum_start_[size_of(left_.part_sum[a])];
      double* own = with_targets + k * n_target_moments_ + part_start_[a];
      for (Index i = 0; i < part_need_[a]; ++i) own[i] += shifts[size_of(k)] * moments[i];
    }
  }
}

// Columns: matrix := matrix B' for the rows [0, n_rows), input by input; a column gives to higher ones only. The
// adjoint, matrix := matrix B, takes the same steps backwards. Some rows of all columns are worked on side by side.
template <bool adjoint>
void MomentPlan::change_basis(MatrixRef matrix, Index n_rows, const Control& control) const {
  constexpr int n_packets = 4;
  constexpr Index chunk = n_packets * kPacket;
  const double work = static_cast<double>(n_rows) * static_cast<double>(below_.size() + scale_.size());
  std::vector<AlignedBuffer> scratch;
  for (int i = 0; i < control.n_threads(); ++i) scratch.push_back(make_aligned(size_of(n_terms_ * chunk)));
  parallel_for(control, divide_up(n_rows, chunk), work, [&](Index item, int member) {
    const Index first = item * chunk;
    const Index count = std::min(chunk, n_rows - first);
    double* rows = scratch[size_of(member)].get();
    for (Index l = 0; l < n_terms_; ++l) {
      const double scale = adjoint ? scale_[size_of(l)] : 1.0;
      for (Index i = 0; i < count; ++i) rows[l * chunk + i] = scale * matrix(first + i, l);
      std::fill(rows + l * chunk + count, rows + (l + 1) * chunk, 0.0);
    }
    const auto apply = [&](const Factor& factor) {
      double* column = rows + Index{factor.term} * chunk;
      Packet values[n_packets];
      for (int i = 0; i < n_packets; ++i) values[i] = packet::load(column + i * kPacket);
      const std::int32_t* below = below_.data() + factor.below;
      for (std::int32_t j = factor.degree - 2; j >= 0; j -= 2, ++below) {
        const Packet share = packet::broadcast(connection_(factor.degree, j));
        double* lower = rows + Index{*below} * chunk;
        for (int i = 0; i < n_packets; ++i) {
          const Packet old = packet::load(lower + i * kPacket);
          if (adjoint) {
            packet::store(lower + i * kPacket, packet::fma(share, values[i], old));
          } else {
            values[i] = packet::fma(share, old, values[i]);
          }
        }
      }
      if (adjoint) return;
      for (int i = 0; i < n_packets; ++i) packet::store(column + i * kPacket, values[i]);
    };
    if (adjoint) {
      for (auto factors = factors_.rbegin(); factors != factors_.rend(); ++factors)
        std::for_each(factors->rbegin(), factors->rend(), apply);
    } else {
      for (const std::vector<Factor>& factors : factors_) std::for_each(factors.begin(), factors.end(), apply);
    }
    for (Index l = 0; l < n_terms_; ++l) {
      const double scale = adjoint ? 1.0 : scale_[size_of(l)];
      for (Index i = 0; i < count; ++i) matrix(first + i, l) = scale * rows[l * chunk + i];
    }
  });
}

namespace {

void transpose(MatrixRef matrix, Index n, const Control& control) {
  constexpr Index side = 32;  // of a tile, transposed together with its mirror image
  parallel_for(control, divide_up(n, side), static_cast<double>(n) * static_cast<double>(n), [&](Index tile, int) {
    const Index j_end = std::min(n, (tile + 1) * side);
    for (Index begin = tile * side; begin < n; begin += side)
      for (Index j = tile * side; j < j_end; ++j)
        for (Index i = std::max(begin, j + 1); i < std::min(n, begin + side); ++i)
          std::swap(matrix(i, j), matrix(j, i));
  });
}

}  // namespace

// gram := C (both triangles) and Y'T. For two left parts the moments of their sums are added up once, as functions of
// the right sum.
void MomentPlan::assemble_chebyshev(const double* statistic, MatrixRef gram, const Control& control) const {
  const Index n_targets = gram.rows() - n_terms_;
  const Index n_left = left_.n_parts;
  const Index n_right = right_.n_parts;
  std::vector<AlignedBuffer> scratch;
  for (int i = 0; i < control.n_threads(); ++i) scratch.push_back(make_aligned(size_of(right_.n_sums())));
  const double work = 8.0 * static_cast<double>(n_terms_) * static_cast<double>(n_terms_);
  parallel_for(control, n_left, work, [&](Index left_b, int member) {
    double* mean = scratch[size_of(member)].get();
    for (Index left_a = 0; left_a < n_left; ++left_a) {
      const Index pair = left_b * n_left + left_a;
      const std::int32_t* begin = left_.pair_sum.data() + left_.pair_start[size_of(pair)];
      const std::int32_t* end = left_.pair_sum.data() + left_.pair_start[size_of(pair) + 1];
      const Index need = sums_up_to(reach_[size_of(left_a)] + reach_[size_of(left_b)]);
      const double share = 1.0 / static_cast<double>(end - begin);
      std::copy_n(statistic + sum_start_[size_of(*begin)], need, mean);
      for (const std::int32_t* i = begin + 1; i < end; ++i) {
        const double* row = statistic + sum_start_[size_of(*i)];
        for (Index j = 0; j < need; ++j) mean[j] += row[j];
      }
      for (const Member& b : members_[size_of(left_b)]) {
        double* column = gram.data() + Index{b.term} * gram.outerStride();
        const std::int32_t* start = right_.pair_start.data() + Index{b.right_part} * n_right;
        for (const Member& a : members_[size_of(left_a)]) {
          const std::int32_t* from = right_.pair_sum.data() + start[a.right_part];
          const std::int32_t* to = right_.pair_sum.data() + start[a.right_part + 1];
          double sum = 0.0;
          for (const std::int32_t* j = from; j < to; ++j) sum += mean[*j];
          column[a.term] = sum * (share / static_cast<double>(to - from));
        }
      }
    }
    for (const Member& b : members_[size_of(left_b)])
      for (Index k = 0; k < n_targets; ++k)
        gram(n_terms_ + k, b.term) = statistic[n_moments_ + k * n_target_moments_ + part_start_[size_of(left_b)] +
                                               right_.part_sum[size_of(b.right_part)]];
  });
}

void MomentPlan::assemble(const double* statistic, MatrixRef gram, const Control& control) const {
  const Index n_targets = gram.rows() - n_terms_;
  require(n_targets >= 0 && (gram.cols() == gram.rows() || gram.cols() == n_terms_),
          "gram must be square with at least ", n_terms_, " rows, or have ", n_terms_, " columns");
  // [C; Y'T] B', then (C B')' B' = B C B'
  assemble_chebyshev(statistic, gram, control);
  change_basis<false>(gram, gram.rows(), control);
  transpose(gram, n_terms_, control);
  change_basis<false>(gram, n_terms_, control);
  if (gram.cols() == n_terms_) return;
  const double* target_gram = statistic + n_moments_ + n_targets * n_target_moments_;
  for (Index k = 0; k < n_targets; ++k)
    for (Index j = 0; j < n_targets; ++j) gram(n_terms_ + k, n_terms_ + j) = target_gram[k * n_targets + j];
}

// What assemble_chebyshev() takes the mean of is given its share here.
void MomentPlan::form_coefficients(MatrixRef form, double* coefficients, const Control& control) const {
  require(form.rows() == n_terms_ && form.cols() == n_terms_, "form must have shape (", n_terms_, ", ", n_terms_, ")");
  // B'M, then B'M B
  change_basis<true>(form, n_terms_, control);
  transpose(form, n_terms_, control);
  change_basis<true>(form, n_terms_, control);
  // A fixed number of partial sums, whatever the number of threads
  constexpr Index n_parts = 8;
  const Index n_left = left_.n_parts;
  const Index n_right = right_.n_parts;
  Matrix parts = zeros(n_moments_, n_parts, control);
  const double work = 8.0 * static_cast<double>(n_terms_) * static_cast<double>(n_terms_);
  parallel_for(control, n_parts, work, [&](Index part, int) {
    std::vector<double> sums(size_of(right_.n_sums()));
    for (Index left_b = part; left_b < n_left; left_b += n_parts) {
      for (Index left_a = 0; left_a < n_left; ++left_a) {
        const Index pair = left_b * n_left + left_a;
        const std::int32_t* begin = left_.pair_sum.data() + left_.pair_start[size_of(pair)];
        const std::int32_t* end = left_.pair_sum.data() + left_.pair_start[size_of(pair) + 1];
        const Index need = sums_up_to(reach_[size_of(left_a)] + reach_[size_of(left_b)]);
        const double share = 1.0 / static_cast<double>(end - begin);
        std::fill_n(sums.begin(), need, 0.0);
        for (const Member& b : members_[size_of(left_b)]) {
          const double* column = form.data() + Index{b.term} * form.outerStride();
          const std::int32_t* start = right_.pair_start.data() + Index{b.right_part} * n_right;
          for (const Member& a : members_[size_of(left_a)]) {
            const std::int32_t* from = right_.pair_sum.data() + start[a.right_part];
            const std::int32_t* to = right_.pair_sum.data() + start[a.right_part + 1];
            const double value = column[a.term] * (share / static_cast<double>(to - from));
            for (const std::int32_t* j = from; j < to; ++j) sums[size_of(*j)] += value;
          }
        }
        for (const std::int32_t* i = begin; i < end; ++i) {
          double* row = parts.data() + part * n_moments_ + sum_start_[size_of(*i)];
          for (Index j = 0; j < need; ++j) row[j] += sums[size_of(j)];
        }
      }
    }
  });
  std::copy_n(parts.data(), n_moments_, coefficients);
  for (Index part = 1; part < n_parts; ++part)
    for (Index i = 0; i < n_moments_; ++i) coefficients[i] += parts(i, part);
}

void MomentPlan::evaluate_forms(const Samples& samples, const double* coefficients, StridedView<double> values,
                                const Control& control) const {
  Staircase(left_basis_, right_basis_, right_input_, rows(0)).evaluate(samples, coefficients, values, control);
}

}  // namespace gegenbauer
