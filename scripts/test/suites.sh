# Sourced: sets `suites` to the folder with the official suites, or to nothing. HOIST_SUITES names it; else it is
# looked for in ../shared/suites beside the checkout.
suites=${HOIST_SUITES:-$(pwd)/../shared/suites}
[ -d "$suites/spec" ] && suites=$(cd "$suites" && pwd) || suites=
