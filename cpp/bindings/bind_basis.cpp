#include <algorithm>
#include <tuple>

#include "bindings.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/tensor_basis.hpp"

namespace gegenbauer::bindings {

namespace {

// starts, values and slopes of a piecewise linear map
using Pieces = std::tuple<std::vector<double>, std::vector<double>, std::vector<double>>;

IndexSet index_set_from(const std::string& name) {
  if (name == "total_degree") return IndexSet::total_degree;
  if (name == "tensor") return IndexSet::tensor;
  if (name == "hyperbolic_cross") return IndexSet::hyperbolic_cross;
  require(name == "largest_weight", "unknown index_set '", name, "'");
  return IndexSet::largest_weight;
}

TermOrder order_from(const std::string& name) {
  if (name == "grlex") return TermOrder::grlex;
  if (name == "grlex_ascending") return TermOrder::grlex_ascending;
  require(name == "grevlex", "unknown order '", name, "'");
  return TermOrder::grevlex;
}

IndexSetSpec make_spec(Index n_inputs, const std::string& index_set, std::optional<Index> degree,
                       std::vector<Index> degrees, std::optional<Index> n_terms, std::optional<Index> max_inputs,
                       const std::string& order, Spectrum spectrum) {
  IndexSetSpec spec;
  spec.n_inputs = n_inputs;
  spec.kind = index_set_from(index_set);
  spec.degree = degree;
  spec.degrees = std::move(degrees);
  spec.n_terms = n_terms;
  spec.max_inputs = max_inputs;
  spec.order = order_from(order);
  spec.spectrum = std::move(spectrum);
  return spec;
}

template <class Scalar>
void def_evaluate(py::class_<TensorBasis>& cls) {
  const auto evaluate = [](const TensorBasis& basis, const auto& x, const BoxMap* box, Array<Scalar> out,
                           int n_threads) {
    const Samples rows = samples(x, box, basis.n_inputs());
    const auto target = mutable_view(out, "out");
    without_gil(n_threads, [&](const Control& control) { evaluate_terms(basis, rows, target, control); });
  };
  cls.def(
      "evaluate",
      [evaluate](const TensorBasis& basis, const Array<double>& x, const BoxMap* box, Array<Scalar> out,
                 int n_threads) { evaluate(basis, x, box, std::move(out), n_threads); },
      py::arg("X").noconvert(), py::arg("box").none(true), py::arg("out").noconvert(), py::arg("n_threads"));
  cls.def(
      "evaluate",
      [evaluate](const TensorBasis& basis, const Array<float>& x, const BoxMap* box, Array<Scalar> out, int n_threads) {
        evaluate(basis, x, box, std::move(out), n_threads);
      },
      py::arg("X").noconvert(), py::arg("box").none(true), py::arg("out").noconvert(), py::arg("n_threads"));
}

Array<std::int32_t> table(const TensorBasis& basis, std::int32_t (MultiIndexSet::*entry)(Index) const) {
  Array<std::int32_t> out(basis.n_terms());
  auto v = out.mutable_unchecked<1>();
  for (Index l = 0; l < basis.n_terms(); ++l) v(l) = (basis.indices().*entry)(l);
  return out;
}

}  // namespace

void bind_basis(py::module_& m) {
  m.def(
      "eval_gegenbauer",
      [](const Array<double>& x, Index degree, double lam, const std::string& normalization) {
        constexpr Index most_degrees = 100'000;
        require(degree >= 0 && degree <= most_degrees, "degree must lie between 0 and ", most_degrees, ", got ",
                degree);
        const double* points = entries(x, x.size(), "x");
        const Index n = x.size();
        room_for({n, degree + 1}, "the result");
        const Recurrence recurrence(lam, degree, normalization_from(normalization));
        Array<double> out({n, degree + 1});
        double* values = out.mutable_data();
        without_gil(1, [&](const Control& control) {
          constexpr Index block = 64;
          std::vector<double> table(size_of(block * (degree + 1)));
          for (Index first = 0; first < n; first += block) {
            control.check();
            const Index count = std::min(block, n - first);
            recurrence.evaluate(points + first, count, table.data(), block);
            for (Index s = 0; s < count; ++s)
              for (Index k = 0; k <= degree; ++k)
                values[(first + s) * (degree + 1) + k] = table[size_of(k * block + s)];
          }
        });
        return out;
      },
      py::arg("x").noconvert(), py::arg("degree"), py::arg("lam"), py::arg("normalization"),
      "Values of all degrees, shape (n, degree + 1).");

  m.def(
      "orthonormal_recurrence",
      [](const Array<double>& x, const Array<double>& weights, Index n, double resolution) {
        constexpr Index most = 100'000;
        require(n >= 1 && n <= most, "n must lie between 1 and ", most, ", got ", n);
        require(x.size() > 0, "x must not be empty");
        const Eigen::Map<const Vector> nodes(entries(x, x.size(), "x"), x.size());
        const Eigen::Map<const Vector> shares(entries(weights, x.size(), "weights"), x.size());
        room_for({x.size() + n, 5}, "the polynomials");
        return to_numpy(
            without_gil(1, [&](const Control&) { return orthonormal_recurrence(nodes, shares, n, resolution); }));
      },
      py::arg("x").noconvert(), py::arg("weights").noconvert(), py::arg("n"), py::arg("resolution"),
      "Rows (a_k, b_k) of the recurrence of the orthonormal polynomials of a distribution, at most n.");
  m.def(
      "count_terms",
      [](Index n_inputs, const std::string& index_set, std::optional<Index> degree, std::vector<Index> degrees,
         std::optional<Index> n_terms, std::optional<Index> max_inputs, const std::string& order,
         const std::vector<Component>& spectrum, const std::vector<LevelsOfInput>& levels) {
        const TermCount count = count_terms(make_spec(n_inputs, index_set, degree, std::move(degrees), n_terms,
                                                      max_inputs, order, spectrum_from(n_inputs, spectrum, levels)));
        return std::pair(count.is_exact() ? std::optional(count.exact) : std::nullopt, count.approximate);
      },
      py::arg("n_inputs"), py::arg("index_set"), py::arg("degree"), py::arg("degrees"), py::arg("n_terms"),
      py::arg("max_inputs"), py::arg("order"), py::arg("spectrum"), py::arg("levels"),
      "(exact number or None when it is beyond 2^63, nearest float64).");

  m.def(
      "squared_weights",
      [](Index n_inputs, const std::vector<Component>& components, Index degree) {
        constexpr Index most = 10'000'000;
        require(degree >= 0 && degree <= most, "degree must lie between 0 and ", most, ", got ", degree);
        room_for({2, n_inputs, degree + 1}, "the table of the weights");
        const Spectrum spectrum = spectrum_from(n_inputs, components);
        Array<double> out({n_inputs, degree + 1});
        auto v = out.mutable_unchecked<2>();
        std::vector<std::vector<double>> groups;
        for (Index g = 0; g < spectrum.n_groups(); ++g)
          groups.push_back(spectrum.squared_weights(spectrum.representative(g), degree));
        for (Index t = 0; t < n_inputs; ++t)
          for (Index n = 0; n <= degree; ++n) v(t, n) = groups[size_of(spectrum.group(t))][size_of(n)];
        return out;
      },
      py::arg("n_inputs"), py::arg("spectrum"), py::arg("degree"), "v_t(n), shape (n_inputs, degree + 1).");

  m.def(
      "level_contrasts",
      [](std::vector<double> shares, Index up_to) {
        constexpr Index most = 1'000'000;
        const std::vector<Levels> levels = checked_levels({{std::move(shares), false}}, 1);
        const Index n_contrasts = std::min(levels.front().n_contrasts(), up_to);
        require(n_contrasts >= 0 && n_contrasts <= most, "up_to must lie between 0 and ", most, ", got ", up_to);
        room_for({static_cast<Index>(levels.front().shares.size()), n_contrasts, 2}, "the contrasts");
        return to_numpy(level_contrasts(levels.front(), n_contrasts));
      },
      py::arg("shares"), py::arg("up_to"), "Values of the first contrasts, shape (n_levels, at most up_to).");

  bind_class<BoxMap>(m, "BoxMap", "Map of a box onto the domain, column by column.")
      .def(py::init([](std::vector<double> half_lower, std::vector<double> half_range, std::vector<double> span,
                       std::vector<double> offset, bool clip, std::vector<Pieces> warping) {
             BoxMap map{std::move(half_lower), std::move(half_range), std::move(span), std::move(offset), clip};
             for (auto& [starts, values, slopes] : warping) {
               require(starts.size() == values.size() && starts.size() == slopes.size() &&
                           std::is_sorted(starts.begin(), starts.end()),
                       "pieces of a map need as many starts, which ascend, as values and slopes");
               map.warping.push_back({std::move(starts), std::move(values), std::move(slopes)});
             }
             return map;
           }),
           py::arg("half_lower"), py::arg("half_range"), py::arg("span"), py::arg("offset"), py::arg("clip"),
           py::arg("warping") = std::vector<Pieces>{},
           "`warping` has starts, values and slopes of the pieces of each input, or is empty.");

  auto basis = bind_class<TensorBasis>(m, "TensorBasis", "Immutable plan: index set and recurrence.");
  basis.def(py::init([](Index n_inputs, const std::string& index_set, std::optional<Index> degree,
                        std::vector<Index> degrees, std::optional<Index> n_terms, std::optional<Index> max_inputs,
                        const std::string& order, double lam, const std::string& normalization,
                        const std::vector<Component>& components, const std::vector<LevelsOfInput>& levels) {
              const Spectrum spectrum = spectrum_from(n_inputs, components, levels);
              const IndexSetSpec spec =
                  make_spec(n_inputs, index_set, degree, std::move(degrees), n_terms, max_inputs, order, spectrum);
              const Normalization kind = normalization_from(normalization);
              // larger sets are refused as such
              if (const TermCount count = count_terms(spec); count.is_exact() && count.exact < 1'000'000'000)
                room_for({2, static_cast<Index>(count.exact)}, "the index set");
              return without_gil(1, [&](const Control& control) {
                return TensorBasis(spec, lam, kind, term_spectrum(kind, spectrum), control);
              });
            }),
            py::arg("n_inputs"), py::arg("index_set"), py::arg("degree"), py::arg("degrees"), py::arg("n_terms"),
            py::arg("max_inputs"), py::arg("order"), py::arg("lam"), py::arg("normalization"), py::arg("spectrum"),
            py::arg("levels"));
  basis.def_property_readonly("n_inputs", &TensorBasis::n_inputs);
  basis.def_property_readonly("n_terms", &TensorBasis::n_terms);
  basis.def_property_readonly("fits_float32", &TensorBasis::fits_float32);
  basis.def_property_readonly("parents", [](const TensorBasis& b) { return table(b, &MultiIndexSet::parent); });
  basis.def_property_readonly("inputs", [](const TensorBasis& b) { return table(b, &MultiIndexSet::input); });
  basis.def_property_readonly("degrees", [](const TensorBasis& b) { return table(b, &MultiIndexSet::degree); });
  basis.def(
      "substitution",
      [](const TensorBasis& b, Index column, double scale, double shift) {
        require(column >= 0 && column < b.n_inputs(), "column must lie between 0 and ", b.n_inputs() - 1);
        const Recurrence& recurrence = b.functions().recurrences()[column];
        room_for({2, recurrence.degree() + 1, recurrence.degree() + 1}, "the matrix of the substitution");
        return to_numpy(recurrence.substituted({scale, shift}));
      },
      py::arg("column"), py::arg("scale"), py::arg("shift"),
      "c with p_n(scale x + shift) = sum over j of c[n, j] p_j(x), for the polynomials of that input.");
  def_evaluate<double>(basis);
  def_evaluate<float>(basis);
}

}  // namespace gegenbauer::bindings
