#!/bin/sh
# [S8] The artifacts of `make dist`, once more in another folder and by another user.
# Without changes of the working copy against those that are there, else against a
# build of the commit.
cd "$(dirname "$0")/../.." || exit 1
# shellcheck disable=SC2086 # words
if [ -f "${MAPM_DIST-}/SHA256SUMS" ] && git diff --quiet HEAD; then
    exec packaging/reproducible --against "$MAPM_DIST" ${MAPM_PARTS-}
fi
# shellcheck disable=SC2086
exec packaging/reproducible ${MAPM_PARTS-}
