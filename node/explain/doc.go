// Package explain says in one sentence why nothing runs, for people who have never heard of tokens. It is
// pure: a status in, a cause and a sentence out, with the ages that the status has. The daemon puts both
// into its status (api.Why), so that every program shows the same words.
//
//	explain.Status(&st, now) // fills st.Why, and Why of each resource
//
// A cause is a word that does not change. docs/troubleshooting.md has one section for each: what the sentence
// means, what to look at, and what to do. Of several causes the one is named that has to go first: what
// ends the daemon, then what keeps it from all resources, then what keeps a resource from it.
package explain
