// Package liars is members that follow the preset fair of the policy wandering, but
// for one lie, to be measured beside honest ones: what it gains them, and what it
// harms. It stands beside that package so that no daemon contains it. A liar is an
// honest member whose events and actions are changed on their way, by what the
// specification says of messages and tokens (P-33, P-34).
package liars
