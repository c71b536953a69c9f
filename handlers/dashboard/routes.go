package dashboard

import (
	"cointill/core/scope"
	"cointill/handlers/page"
)

// Routes declares the dashboard's routes: whoever may not do the action of a
// route in the chosen domain gets no further than here.
func (h *Handlers) Routes(m page.Members, v page.Visitors) {
	v.Get("/", func(c *page.Ctx) error { return c.Redirect("/dashboard") })
	v.Get("/sign-up", h.signUpForm)
	v.Post("/sign-up", h.signUp)
	v.Get("/sign-in", h.signInForm)
	v.Post("/sign-in", h.signIn)
	v.Post("/sign-out", h.signOut)

	// Every role may see the payment methods: the weakest right that a member has.
	m.Get("/dashboard", scope.SeeMethods, h.overview)
	m.Post("/dashboard/domain", scope.SeeMethods, h.switchDomain)

	m.Get("/dashboard/payments", scope.SeePayments, h.payments)
	m.Get("/dashboard/payments/:reference", scope.SeePayments, h.payment)
	m.Post("/dashboard/payments/:reference/simulate", scope.DriveSandbox, h.paymentSimulate)
	m.Post("/dashboard/payments/:reference/accept", scope.ResolvePayment, h.paymentAccept)

	m.Get(unmatchedPath, scope.SeePayments, h.unmatched)

	m.Get("/dashboard/methods", scope.SeeMethods, h.methods)
	m.Post("/dashboard/methods/:code", scope.ToggleMethods, h.methodToggle)
	m.Get("/dashboard/methods/:code/wallet", scope.SeeMethods, h.wallet)
	m.Post("/dashboard/methods/:code/wallet", scope.SetReceiving, h.walletUse)
	m.Get("/dashboard/methods/:code/wallet/review", scope.SeeMethods, h.walletReviewBack)
	m.Post("/dashboard/methods/:code/wallet/review", scope.SetReceiving, h.walletReview)

	m.Get("/dashboard/rates", scope.SeeMethods, h.rates)
	m.Get("/dashboard/rates/:currency", scope.SeeMethods, h.ratePolicy)
	m.Post("/dashboard/rates/:currency", scope.ManageBusiness, h.ratePolicySet)

	m.Get("/dashboard/webhooks", scope.SeeWebhooks, h.webhooks)
	m.Get("/dashboard/webhooks/new", scope.ManageWebhooks, h.webhookForm)
	m.Post("/dashboard/webhooks", scope.ManageWebhooks, h.webhookCreate)
	m.Get(checkPath, scope.SeeWebhooks, h.signatureForm)
	m.Post(checkPath, scope.SeeWebhooks, h.signatureCheck)
	m.Get(resendsPath, scope.SeeWebhooks, h.resends)
	m.Get(resendsPath+"/review", scope.ManageWebhooks, h.resendReview)
	m.Post(resendsPath, scope.ManageWebhooks, h.resendCreate)
	m.Get(resendsPath+"/:id", scope.SeeWebhooks, h.resend)
	m.Get("/dashboard/webhooks/:id", scope.SeeWebhooks, h.webhook)
	m.Get("/dashboard/webhooks/:id/edit", scope.ManageWebhooks, h.webhookEdit)
	m.Get("/dashboard/webhooks/:id/deliveries/:event", scope.SeeWebhooks, h.delivery)
	m.Post("/dashboard/webhooks/:id/deliveries/:event/resend", scope.ManageWebhooks, h.deliveryResend)
	m.Post("/dashboard/webhooks/:id", scope.ManageWebhooks, h.webhookUpdate)
	m.Post("/dashboard/webhooks/:id/toggle", scope.ManageWebhooks, h.webhookToggle)
	m.Post("/dashboard/webhooks/:id/delete", scope.ManageWebhooks, h.webhookDelete)
	m.Post("/dashboard/webhooks/:id/rotate", scope.ManageWebhooks, h.webhookRotate)
	m.Post("/dashboard/webhooks/:id/test", scope.ManageWebhooks, h.webhookTest)

	m.Get("/dashboard/links", scope.SeeLinks, h.links)
	m.Get("/dashboard/links/new", scope.ManageLinks, h.linkForm)
	m.Post("/dashboard/links", scope.ManageLinks, h.linkCreate)
	m.Get("/dashboard/links/:id", scope.SeeLinks, h.link)
	m.Get("/dashboard/links/:id/edit", scope.ManageLinks, h.linkEdit)
	m.Post("/dashboard/links/:id", scope.ManageLinks, h.linkUpdate)
	m.Post("/dashboard/links/:id/toggle", scope.ManageLinks, h.linkToggle)

	m.Get("/dashboard/keys", scope.ManageKeys, h.keys)
	m.Post("/dashboard/keys", scope.ManageKeys, h.keyCreate)
	m.Post("/dashboard/keys/:id/roll", scope.ManageKeys, h.keyRoll)
	m.Post("/dashboard/keys/:id/revoke", scope.ManageKeys, h.keyRevoke)

	m.Get("/dashboard/mailbox", scope.SeePayments, h.mailbox)
	m.Get("/dashboard/mailbox/:id", scope.SeePayments, h.mail)
	m.Post("/dashboard/mailbox/:id/resend", scope.SeePayments, h.mailResend)
}
