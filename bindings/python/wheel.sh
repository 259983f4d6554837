#!/usr/bin/env bash
# Builds the wheel of a library that is there: wheel.sh PYTHON LIBRARY FOLDER
# Needs setuptools, wheel and build (Debian: python3-setuptools, -wheel, -build); no index is asked.
set -euo pipefail
python=$1 library=$2 folder=$(realpath "$3")
source=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$source/." "$work/"
mkdir -p "$work/sdm/_lib" "$work/sdm/models"
install -m 644 "$(realpath "$library")" "$work/sdm/_lib/libsdm.so"
strip --strip-unneeded "$work/sdm/_lib/libsdm.so"
# Highway is a library of its own on Debian: it comes along, and is looked for beside ours.
hwy=$(ldd "$library" | awk '$1 ~ /^libhwy\.so/ {print $3}')
if [ -n "$hwy" ]; then install -m 644 "$(realpath "$hwy")" "$work/sdm/_lib/$(basename "$hwy")"; fi
# What the library is made of besides our own code, in the words of its authors.
for name in libhwy1 libeigen3-dev libfmt-dev nlohmann-json3-dev; do
  if [ -e "/usr/share/doc/$name/copyright" ]; then install -m 644 "/usr/share/doc/$name/copyright" "$work/sdm/_lib/$name.copyright"; fi
done
cp "$source"/../../models/*.sdm "$source"/../../models/*.md "$work/sdm/models/"
cp "$source/../../LICENSE" "$work/"
find "$work" -name __pycache__ -prune -exec rm -r {} +
# The same bytes from the same files, whoever builds: a wheel holds the rights of its files.
umask 022
chmod -R u=rwX,go=rX "$work"
(cd "$work" && "$python" -m build --wheel --no-isolation --outdir "$folder" . >build.log 2>&1) || { cat "$work/build.log" >&2; exit 1; }
