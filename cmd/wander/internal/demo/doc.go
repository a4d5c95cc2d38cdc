// Package demo runs a whole group on one machine: a throw-away CA, members that
// are processes of their own, real QUIC between them over loopback, and, when
// asked for, a relay between them that loses, delays and reorders datagrams
// and a hand that kills members with SIGKILL and starts them again.
//
// What it reports about custody is counted from the members' journals.
package demo
