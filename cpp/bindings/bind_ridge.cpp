#include "bindings.hpp"
#include "gegenbauer/predict.hpp"
#include "gegenbauer/ridge.hpp"
#include "gegenbauer/total_degree_kernel.hpp"

namespace gegenbauer::bindings {

namespace {

constexpr std::pair<const char*, Engine> kEngines[] = {{"auto", Engine::automatic},
                                                       {"primal", Engine::primal},
                                                       {"moments", Engine::moments},
                                                       {"dual", Engine::dual},
                                                       {"kernel", Engine::kernel}};

Engine engine_from(const std::string& name) {
  for (const auto& [known, engine] : kEngines)
    if (name == known) return engine;
  throw std::invalid_argument("unknown engine '" + name + "'");
}

const char* name_of(Engine engine) {
  for (const auto& [name, known] : kEngines)
    if (engine == known) return name;
  return "";
}

Solver solver_from(const std::string& name) {
  if (name == "auto") return Solver::automatic;
  if (name == "cholesky") return Solver::cholesky;
  require(name == "orthogonal", "unknown solver '", name, "'");
  return Solver::orthogonal;
}

py::dict to_dict(const RidgeSolution& solution) {
  py::dict out;
  out["weights"] = to_numpy(solution.weights);
  out["engine"] = name_of(solution.report.engine);
  out["solver"] = solution.report.solver;
  out["rcond"] = solution.report.rcond;
  out["n_refinements"] = solution.report.n_refinements;
  out["correction"] = solution.report.correction;
  out["precision"] = solution.report.float32_products ? "float32" : "float64";
  out["rank"] = solution.report.rank;
  out["error"] = solution.report.error;
  return out;
}

using RowScale = std::optional<Array<double>>;

template <class Scalar>
void bind_ridge_of(py::module_& m) {
  m.def(
      "solve_ridge",
      [](const TensorBasis& basis, const Array<Scalar>& x, const BoxMap* box, const Array<double>& y,
         const RowScale& row_scale, double gamma, bool penalize_constant, const std::string& engine,
         const std::string& solver, bool float64_products, double max_bytes, int n_threads) {
        const Samples rows = samples(x, box, basis.n_inputs());
        const Design design{basis, rows, optional_entries(row_scale, rows.rows(), "row_scale"),
                            targets(y, rows.rows())};
        const RidgeOptions options{gamma,
                                   penalize_constant,
                                   engine_from(engine),
                                   solver_from(solver),
                                   float64_products ? Products::float64 : Products::automatic,
                                   max_bytes};
        return to_dict(
            without_gil(n_threads, [&](const Control& control) { return solve_ridge(design, options, control); }));
      },
      py::arg("basis"), py::arg("X").noconvert(), py::arg("box").none(true), py::arg("Y").noconvert(),
      py::arg("row_scale").noconvert().none(true), py::arg("gamma"), py::arg("penalize_constant"), py::arg("engine"),
      py::arg("solver"), py::arg("float64_products"), py::arg("max_bytes"), py::arg("n_threads"));

  m.def(
      "predict",
      [](const TensorBasis& basis, const Array<Scalar>& x, const BoxMap* box, const Array<double>& weights,
         Array<double> out, int n_threads) {
        const Samples rows = samples(x, box, basis.n_inputs());
        const auto w = view(weights, "weights");
        const auto target = mutable_view(out, "out");
        without_gil(n_threads, [&](const Control& control) { predict(basis, rows, w, target, control); });
      },
      py::arg("basis"), py::arg("X").noconvert(), py::arg("box").none(true), py::arg("weights").noconvert(),
      py::arg("out").noconvert(), py::arg("n_threads"));

  m.def(
      "accumulate_gram",
      [](const TensorBasis& basis, const Array<Scalar>& x, const BoxMap* box, const Array<double>& y,
         const RowScale& row_scale, Array<double> gram, int n_threads, const std::string& precision) {
        const Samples rows = samples(x, box, basis.n_inputs());
        const Design design{basis, rows, optional_entries(row_scale, rows.rows(), "row_scale"),
                            targets(y, rows.rows())};
        MatrixRef target = matrix(gram, "gram");
        const Precision kind = precision_from(precision);
        without_gil(n_threads, [&](const Control& control) { accumulate_gram(design, target, control, kind); });
      },
      py::arg("basis"), py::arg("X").noconvert(), py::arg("box").none(true), py::arg("Y").noconvert(),
      py::arg("row_scale").noconvert().none(true), py::arg("gram").noconvert(), py::arg("n_threads"),
      py::arg("precision") = "float64",
      "gram += lower triangle of [G, Y]'[G, Y], or its first columns, [G, Y]'G; targets are scaled by the caller.");

  m.def(
      "accumulate_kernel",
      [](const TensorBasis& basis, const Array<Scalar>& x, const BoxMap* box, const RowScale& row_scale,
         Array<double> kernel, int n_threads, const std::string& precision) {
        const Samples rows = samples(x, box, basis.n_inputs());
        const Design design{basis, rows, optional_entries(row_scale, rows.rows(), "row_scale"), {}};
        MatrixRef target = matrix(kernel, "kernel");
        const Precision kind = precision_from(precision);
        without_gil(n_threads, [&](const Control& control) { accumulate_kernel(design, 0, target, control, kind); });
      },
      py::arg("basis"), py::arg("X").noconvert(), py::arg("box").none(true),
      py::arg("row_scale").noconvert().none(true), py::arg("kernel").noconvert(), py::arg("n_threads"),
      py::arg("precision") = "float64", "kernel += lower triangle of G G'.");

  m.def(
      "accumulate_total_degree_kernel",
      [](const TensorBasis& basis, const Array<Scalar>& x, const BoxMap* box, const RowScale& row_scale,
         Array<double> kernel, int n_threads) {
        const Samples rows = samples(x, box, basis.n_inputs());
        const Design design{basis, rows, optional_entries(row_scale, rows.rows(), "row_scale"), {}};
        const MatrixRef target = matrix(kernel, "kernel");
        without_gil(n_threads,
                    [&](const Control& control) { accumulate_total_degree_kernel(design, 0, target, control); });
      },
      py::arg("basis"), py::arg("X").noconvert(), py::arg("box").none(true),
      py::arg("row_scale").noconvert().none(true), py::arg("kernel").noconvert(), py::arg("n_threads"),
      "The same, the terms of the complete part by a truncated product.");
}

}  // namespace

void bind_ridge(py::module_& m) {
  bind_ridge_of<double>(m);
  bind_ridge_of<float>(m);
  m.def(
      "solve_gram",
      [](Array<double> gram, Index n_terms, double gamma, bool penalize_constant, int n_threads) {
        const MatrixRef g = matrix(gram, "gram");
        return to_dict(without_gil(n_threads, [&](const Control& control) {
          return solve_gram(g, n_terms, gamma, penalize_constant, control);
        }));
      },
      py::arg("gram").noconvert(), py::arg("n_terms"), py::arg("gamma"), py::arg("penalize_constant"),
      py::arg("n_threads"));
  m.def(
      "estimate_bytes",
      [](const TensorBasis& basis, Index n_samples, Index n_outputs, double gamma, bool penalize_constant,
         const std::string& engine, const std::string& solver) {
        const RidgeOptions options{gamma, penalize_constant, engine_from(engine), solver_from(solver)};
        return without_gil(1, [&](const Control&) { return estimate_bytes(basis, n_samples, n_outputs, options); });
      },
      py::arg("basis"), py::arg("n_samples"), py::arg("n_outputs"), py::arg("gamma"), py::arg("penalize_constant"),
      py::arg("engine"), py::arg("solver"));
  m.def(
      "fit_cost",
      [](const TensorBasis& basis, Index n_samples, Index n_outputs) {
        const FitCost cost = without_gil(1, [&](const Control&) { return fit_cost(basis, n_samples, n_outputs); });
        return std::map<std::string, double>{
            {"primal", cost.primal}, {"moments", cost.moments}, {"dual", cost.dual}, {"kernel", cost.kernel}};
      },
      py::arg("basis"), py::arg("n_samples"), py::arg("n_outputs"));
  m.def(
      "moments_resolve",
      [](const TensorBasis& basis, double weight, double penalty) {
        return without_gil(1, [&](const Control&) { return moments_resolve(basis, weight, penalty); });
      },
      py::arg("basis"), py::arg("weight"), py::arg("penalty"));
}

}  // namespace gegenbauer::bindings
