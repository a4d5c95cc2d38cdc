// Package api is how programs of one machine talk to its daemon: HTTP/1.1 and
// JSON on a Unix socket that only its owner may use.
//
// A program asks for a resource with POST /v1/acquire and gets one JSON object
// per line for as long as it listens:
//
//	→ {"resource":"ftp","wait_ms":60000}
//	← {"v":1,"event":"granted","grant":{"id":…,"deadline":…,"fence":"3565158400000000042"}}
//	← {"v":1,"event":"lost","reason":"revoked"}
//
// Closing the connection before the grant withdraws the demand. Closing it
// afterwards changes nothing: the program may still be using the resource, so
// the grant stands until POST /v1/release or its deadline. The release names
// the grant, goes over any connection, also to a daemon that was restarted
// meanwhile, and may be repeated.
//
// GET /v1/status and GET /v1/members tell what this one member knows. Every
// object carries "v":1. Refusals are {"v":1,"error":{"code","message","hint"}};
// the codes are the sentinel errors of this package.
//
// The daemon's side is a Backend behind NewHandler, served by Server; the
// program's side is Client.
package api
