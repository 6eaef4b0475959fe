// A plugin whose functions are called as if they were C++. Whatever it does, the host goes on.
#include <cstdio>
#include <hoist/hoist.hpp>
#include <utility>

static constexpr const char* kPlugin = R"((module
  (func (export "score") (param i32 f64) (result f64)
    (f64.mul (f64.convert_i32_s (local.get 0)) (local.get 1)))
  (func (export "divide") (param i32 i32) (result i32 i32)
    (i32.div_s (local.get 0) (local.get 1)) (i32.rem_s (local.get 0) (local.get 1)))))";

class Plugin {
 public:
  static hoist::Result<Plugin> load(const hoist::Engine& engine, const char* text) {
    auto module = hoist::Module::from_text(engine, text);
    if (!module) return std::move(module).error();
    hoist::Store store(engine);
    auto instance = hoist::Instance::create(store, *module);
    if (!instance) return std::move(instance).error();
    auto score = instance->typed<double(std::int32_t, double)>("score");
    if (!score) return std::move(score).error();
    auto divide =
        instance->typed<std::tuple<std::int32_t, std::int32_t>(std::int32_t, std::int32_t)>(
            "divide");
    if (!divide) return std::move(divide).error();
    return Plugin{std::move(store), *score, *divide};
  }

  hoist::Store store;
  hoist::TypedFunc<double(std::int32_t, double)> score;
  hoist::TypedFunc<std::tuple<std::int32_t, std::int32_t>(std::int32_t, std::int32_t)> divide;

 private:
  Plugin(hoist::Store s, decltype(score) f, decltype(divide) g)
      : store(std::move(s)), score(f), divide(g) {}
};

int main() {
  auto engine = hoist::Engine::create();
  if (!engine) return 1;
  auto plugin = Plugin::load(*engine, kPlugin);
  if (!plugin) return std::fprintf(stderr, "%s\n", plugin.error().message().c_str()), 1;
  std::printf("score: %g\n", *plugin->score(3, 1.5));
  auto [quotient, remainder] = *plugin->divide(17, 5);
  std::printf("17 = 5 * %d + %d\n", quotient, remainder);
  auto failed = plugin->divide(1, 0);
  std::printf("1 / 0: %s\n", failed ? "?" : failed.error().message().c_str());
}
