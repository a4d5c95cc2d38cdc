// Package uncoordinated is the benchmark of A. Ciuffoletti's papers on the
// wandering token, as a circulation policy: nobody waits for anybody. Each
// member runs the operation at random times of its own.
//
// No token circulates. A member that is about to run makes a token (Generate),
// runs under it (Run), and removes it when the operation has ended (Drop,
// Spent). So the policy works wherever the others do, and each operation
// leaves signed evidence like theirs.
//
// The time between two starts is drawn uniformly from an interval:
//
//	journal  [Δop·Nmax/2, 3·Δop·Nmax/2]   journal paper, section 3: 1200 ± 600 s
//	         [Δmin, 3·Δmin]               the same, where min_interval is given
//	report   [Δmin, 3·Δmin/2]             report paper, section 2, with
//	                                      Δmin = 1.5·Δop·Nmax if it is not given
//
// # Where it says more than the papers
//
// The papers do not say when members start for the first time. Here it is
// uniformly within one mean period, so that members which begin together do not
// run together; whoever remembers an operation from before a restart keeps the
// shortest period from it, too.
//
// A member that nobody wants to run at lets its time pass and draws the next
// one. Demand waits for it, up to a whole period: taken at once, demand that
// appears everywhere at the same moment, as that of nightly jobs does, would
// have all members run at once.
//
// Members may be refused a token. Then they try again every Δop, until they get
// one or the demand is gone. An operation that lasts beyond the next start
// puts it off to its end.
//
// Tokens that come from elsewhere, as after a change of the policy, or that
// this member made for an operation which a restart has ended, are removed as
// Spent: no operation is theirs any more.
package uncoordinated
