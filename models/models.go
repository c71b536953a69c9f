// Package models holds the tables: one struct a row, opening either database,
// and the migrations. Rows are plain data; rules live in core.
package models

// All lists every table, for the test that compares the migrations with these structs.
func All() []any {
	return []any{
		&Business{}, &User{}, &Member{}, &Session{}, &RecoveryCode{}, &Passkey{}, &PasskeyChallenge{}, &Device{},
		&Ticket{}, &Invitation{}, &Attempt{}, &APIKey{}, &Idempotency{}, &RateWindow{}, &Method{}, &MethodNetwork{}, &Audit{},
		&AuditHead{}, &Logo{}, &APICall{}, &Alarm{}, &Instance{}, &Lease{},
		&Customer{}, &Payment{}, &PaymentNetwork{}, &Destination{}, &Holding{}, &Wallet{}, &ListedAddress{},
		&HeldAmount{},
		&Transfer{}, &Spend{},
		&Step{}, &Link{}, &Resolution{}, &PaymentNote{}, &JournalEntry{}, &UnsummedEntry{}, &JournalDaySum{},
		&JournalMonthSum{}, &ClosedMonth{},
		&Send{}, &SendBatch{}, &SendStep{}, &SendApproval{}, &SendClaim{}, &SendDestination{}, &PayoutAddress{},
		&PayoutWallet{}, &SendRules{},
		&Tally{}, &TallyDay{}, &TallyWait{}, &TallyChange{},
		&Till{}, &CounterPayment{}, &GoingLiveStep{}, &SavedView{}, &PaymentValue{},
		&Event{}, &Endpoint{}, &EndpointPause{}, &Resend{}, &Delivery{}, &DeliveryAttempt{}, &Mail{},
		&Notification{}, &NotificationRead{}, &NotificationReader{}, &NotificationChoice{},
		&PushKey{}, &PushSubscription{}, &PushMessage{},
		&Rate{}, &RateSource{}, &RateMinute{}, &RatePolicy{},
		&ChainCursor{}, &ChainBlock{}, &SandboxBlock{}, &SandboxTx{}, &SandboxPlan{},
	}
}
