package networks

import "cointill/core/fault"

// TroubleCode names what keeps a network from being paid on, for pages that say it in another language.
type TroubleCode string

// The codes.
const (
	NotFollowed TroubleCode = "not_followed" // no node serves it any more
	NotRead     TroubleCode = "not_read"     // it was not read since it was connected
	CatchingUp  TroubleCode = "catching_up"  // blocks of it are missing
	NodesFail   TroubleCode = "nodes_fail"   // its nodes are silent, disagree, or show data that can't be counted
)

// Trouble is what keeps a network from being paid on. It is zero where nothing does.
type Trouble struct {
	Code     TroubleCode
	Sentence fault.Message
}

// DescribeUnserved says why a payment method can't be taken where no network of its coin is served.
func DescribeUnserved() fault.Message {
	return fault.NewMessage("No live network is configured for it yet. The operator of this server sets one up first.")
}
