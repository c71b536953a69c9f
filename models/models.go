// Package models holds the tables: one struct a row, opening either database,
// and the migrations. Rows are plain data; rules live in core.
package models

// All lists every table, for the test that compares the migrations with these structs.
func All() []any {
	return []any{
		&Business{}, &User{}, &Member{}, &Session{}, &RecoveryCode{}, &Passkey{}, &PasskeyChallenge{}, &Device{},
		&Ticket{}, &Invitation{}, &Attempt{}, &APIKey{}, &Idempotency{}, &RateWindow{}, &Method{}, &Audit{},
		&AuditHead{}, &Logo{}, &APICall{}, &Alarm{}, &Instance{}, &Lease{},
		&Customer{}, &Payment{}, &Destination{}, &Holding{}, &Wallet{}, &ListedAddress{}, &Transfer{}, &Spend{},
		&Step{}, &Link{}, &Resolution{}, &JournalEntry{}, &JournalDay{}, &ClosedMonth{},
		&Send{}, &SendStep{}, &SendApproval{}, &SendClaim{}, &SendDestination{}, &PayoutAddress{},
		&PayoutWallet{}, &SendRules{},
		&Tally{}, &TallyDay{}, &TallyWait{}, &TallyChange{},
		&Event{}, &Endpoint{}, &EndpointPause{}, &Resend{}, &Delivery{}, &DeliveryAttempt{}, &Mail{},
		&Rate{}, &RateSource{}, &RateMinute{}, &RatePolicy{},
		&ChainCursor{}, &ChainBlock{}, &SandboxBlock{}, &SandboxTx{}, &SandboxPlan{},
	}
}
