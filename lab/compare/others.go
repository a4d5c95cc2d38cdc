package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/go-redsync/redsync/v4"
	redispool "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/go-zookeeper/zk"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

// flock is a file of one machine. No other machine can take part.
var flock = &subject{
	name:    "flock",
	version: func() string { return firstLine("uname", "-sr") },
	start:   func(*cluster) error { return nil },
	role:    func(c *cluster, _ int) role { return role{File: filepath.Join(c.dir, "lock")} },
	open: func(r role) (locker, error) {
		f, err := os.OpenFile(r.File, os.O_CREATE|os.O_RDWR, 0o600)
		return fileLock{f}, err
	},
}

type fileLock struct{ *os.File }

func (f fileLock) Acquire(context.Context) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }
func (f fileLock) Release() error                { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

const redisPort = 6379

// redisOne is one server and a key with a time to live; redlock is three that know nothing of each other.
var (
	redisOne = redisOf("redis", 1)
	redlock  = redisOf("redlock", 3)
)

func redisOf(name string, servers int) *subject {
	return &subject{
		name: name, servers: servers, programs: []string{"redis-server"},
		version: func() string { return firstLine("redis-server", "--version") },
		start: func(c *cluster) error {
			for i := range servers {
				dir, err := c.folder(i)
				if err != nil {
					return err
				}
				if _, err := c.run(i, "redis", "redis-server", "--port", fmt.Sprint(redisPort), "--bind", c.machines[i].address.String(), "--dir", dir,
					"--protected-mode", "no", "--appendonly", "yes", "--appendfsync", "always"); err != nil { // a lock survives a crash of the server, as those of the others do
					return err
				}
			}
			return nil
		},
		role: func(c *cluster, _ int) role { return role{Servers: c.addresses(redisPort)} },
		open: func(r role) (locker, error) {
			var pools []redispool.Pool
			for _, s := range r.Servers {
				pools = append(pools, goredis.NewPool(redis.NewClient(&redis.Options{Addr: s})))
			}
			return &redisLock{redsync.New(pools...).NewMutex(lockName, redsync.WithExpiry(bound), redsync.WithTries(1<<20))}, nil
		},
	}
}

type redisLock struct{ m *redsync.Mutex }

func (l *redisLock) Acquire(ctx context.Context) error { return l.m.LockContext(ctx) }
func (l *redisLock) Release() error {
	_, err := l.m.Unlock()
	return err
}

const (
	etcdPort = 2379
	etcdPeer = 2380
)

var etcd = &subject{
	name: "etcd", servers: 3, programs: []string{"etcd"},
	version: func() string { return firstLine("etcd", "--version") },
	start: func(c *cluster) error {
		var peers []string
		for i, a := range c.addresses(etcdPeer) {
			peers = append(peers, fmt.Sprintf("s%d=http://%s", i, a))
		}
		for i := range c.servers {
			dir, err := c.folder(i)
			if err != nil {
				return err
			}
			url, peer := "http://"+c.addresses(etcdPort)[i], "http://"+c.addresses(etcdPeer)[i]
			if _, err := c.run(i, "etcd", "etcd", "--name", fmt.Sprintf("s%d", i), "--data-dir", dir, "--listen-client-urls", url, "--advertise-client-urls", url,
				"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", strings.Join(peers, ",")); err != nil {
				return err
			}
		}
		return nil
	},
	role: func(c *cluster, _ int) role { return role{Servers: c.addresses(etcdPort)} },
	open: func(r role) (locker, error) {
		client, err := clientv3.New(clientv3.Config{Endpoints: r.Servers, DialTimeout: startTime})
		if err != nil {
			return nil, err
		}
		session, err := concurrency.NewSession(client, concurrency.WithTTL(int(bound/time.Second)))
		if err != nil {
			return nil, err
		}
		return &etcdLock{concurrency.NewMutex(session, "/"+lockName)}, nil
	},
}

type etcdLock struct{ m *concurrency.Mutex }

func (l *etcdLock) Acquire(ctx context.Context) error { return l.m.Lock(ctx) }
func (l *etcdLock) Release() error                    { return l.m.Unlock(context.Background()) }

const (
	zookeeperPort = 2181
	// zookeeperJar is where Debian has it.
	zookeeperJar = "/usr/share/java/zookeeper.jar"
)

var zookeeper = &subject{
	name: "zookeeper", servers: 3, programs: []string{"java", zookeeperJar},
	version: func() string { return firstLine("dpkg-query", "-W", "zookeeper") },
	start: func(c *cluster) error {
		for i := range c.servers {
			dir, err := c.folder(i)
			if err != nil {
				return err
			}
			text := fmt.Sprintf("tickTime=2000\ninitLimit=10\nsyncLimit=5\nadmin.enableServer=false\ndataDir=%s\nclientPortAddress=%s\nclientPort=%d\n", dir, c.machines[i].address, zookeeperPort)
			for k, m := range c.machines[:c.servers] {
				text += fmt.Sprintf("server.%d=%s:2888:3888\n", k+1, m.address)
			}
			config := filepath.Join(dir, "zoo.cfg")
			if err := errors.Join(os.WriteFile(config, []byte(text), 0o600), os.WriteFile(filepath.Join(dir, "myid"), []byte(fmt.Sprint(i+1)), 0o600)); err != nil {
				return err
			}
			if _, err := c.run(i, "zookeeper", "java", "-Xmx256m", "-cp", "/etc/zookeeper/conf:/usr/share/java/*",
				"org.apache.zookeeper.server.quorum.QuorumPeerMain", config); err != nil {
				return err
			}
		}
		return nil
	},
	role: func(c *cluster, _ int) role { return role{Servers: c.addresses(zookeeperPort)} },
	open: func(r role) (locker, error) {
		conn, _, err := zk.Connect(r.Servers, bound, zk.WithLogInfo(false))
		if err != nil {
			return nil, err
		}
		return &zkLock{zk.NewLock(conn, "/"+lockName, zk.WorldACL(zk.PermAll))}, nil
	},
}

type zkLock struct{ l *zk.Lock }

func (l *zkLock) Acquire(context.Context) error { return l.l.Lock() }
func (l *zkLock) Release() error                { return l.l.Unlock() }
