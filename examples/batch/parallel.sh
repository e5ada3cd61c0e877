#!/bin/sh
# parallel.sh [OPTION...]: issues.jsonl in eight shards, and all results as one file.
# Options are those of GNU parallel: --sshloginfile hosts, with the workspace in a folder
# that all of them have, such as NFS, and --wd for where it is.
set -eu

# A shard that lost its machine is started again, and goes on where it stopped; one
# whose inputs ended, some of them not well, is done (3).
parallel --retries 3 "$@" \
    'mapm run triage --batch issues.jsonl -j 4 --shard {}/8 \
        --journal journal --out out-{}.jsonl || [ $? = 3 ]' \
    ::: 0 1 2 3 4 5 6 7

mapm run triage --batch issues.jsonl --merge out-?.jsonl --out all.jsonl
