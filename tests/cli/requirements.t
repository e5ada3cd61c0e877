#!/bin/sh
# Every rule of a finished part is named by a test: docs/requirements.md.
exec "$(dirname "$0")/../../tools/requirements"
