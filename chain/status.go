package chain

// NodeStatus is how one node of a network does, for operators.
type NodeStatus struct {
	Host    string // host:port; never a credential
	Dialect string // what it speaks: "core", "btcd", "esplora", "rippled", "clio"; "" while unknown
	Version string // in the node's own words; "" where it doesn't say
	Height  int64
	Hash    string
	InUse   bool   // it is the one that is asked
	Problem string // a sentence; "" when it is well
	Note    string // what people should know although it is well: a sentence, or ""
}
