// Package team shows and changes who works in a business, and in which role.
package team

import (
	"cointill/core/account"
	"cointill/core/clock"
	"cointill/core/idempotency"
	"cointill/core/scope"
	"cointill/handlers/page"
)

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Answers    *idempotency.Store // what forms made: one that is sent twice makes it once
	Clock      clock.Clock
	MailServer bool // a mail server is configured: mails are sent, not only kept
	Team       *account.Service
}

// Routes declares the routes of these pages, each with the right that it needs.
func (h *Handlers) Routes(m page.Members) {
	m.Get(teamPath, scope.ManageBusiness, h.showTeamPage)
	m.Post(teamPath+"/invitations", scope.ManageBusiness, h.invite)
	m.Post(teamPath+"/invitations/:id/resend", scope.ManageBusiness, h.resendInvitation)
	m.Post(teamPath+"/invitations/:id/revoke", scope.ManageBusiness, h.revokeInvitation)
	m.Post(teamPath+"/members/:id/role", scope.ManageBusiness, h.setMemberRole)
	m.Post(teamPath+"/members/:id/remove", scope.ManageBusiness, h.removeMember)
}
