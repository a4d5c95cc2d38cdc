#!/usr/bin/env bash
# Try lab/jobs/slurm.sh with a real Slurm on this machine:
#
#	lab/jobs/try-slurm.sh [N [COMMAND ARGUMENT...]]
#
# It starts munged, slurmctld and slurmd of the distribution (Debian: slurm-wlm, munge) in a folder of their own, on the loopback
# interface, submits an array of N shards (3) and the merge after it, and compares with the job that is not split. The job is
# journal-fig2 with 6 seeds unless one is given. It ends the daemons by their numbers. Where Slurm is not installed it says so, and exits with 0.
set -euo pipefail
source=$(cd "$(dirname "$0")" && pwd)
for program in munged slurmctld slurmd sbatch scontrol squeue; do
	PATH=$PATH:/usr/sbin command -v "$program" >/dev/null || { echo "skipped: $program is not installed"; exit 0; }
done
PATH=$PATH:/usr/sbin
n=${1:-3}
[ $# = 0 ] || shift
[ $# -gt 0 ] || set -- run journal-fig2 --seeds 6

dir=$(mktemp -d)
chmod 755 "$dir" # munged wants no folder above its socket that others may write to
daemons=()
finish() {
	code=$?
	for pid in "${daemons[@]}"; do kill "$pid" 2>/dev/null || true; done
	for pid in "${daemons[@]}"; do wait "$pid" 2>/dev/null || true; done
	[ "$code" = 0 ] || tail -n 20 "$dir"/*.log >&2
	rm -rf "$dir"
}
trap finish EXIT

go build -C "$source/../.." -o "$dir/wander-lab" ./cmd/wander-lab
export WANDER_LAB=$dir/wander-lab SLURM_CONF=$dir/slurm.conf
user=$(id -un)
mkdir "$dir/state" "$dir/spool" "$dir/run"
(umask 077 && head -c 128 /dev/urandom >"$dir/munge.key")
munged --foreground --force --key-file="$dir/munge.key" --socket="$dir/run/munge.sock" --log-file="$dir/munged.log" \
	--pid-file="$dir/run/munged.pid" --seed-file="$dir/run/munged.seed" --num-threads=2 2>"$dir/munged.err.log" &
daemons+=($!)

# The ports are free now. Slurm cannot take just any.
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
cat >"$SLURM_CONF" <<EOF
ClusterName=try
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$(port)
SlurmdPort=$(port)
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$dir/run/munge.sock
SlurmUser=$user
SlurmdUser=$user
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/run/slurmctld.pid
SlurmdPidFile=$dir/run/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_interval=1
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
EOF
for i in $(seq 100); do [ ! -S "$dir/run/munge.sock" ] || break; sleep 0.1; done
slurmctld -D -c 2>"$dir/slurmctld.err.log" &
daemons+=($!)
slurmd -D -c 2>"$dir/slurmd.err.log" &
daemons+=($!)
for i in $(seq 300); do
	! sinfo --noheader --format=%T 2>/dev/null | grep -q idle || break
	[ "$i" -lt 300 ] || { echo "the node is not idle" >&2; exit 1; }
	sleep 0.2
done
echo "$(sinfo --version) with $(nproc) processors on $(hostname -s)"

# What the unsplit job prints of times differs in each run.
timeless() { grep -v 'the runs of one seed took' "$1" || true; }
code=0
"$WANDER_LAB" "$@" >"$dir/whole.out" 2>"$dir/whole.err" || code=$?
array=$(sbatch --parsable --output="$dir/task-%a.out" --array="1-$n" "$source/slurm.sh" "$n" "$dir/parts" "$@")
merge=$(sbatch --parsable --output="$dir/merged.out" --error="$dir/merged.err" --dependency=afterok:"$array" \
	--wrap "\"$WANDER_LAB\" merge \"$dir/parts\"; echo \$? >\"$dir/merged.code\"")
while [ -n "$(squeue --noheader --jobs="$array,$merge" 2>/dev/null)" ]; do
	! squeue --noheader --format=%r --jobs="$merge" 2>/dev/null | grep -q DependencyNeverSatisfied || { cat "$dir"/task-*.out >&2; exit 1; }
	sleep 0.5
done
for i in $(seq 50); do [ ! -s "$dir/merged.code" ] || break; sleep 0.1; done
cat "$dir"/task-*.out
[ "$(ls "$dir/parts" | wc -l)" = "$n" ] || { echo "there are not $n shards" >&2; exit 1; }
[ "$(cat "$dir/merged.code")" = "$code" ] || { echo "the merge exited with $(cat "$dir/merged.code"), the job with $code" >&2; exit 1; }
cmp <(timeless "$dir/whole.out") <(timeless "$dir/merged.out")
cmp "$dir/whole.err" "$dir/merged.err"
echo "the merge of $n shards is the unsplit job: $(wc -c <"$dir/merged.out") bytes, exit code $code"
