#!/usr/bin/env bash
# Installs the SDK servers that the benchmarks stand beside Toolgate, at the versions pinned beside this file, into the
# folder given. A second run with the same pins only copies the scripts.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
peers=${1:?usage: install.sh DIR}

bash "$here/../../tests/peers/install.sh" "$here" "$peers"
# Packages are found from where a script lies.
cp "$here"/*.mjs "$here"/*.py "$peers/"
