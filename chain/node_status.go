package chain

// NodeStatus is the state of one node of a network, for operators.
type NodeStatus struct {
	Host    string // host:port, never a credential
	Dialect string // its protocol: "core", "btcd", "esplora", "rippled", "clio"; "" while unknown
	Version string // as the node reports it; "" if it doesn't
	Height  int64
	Hash    string
	InUse   bool   // it is the node that is asked
	Problem string // a sentence; "" when healthy
	Note    string // a sentence that operators should know although the node is healthy, or ""
	Calls   int64  `json:"-"` // that this process made to it in the last 24 hours
}
