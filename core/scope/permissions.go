package scope

import "cointill/core/fault"

// Action is something that a role may or may not do.
type Action string

// The actions of contract section 9. To see is weaker than to manage.
const (
	SeePayments    Action = "see_payments" // transactions, customers, exports, receipts
	StartPayments  Action = "start_payments"
	ResolvePayment Action = "resolve_payment" // record refunds and close reversed payments
	DecidePayment  Action = "decide_payment"  // accept declined payments, attach unmatched transfers
	DriveSandbox   Action = "drive_sandbox"   // simulate, advance and mine: never in live
	SeeLinks       Action = "see_links"
	ManageLinks    Action = "manage_links"
	SeeWebhooks    Action = "see_webhooks"
	ManageWebhooks Action = "manage_webhooks"
	ManageKeys     Action = "manage_keys"
	SeeMethods     Action = "see_methods"
	ToggleMethods  Action = "toggle_methods"
	SetReceiving   Action = "set_receiving" // receiving addresses and xpubs
	ManageBusiness Action = "manage_business"
	SeeAudit       Action = "see_audit"
	SeeBooks       Action = "see_books" // statements and the journal
	CloseMonths    Action = "close_months"
	SeeSends       Action = "see_sends"
	AskSends       Action = "ask_sends"     // refunds and payouts, and withdrawing them; notes about payments
	ApproveSends   Action = "approve_sends" // and payout rules
	SignSends      Action = "sign_sends"    // hand approved sends to a wallet, and take back signed transactions
	EraseCustomers Action = "erase_customers"
	UseTill        Action = "use_till"     // start payments at the counter, and see those
	SetTillPIN     Action = "set_till_pin" // and the domain of the till role
)

// reach is where a role may do an action.
type reach int

const (
	nowhere reach = iota
	inTest
	everywhere
)

// table holds the actions of each role. System is Cointill itself and the operator's command
// line: it may do everything. What API may do is the most that a key can; each endpoint needs one
// of the key's permissions besides (core/account/apikey).
var table = map[Action]map[Role]reach{
	SeePayments:    {Owner: everywhere, Admin: everywhere, Finance: everywhere, Developer: inTest, API: everywhere},
	StartPayments:  {Owner: everywhere, Admin: everywhere, Developer: inTest, API: everywhere, Till: everywhere},
	ResolvePayment: {Owner: everywhere, Admin: everywhere},
	DecidePayment:  {Owner: everywhere, Admin: everywhere, API: everywhere},
	DriveSandbox:   {Owner: inTest, Admin: inTest, Developer: inTest, API: inTest, System: inTest},
	SeeLinks:       {Owner: everywhere, Admin: everywhere, Finance: everywhere, Developer: inTest, API: everywhere},
	ManageLinks:    {Owner: everywhere, Admin: everywhere, Developer: inTest, API: everywhere},
	SeeWebhooks:    {Owner: everywhere, Admin: everywhere, Developer: everywhere, API: everywhere},
	ManageWebhooks: {Owner: everywhere, Admin: everywhere, Developer: inTest, API: everywhere},
	ManageKeys:     {Owner: everywhere, Admin: everywhere, Developer: inTest},
	SeeMethods:     {Owner: everywhere, Admin: everywhere, Finance: everywhere, Developer: everywhere, API: everywhere},
	ToggleMethods:  {Owner: everywhere, Admin: everywhere},
	SetReceiving:   {Owner: everywhere},
	ManageBusiness: {Owner: everywhere, Admin: everywhere},
	SeeAudit:       {Owner: everywhere, Admin: everywhere},
	SeeBooks:       {Owner: everywhere, Admin: everywhere, Finance: everywhere, API: everywhere},
	CloseMonths:    {Owner: everywhere, Admin: everywhere, Finance: everywhere},
	SeeSends:       {Owner: everywhere, Admin: everywhere, Finance: everywhere, Developer: inTest, API: everywhere},
	AskSends:       {Owner: everywhere, Admin: everywhere, Finance: everywhere, Developer: inTest, API: everywhere},
	ApproveSends:   {Owner: everywhere, Admin: everywhere},
	SignSends:      {Owner: everywhere, Admin: everywhere, API: everywhere},
	EraseCustomers: {Owner: everywhere},
	UseTill:        {Owner: everywhere, Admin: everywhere, Till: everywhere},
	SetTillPIN:     {Owner: everywhere},
}

// Actions lists every action that the table knows.
func Actions() []Action {
	return []Action{SeePayments, StartPayments, ResolvePayment, DecidePayment, DriveSandbox, SeeLinks, ManageLinks,
		SeeWebhooks,
		ManageWebhooks, ManageKeys, SeeMethods, ToggleMethods, SetReceiving, ManageBusiness, SeeAudit, SeeBooks,
		CloseMonths, SeeSends, AskSends, ApproveSends, SignSends, EraseCustomers, UseTill,
		SetTillPIN}
}

// Allows reports whether the scope's role may do the action in the scope's
// domain. Pages use it to hide actions that they would refuse.
func (s Scope) Allows(action Action) bool {
	return s.reachOf(action) == everywhere || s.Domain == Test && s.reachOf(action) == inTest
}

func (s Scope) reachOf(action Action) reach {
	roles, known := table[action]
	where, named := roles[s.Role]
	if known && s.Role == System && !named {
		return everywhere
	}
	return where
}

// CheckAction refuses an action that the role may not do in this domain, and a zero
// scope. Core operations call it first.
func (s Scope) CheckAction(action Action) error {
	if err := s.Check(); err != nil {
		return err
	}
	switch {
	case s.Allows(action):
		return nil
	case s.reachOf(action) == inTest && s.Role == Developer:
		return fault.New(fault.Forbidden, "role_not_allowed",
			"A developer may do this in the test domain only. Switch to test, or ask an owner or an admin.")
	case s.reachOf(action) == inTest:
		return fault.New(fault.Forbidden, "test_domain_only", "This works in the test domain only.")
	}
	return fault.New(fault.Forbidden, "role_not_allowed",
		"Your role may not do this. Ask an owner or an admin of the business.")
}
