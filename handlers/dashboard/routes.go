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
	v.Get("/sign-in/code", h.signInCodeForm)
	v.Post("/sign-in/code", h.signInCode)
	v.Get("/sign-in/passkey", func(c *page.Ctx) error { return c.Redirect("/sign-in") }) // who reloads a refusal
	v.Post("/sign-in/passkey", h.signInPasskey)
	v.Post("/sign-in/passkey/begin", h.passkeyAsk)
	v.Post("/sign-out", h.signOut)
	v.Get("/forgot", h.forgotForm)
	v.Post("/forgot", h.forgot)
	v.Get("/reset/:token", h.resetForm)
	v.Post("/reset/:token", h.reset)
	v.Get("/email/:token", h.emailConfirmForm)
	v.Post("/email/:token", h.emailConfirm)
	v.Get("/invitation/:token", h.invitation)
	v.Post("/invitation/:token", h.invitationAccept)

	// Every role may see the payment methods: the weakest right that a member has.
	m.Get("/dashboard", scope.SeeMethods, h.overview)
	m.Post("/dashboard/domain", scope.SeeMethods, h.switchDomain)

	m.Get(paymentsPath, scope.SeePayments, h.payments)
	m.Get(newsPath, scope.SeePayments, h.paymentsNews)
	m.Get(exportPath, scope.SeePayments, h.paymentsExport)
	m.Get(csvPath, scope.SeePayments, h.paymentsCSV)
	m.Get(xlsxPath, scope.SeePayments, h.paymentsXLSX)
	m.Get("/dashboard/payments/:reference", scope.SeePayments, h.payment)
	m.Post("/dashboard/payments/:reference/simulate", scope.DriveSandbox, h.paymentSimulate)
	m.Post("/dashboard/payments/:reference/accept", scope.ResolvePayment, h.paymentAccept)
	m.Post("/dashboard/payments/:reference/close", scope.ResolvePayment, h.paymentClose)

	m.Get("/dashboard/payments/:reference/receipt", scope.SeePayments, h.paymentReceipt)
	m.Get("/dashboard/payments/:reference/refund", scope.ResolvePayment, h.refundForm)
	m.Post("/dashboard/payments/:reference/refund", scope.ResolvePayment, h.refundRecord)
	m.Get("/dashboard/payments/:reference/refund/review", scope.ResolvePayment, h.refundReviewBack)
	m.Post("/dashboard/payments/:reference/refund/review", scope.ResolvePayment, h.refundReview)

	m.Get(unmatchedPath, scope.SeePayments, h.unmatched)
	m.Get(unmatchedPath+"/:id", scope.SeePayments, h.stray)
	m.Post(unmatchedPath+"/:id/attach", scope.ResolvePayment, h.strayAttach)
	m.Get(unmatchedPath+"/:id/attach/review", scope.SeePayments, h.strayReviewBack)
	m.Post(unmatchedPath+"/:id/attach/review", scope.ResolvePayment, h.strayReview)
	m.Post(unmatchedPath+"/:id/refund", scope.ResolvePayment, h.strayRefund)
	m.Post(unmatchedPath+"/:id/refund/review", scope.ResolvePayment, h.strayRefundReview)

	m.Get(customersPath, scope.SeePayments, h.customers)
	m.Get(customersPath+"/:id", scope.SeePayments, h.customer)

	m.Get("/dashboard/methods", scope.SeeMethods, h.methods)
	m.Post("/dashboard/methods/:code", scope.ToggleMethods, h.methodToggle)
	m.Get("/dashboard/methods/:code/wallet", scope.SeeMethods, h.wallet)
	m.Post("/dashboard/methods/:code/wallet", scope.SetReceiving, h.walletUse)
	m.Get("/dashboard/methods/:code/wallet/sweep", scope.SeePayments, h.walletSheet)
	m.Get("/dashboard/methods/:code/wallet/sweep.csv", scope.SeePayments, h.walletSweep)
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
	m.Get("/dashboard/links/:id/poster", scope.SeeLinks, h.linkPoster)
	m.Post("/dashboard/links/:id", scope.ManageLinks, h.linkUpdate)
	m.Post("/dashboard/links/:id/toggle", scope.ManageLinks, h.linkToggle)

	m.Get("/dashboard/keys", scope.ManageKeys, h.keys)
	m.Post("/dashboard/keys", scope.ManageKeys, h.keyCreate)
	m.Post("/dashboard/keys/:id/roll", scope.ManageKeys, h.keyRoll)
	m.Post("/dashboard/keys/:id/revoke", scope.ManageKeys, h.keyRevoke)

	m.Get(callsPath, scope.ManageKeys, h.calls)
	m.Get(callsPath+"/:id", scope.ManageKeys, h.call)
	m.Get(quickstartPath, scope.ManageKeys, h.quickstart)
	m.Post(quickstartPath, scope.ManageKeys, h.quickstartKey)

	m.Get("/dashboard/mailbox", scope.SeePayments, h.mailbox)
	m.Get("/dashboard/mailbox/:id", scope.SeePayments, h.mail)
	m.Post("/dashboard/mailbox/:id/resend", scope.SeePayments, h.mailResend)

	m.Get(settingsPath, scope.ManageBusiness, h.settings)
	m.Post(settingsPath+"/profile", scope.ManageBusiness, h.settingsProfile)
	m.Post(settingsPath+"/logo", scope.ManageBusiness, h.settingsLogo)
	m.Post(settingsPath+"/logo/remove", scope.ManageBusiness, h.settingsLogoRemove)
	m.Post(settingsPath+"/payments", scope.ManageBusiness, h.settingsPayments)
	m.Post(settingsPath+"/confirmations", scope.ManageBusiness, h.settingsConfirmations)
	m.Post(settingsPath+"/mails", scope.ManageBusiness, h.settingsMails)
	m.Get(auditPath, scope.SeeAudit, h.audit)
	m.Get(auditPath+".csv", scope.SeeAudit, h.auditCSV)

	m.Get(systemPath, scope.SeeMethods, h.system) // for operators, whatever their role

	h.peopleRoutes(m)
}

// peopleRoutes are those of a user's own account, which every member has, and of the team.
func (h *Handlers) peopleRoutes(m page.Members) {
	m.Get(accountPath, scope.SeeMethods, h.account)
	m.Post(accountPath, scope.SeeMethods, h.rename)
	m.Post(accountPath+"/business", scope.SeeMethods, h.businessChoose)
	m.Get(accountPath+"/password", scope.SeeMethods, h.passwordForm)
	m.Post(accountPath+"/password", scope.SeeMethods, h.password)
	m.Get(accountPath+"/email", scope.SeeMethods, h.emailForm)
	m.Post(accountPath+"/email", scope.SeeMethods, h.email)
	m.Get(factorPath, scope.SeeMethods, h.factor)
	m.Post(factorPath, scope.SeeMethods, h.factorBegin)
	m.Post(factorPath+"/confirm", scope.SeeMethods, h.factorConfirm)
	m.Post(factorPath+"/change", scope.SeeMethods, h.factorChange)
	m.Get(passkeysPath, scope.SeeMethods, h.passkeys)
	m.Post(passkeysPath, scope.SeeMethods, h.passkeyBegin)
	m.Post(passkeysPath+"/confirm", scope.SeeMethods, h.passkeyConfirm)
	m.Get(passkeysPath+"/:passkey", scope.SeeMethods, h.passkey)
	m.Post(passkeysPath+"/:passkey", scope.SeeMethods, h.passkeyRename)
	m.Post(passkeysPath+"/:passkey/remove", scope.SeeMethods, h.passkeyRemove)
	m.Post(accountPath+"/sessions/end", scope.SeeMethods, h.sessionEnd)
	m.Post(accountPath+"/sessions/end-others", scope.SeeMethods, h.sessionEndOthers)

	m.Get(teamPath, scope.ManageBusiness, h.team)
	m.Post(teamPath+"/invitations", scope.ManageBusiness, h.invite)
	m.Post(teamPath+"/invitations/:id/resend", scope.ManageBusiness, h.invitationResend)
	m.Post(teamPath+"/invitations/:id/revoke", scope.ManageBusiness, h.invitationRevoke)
	m.Post(teamPath+"/members/:id/role", scope.ManageBusiness, h.memberRole)
	m.Post(teamPath+"/members/:id/remove", scope.ManageBusiness, h.memberRemove)
}
