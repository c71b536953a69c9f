// Package sendtest makes services of sends for tests of other rooms.
package sendtest

import (
	"cointill/core/account/auth"
	"cointill/core/payment"
	"cointill/core/send"
	"cointill/core/send/letter"
)

// New makes the service of sends beside a service of payments. Its mails say of what kind they are.
// users is the service that people are known to; without one there are no people.
func New(payments *payment.Service, users ...*auth.Service) *send.Service {
	users = append(users, auth.New(payments.DB, payments.Clock, payments.Secrets))
	changed := payments.Changed
	if changed == nil {
		changed = func() {}
	}
	return send.New(send.Deps{DB: payments.DB, Clock: payments.Clock, Secrets: payments.Secrets,
		Users: users[0], Quotes: payments.Quotes, Networks: payments.Networks, Payments: payments,
		Resolver: payment.NewResolver(payments), Events: payments.Events, Mails: payments.Receipts,
		Depths: payments.Depths, Changed: changed, ClaimBase: "http://localhost/refund",
		PageBase: "http://localhost/dashboard/sends",
		Render: func(l letter.Letter) (subject, text, html string) {
			return string(l.Kind), l.URL, ""
		}})
}
