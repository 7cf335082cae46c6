#!/usr/bin/env bash
# Installs the gateways that the benchmarks stand beside Toolgate, at the versions pinned beside this file, into the folder
# given. A second run with the same pins only copies the script.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
into=${1:?usage: install.sh DIR}

bash "$here/../../tests/peers/install.sh" "$here" "$into"
cp "$here"/*.py "$into/"

# The two of Python need different versions of the same packages.
if ! cmp --silent "$here/fastmcp.txt" "$into/fastmcp.txt"; then
  python3 -m venv "$into/.fastmcp"
  "$into/.fastmcp/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$here/fastmcp.txt"
  cp "$here/fastmcp.txt" "$into/fastmcp.txt"
fi

[[ -x $into/bin/mcp-proxy ]] || cargo install mcp-proxy --version 0.4.1 --locked --quiet --root "$into" --target-dir "$into/build"
