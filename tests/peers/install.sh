#!/usr/bin/env bash
# Installs the real MCP peers that the tests connect to Toolgate: the conformance suite, the Inspector, the TypeScript SDKs
# and Node 22 from npm, the Python SDK, Prometheus' parsers and readers of calendars from PyPI, all at the versions pinned beside this file.
#
# They go to ${TOOLGATE_PEERS_DIR:-target/peers}. A second run with the same pins does nothing. Two arguments name other
# pins and another folder, as the benchmarks do: install.sh PINS INTO.
set -euo pipefail

script=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/install.sh
here=$(cd "${1:-$(dirname "$script")}" && pwd)
peers=${2:-${TOOLGATE_PEERS_DIR:-$here/../../target/peers}}
pins=(package.json package-lock.json requirements.txt .npmrc)

fail() {
  echo "install.sh: $1" >&2
  echo "hint: $2" >&2
  exit 1
}

command -v npm >/dev/null || fail "npm is missing" "install Node.js 18 or later; the peers bring their own Node 22 as a package"
command -v python3 >/dev/null || fail "python3 is missing" "install Python 3.10 or later with its venv module"

mkdir -p "$peers/bin"
peers=$(cd "$peers" && pwd)
# Two runs at once must not install into each other.
if command -v flock >/dev/null; then
  exec 9>"$peers/lock"
  flock 9
fi

stamp=$(cd "$here" && { uname -m; cat "${pins[@]}" "$script"; } | cksum)
if [[ -f $peers/stamp && $(<"$peers/stamp") == "$stamp" ]]; then
  exit 0
fi

rm -f "$peers/stamp"
cp "${pins[@]/#/$here/}" "$peers/"

# No package here needs its install script, so none runs; OpenCode comes as a package for this machine.
(cd "$peers" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) ||
  fail "npm could not install the packages" "see npm's message above; is the package registry reachable?"

node=
for candidate in "$peers"/node_modules/node-linux-*/bin/node; do
  [[ -x $candidate ]] && node=$candidate
done
[[ -n $node ]] || fail "no Node 22 package for this machine ($(uname -sm))" "the peers run on Linux, x86_64 or aarch64"
ln -sfn "../${node#"$peers"/}" "$peers/bin/node"

[[ -x $peers/.venv/bin/python ]] || python3 -m venv "$peers/.venv" ||
  fail "python3 could not make a virtual environment" "install the venv module (Debian: python3-venv)"
"$peers/.venv/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$peers/requirements.txt" ||
  fail "pip could not install the packages" "see pip's message above; is the package index reachable?"

echo "$stamp" >"$peers/stamp"
