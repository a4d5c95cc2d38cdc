package ring

// rulesS: the token always moves and nobody asks for it (section 2). Theorem
// 2.1: a finite set of requests may cost any number of messages.
var rulesS = rules{
	ask:    func(*Station) bool { return false },
	relay:  func(*Station) bool { return false },
	absorb: nothing,
	hop:    nothing,
	serve:  nothing,
	moves:  func(*Station) bool { return true },
	leaves: func(*Station, bool) bool { return true },
}
