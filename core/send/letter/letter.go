// Package letter holds what mails about sends say. Views write them.
package letter

// Kind is what a mail about a send says.
type Kind string

// The kinds of mails: the first five go to customers, the others to approvers and owners.
const (
	Claim       Kind = "claim"        // name an address
	Confirm     Kind = "confirm"      // confirm the address
	OnItsWay    Kind = "on_its_way"   // the refund was seen on the network
	Done        Kind = "done"         // the refund is final
	AnotherWay  Kind = "another_way"  // the refund was sent in another way, as people say
	Approve     Kind = "approve"      // a send waits for approval
	ApproveFile Kind = "approve_file" // payouts of a file wait for approval
	Marked      Kind = "marked"       // a person says that a send was sent in another way; another must agree
	PaidTwice   Kind = "paid_twice"   // a second transaction pays a send
	Reversed    Kind = "reversed"     // a final send left the chain
	Sent        Kind = "sent_anyway"  // a send that had ended was seen all the same
)

// ToCustomer reports that a mail goes to the customer of a refund.
func (k Kind) ToCustomer() bool {
	return k == Claim || k == Confirm || k == OnItsWay || k == Done || k == AnotherWay
}

// Letter is a mail about a send, to be written by views.
type Letter struct {
	Kind          Kind
	Language      string // of the recipient; "" for none
	Business      string
	Contact       string // how customers reach the business; "" for nothing
	Name          string // of the recipient
	Count         int    // of the payouts of a file; 0 for a mail about one send
	Amount        string // with the coin's symbol; of a file the total of each coin
	Network       string // as people say it
	Send, Payment string // references; Payment is "" for none
	Address       string
	Tag           *int64
	Hash          string
	URL           string // of the page that the mail asks the recipient to open; "" for none
	Test          bool
}
