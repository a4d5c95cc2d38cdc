// Package group is what is signed about a group: the statements by which CA
// keys are known, and the configuration that all members share.
//
// A group is identified by its first CA key, so that key's statement proves
// itself; the statement of any later key is signed by one that was there
// before. A configuration lists the keys in force, so keys come and go while the
// group stays the same. Under those keys stand the group configuration,
// versioned, and the certificates and revocations of package certificate.
//
// Settings are a configuration that nobody has signed. Settings.Sign or
// ParseConfig turn them into a Config. A Group is the keys together with the
// configuration that holds; Load reads it from the group file.
package group
