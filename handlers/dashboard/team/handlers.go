// Package team shows and changes who works in a business, and in which role.
package team

import (
	"context"

	"cointill/core/account"
	"cointill/core/clock"
	"cointill/core/idempotency"
	"cointill/core/scope"
	"cointill/handlers/page"
)

// Team is what these pages need of core/account for the members of a business.
type Team interface {
	Team(ctx context.Context, sc scope.Scope) ([]account.Teammate, error)
	Invitations(ctx context.Context, sc scope.Scope) ([]account.Invitation, error)
	Invite(ctx context.Context, sc scope.Scope, email string, role scope.Role) (account.Invitation, error)
	ResendInvitation(ctx context.Context, sc scope.Scope, id int64) (account.Invitation, error)
	RevokeInvitation(ctx context.Context, sc scope.Scope, id int64) error
	SetRole(ctx context.Context, sc scope.Scope, userID int64, role scope.Role) error
	RemoveMember(ctx context.Context, sc scope.Scope, userID int64) error
}

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Answers    *idempotency.Store // what forms made: one that is sent twice makes it once
	Clock      clock.Clock
	MailServer bool // a mail server is configured: mails are sent, not only kept
	Team       Team
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
