#!/bin/bash
# Real members and a real gate before a real PostgreSQL, stopped and killed in turn for six minutes, and judged by the
# database's own rows: a row of an earlier session behind one of a later session is out of order.
#
#	go build -o /tmp/wander ./cmd/wander && mkdir /tmp/gated && cd /tmp/gated && bash .../soak/gate.sh /tmp/wander
#
# Needs the programs of PostgreSQL, an empty folder with a short name, a user that is not root, and the ports of 127.0.0.1 from
# 6134 to 6143. Each line it prints must end in "out of order: 0".
set -u
W=$(realpath "${1:?name the program wander}")
[ -z "$(ls -A)" ] || { echo "this folder is not empty"; exit 1; }
export PATH="$PATH:$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)"
mkdir -m 700 sock
(umask 077; head -c 24 /dev/urandom | base64 > password; echo "*:*:*:$(id -un):$(cat password)" > pgpass)
initdb -D data -A scram-sha-256 --pwfile password > initdb.log
printf 'local app app trust\nlocal all %s scram-sha-256\n' "$(id -un)" > data/pg_hba.conf # members enter as app alone
export PGPASSFILE="$PWD/pgpass"
cat >> data/postgresql.conf <<END
listen_addresses = ''
unix_socket_directories = '$PWD/sock'
client_connection_check_interval = '1s'
fsync = off
END
pg_ctl -D data -l postgres.log -w start > start.log
psql -h "$PWD/sock" -d postgres -qc 'create role app login'; psql -h "$PWD/sock" -d postgres -qc 'create database app owner app'
psql -h "$PWD/sock" -U app app -qc 'create table notes (id serial, who text, fence bigint, at timestamptz default clock_timestamp())'
$W ca init --dir ca --name notes --no-passphrase > /dev/null 2>&1
cat > group.toml <<'END'
gossip_interval = "5s"
[[resource]]
name           = "db"
operation_time = "2s"
members_max    = 3
min_interval   = "100ms"
max_hold       = "20s"
END
$W ca config --dir ca group.toml > /dev/null
$W ca serve --dir ca --listen 127.0.0.1:6134 > ca.log 2>&1 &
sleep 1
$W join "$($W ca invite --dir ca --name gate-db --gate --address 127.0.0.1:6134 2>/dev/null)" --dir gate > /dev/null
id=$($W ca list --dir ca | awk '$2 == "gate-db" && $3 == "gate" { print $4; exit }')
printf 'gate = "%s"\ngate_address = "127.0.0.1:6135"\ngate_close_timeout = "1m"\n' $id >> group.toml # a busy machine takes long for psql
$W ca config --dir ca group.toml > /dev/null
cat > close-db <<END
#!/bin/sh
db="psql -XqtA -h $PWD/sock -d postgres"
\$db -c "select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = 'app'" > /dev/null &&
test "\$(\$db -c "select count(*) from pg_stat_activity where usename = 'app'")" = 0
END
chmod +x close-db
gate() { $W gate --dir gate --resource db --target "unix:$PWD/sock/.s.PGSQL.5432" --close "$PWD/close-db" --listen 127.0.0.1:6135 "$@" >> gate.log 2>&1 & G=$!; }
gate --floor 0
port=6140
for m in a b c; do
  $W join "$($W ca invite --dir ca --name $m --address 127.0.0.1:6134 2>/dev/null)" --dir $m --listen 127.0.0.1:$((port += 1)) > /dev/null
  $W node --config $m/wander.toml $([ $m = a ] && echo --found) > $m.log 2>&1 & eval pid_$m=$!
  sleep 1
done
cat > write <<'END'
#!/bin/bash
here=$(mktemp -d)
"$W" gate connect db --listen "$here/.s.PGSQL.5432" 2>/dev/null &
until [ -S "$here/.s.PGSQL.5432" ]; do sleep 0.02; done
echo "do \$\$ begin for i in 1..300 loop insert into notes (who, fence) values ('$1', $WANDER_GATE_FENCE); commit; perform pg_sleep(0.01); end loop; end \$\$;" |
	psql -XqtA -h "$here" -U app app > /dev/null 2>&1
kill %1
rm -r "$here"
END
export W
chmod +x write
rm -f stop; for m in a b c; do (while [ ! -e stop ]; do $W run db --socket $m/state/wander.sock --wait 3m -- ./write $m; sleep 0.2; done > run-$m.log 2>&1) & done
rows() { psql -XqtA -h "$PWD/sock" -d app -c "$1"; }
busy() { for i in $(seq 600); do $W gate status --dir gate 2>/dev/null | grep -q "OPEN" && return; sleep 0.1; done; echo "no session in 60 s"; }
holder() { tail -n 400 gate.log | grep "session opens" | tail -1 | sed 's/.*member=\([0-9a-f]*\).*/\1/'; }
for m in a b c; do eval id_$m=$($W ca list --dir ca | awk -v m=$m '$2 == m { print $4; exit }'); done
nameof() { for m in a b c; do eval [ "\$id_$m" = "$1" ] && echo $m; done; }
note() { echo "$(date +%T) $*; sessions so far: $(rows 'select count(distinct fence) from notes'), out of order: $(rows 'select count(*) from (select fence, max(fence) over (order by id rows between unbounded preceding and 1 preceding) m from notes) s where m > fence')"; }
sleep 40; note "nothing yet"
for round in 1 2; do
busy; m=$(nameof $(holder)); eval p=\$pid_$m; kill -STOP $p; sleep 15; kill -CONT $p; sleep 10; note "daemon of $m stopped for 15 s in its session"
busy; p=$(pgrep -n -u "$(id -u)" -f "psql -XqtA -h .* -U app app" ); kill -STOP $p 2>/dev/null; sleep 25; kill -CONT $p 2>/dev/null; sleep 5; note "psql stopped for 25 s"
busy; m=$(nameof $(holder)); eval p=\$pid_$m; kill -9 $p; sleep 2; $W node --config $m/wander.toml >> $m.log 2>&1 & eval pid_$m=$!; sleep 20; note "daemon of $m killed and started again"
busy; kill -STOP $G; sleep 15; kill -CONT $G; sleep 15; note "gate stopped for 15 s"
busy; kill -9 $G; gate; sleep 12; note "gate killed"
busy; kill -9 $G; f=$(rows 'select max(fence) from notes'); sleep 1; mv gate/gate/journal gate/old.$round; gate --floor $((f + 10)); sleep 45; note "gate killed, journal deleted"
done
touch stop; sleep 12
rows "select who, count(distinct fence), count(*) from notes group by 1 order by 1"
$W audit --group ca/group.crt gate/gate/journal a/state/journal b/state/journal c/state/journal | head -40
kill $G $(jobs -p) 2>/dev/null; sleep 2; pg_ctl -D data -m fast stop > stop.log
