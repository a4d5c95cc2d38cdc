// Package inspect shows any object of the project in readable form: keys and
// certificates in PEM, signed objects, messages, journals. What can be verified
// with the group at hand is verified, and everything says whether it was.
package inspect
