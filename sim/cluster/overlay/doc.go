// Command overlay writes an overlay for the go command (go help build) with which
// a simulation of many members checks each signature once:
//
//	go run ./sim/cluster/overlay -dir /tmp/overlay
//	go test -overlay /tmp/overlay/overlay.json ./sim/cluster -run 'TestChurn$' -cluster.churn 24h
//
// A process that is a whole group sees every signature as often as there are
// members. In such a build package crypto/signature remembers its verdicts, by a
// hash of the whole key, the whole signature and the whole message (memo.txt); who
// asks cannot tell, but by the time it takes, and by a batch that draws no random
// numbers: a seed is another run than without. The package itself knows nothing of
// this. Its tests in such a build are those of memo_test.txt:
//
//	go test -overlay /tmp/overlay/overlay.json ./crypto/signature -run Memo
package main
