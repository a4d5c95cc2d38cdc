// Package page serves a page for people: who has what, why nothing runs and when it is whose turn, as one
// member knows it.
//
//	p := page.New(source)
//	p.Handler()                              // below the local API's socket
//	p.NewServer(log).Serve(listener)         // on a loopback address
//
// # The walk of a state
//
//	Source.Status, Members, History   the member; asked at most once in sampleAge, and only while
//	         |                        somebody listens
//	      feed.latest                 one encoding, shared by all listeners
//	         |
//	      events                      one server-sent event for each change, or each second
//	         |
//	  assets/page.js                  text and drawing, by textContent alone
//
// Nothing runs while nobody looks: there is no timer and no sample without an open stream.
//
// # What holds
//
// The page is read-only: GET and HEAD alone. A request names this machine's loopback address or localhost as its
// host, so that a name which an attacker points here reads nothing, and it comes from no other site. At most
// maxListeners streams are open at a time, and a listener that does not read for writeTimeout is dropped. The
// browser is told to load nothing from elsewhere, and to refuse text as markup.
//
// # What it does not do
//
// It decides nothing, and it remembers nothing: what has happened is in package history. The sentences are those
// of package explain, and the words about each cause those of docs/troubleshooting.md.
package page
