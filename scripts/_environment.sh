# Sourced by quickstart and test: makes or reuses .venv and installs pinned versions.
# shellcheck shell=bash
set -euo pipefail
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$ROOT"

say() { printf '\n==> %s\n' "$*"; }

# install EXTRAS: the package, editable, with the given extras ("" for none).
install() {
  local extras="$1" python="${PYTHON:-python3}"
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "symmf needs Python 3.11 or newer; $python is $("$python" --version 2>&1)." \
         "Set PYTHON to a newer interpreter." >&2
    exit 2
  }
  [ -x .venv/bin/python ] || { say "Making .venv"; "$python" -m venv .venv; }
  # Skip the work when neither the pins, the extras nor the project file changed.
  local stamp wanted
  stamp=".venv/.installed-${extras:-base}"
  wanted="$(cat pyproject.toml scripts/constraints.txt | cksum) $ROOT"
  if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
    say "Installing symmf${extras:+ with $extras} (pinned versions)"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check \
      --constraint scripts/constraints.txt --editable ".${extras:+[$extras]}"
    printf '%s' "$wanted" > "$stamp"
  fi
  # The checkout as it is now, wherever it was installed from.
  export PATH="$ROOT/.venv/bin:$PATH"
}

# Real data beside the checkout are used when SYMMF_DATA names no other place.
find_data() {
  if [ -z "${SYMMF_DATA:-}" ] && [ -d ../shared/datasets ]; then
    SYMMF_DATA="$(cd ../shared/datasets && pwd)"
    export SYMMF_DATA
  fi
}
