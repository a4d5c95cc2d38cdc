#!/bin/sh
# One task of a Slurm array makes one shard of a job. All nodes see the folder DIR, and run the same file:
#
#	array=$(sbatch --parsable --array=1-N slurm.sh N DIR run all --seeds 40)
#	sbatch --dependency=afterok:"$array" --wrap "wander-lab merge DIR --out docs"
#
# The array counts from 1 to N. WANDER_LAB is the program, wander-lab if it is not given. A task that is run again finds its shard if it
# was made, and nothing of it otherwise.
#
#SBATCH --job-name=wander-lab
#SBATCH --requeue
set -eu
shards=$1 dir=$2
shift 2
exec "${WANDER_LAB:-wander-lab}" "$@" --shard "task/$shards" --shards "$dir"
