package team

import (
	"context"
	"net/http"

	"cointill/core/account"
	"cointill/core/scope"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

const teamPath = "/dashboard/team"

// showTeamPage lists who works in the business, and who is invited.
func (h *Handlers) showTeamPage(c *page.Ctx) error {
	return h.showTeam(c, http.StatusOK, ui.Form{Values: map[string]string{"role": string(scope.Developer)}})
}

func (h *Handlers) showTeam(c *page.Ctx, status int, typed ui.Form) error {
	members, err := h.Team.Team(c.UserContext(), c.Scope)
	if err != nil {
		return err
	}
	invitations, err := h.Team.Invitations(c.UserContext(), c.Scope)
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(c.UserContext(), "team.title"), "team")
	shell.NextPath = teamPath
	props := dashboard.TeamProps{Page: shell, Form: typed, Roles: roleOptions(c.UserContext(), c.Scope.Role),
		NoServer: !h.MailServer, Rights: rightRows(c.UserContext())}
	at := display.Moment{Now: h.Clock(), Zone: page.LoadZone(c.Member.Business)}
	for _, m := range members {
		props.Members = append(props.Members, memberRow(c.UserContext(), m, c.Member, at))
	}
	for _, i := range invitations {
		props.Invitations = append(props.Invitations, invitationRow(c.UserContext(), i, c.Scope.Role, !h.MailServer,
			at))
	}
	return c.RenderStatus(status, dashboard.Team(props))
}

// refuseTeam shows the team with the error of an action.
func (h *Handlers) refuseTeam(c *page.Ctx, refused error) error {
	return page.ShowRefusal(c, refused, func(c *page.Ctx, status int) error {
		return h.showTeam(c, status, ui.Form{})
	})
}

// invite invites a person to the business.
func (h *Handlers) invite(c *page.Ctx) error {
	typed := page.ReadForm(c, "email", "role")
	refused := page.RedirectOnce(h.Answers, c, func(ctx context.Context) (account.Invitation, error) {
		return h.Team.Invite(ctx, c.Scope, typed.Value("email"), scope.Role(typed.Value("role")))
	}, func(account.Invitation) string { return teamPath })
	if refused != nil {
		status, err := page.RefuseForm(c.UserContext(), &typed, refused)
		if err != nil {
			return h.refuseTeam(c, refused)
		}
		return h.showTeam(c, status, typed)
	}
	c.SetFlash(string(ui.Good), h.describeInvited(c.UserContext(), typed.Value("email")))
	return nil
}

// describeInvited says whether an invitation was mailed.
func (h *Handlers) describeInvited(ctx context.Context, email string) string {
	if h.MailServer {
		return words.T(ctx, "team.invited_by_mail", "Email", email)
	}
	return words.T(ctx, "team.invited_by_hand", "Email", email)
}

// resendInvitation makes a new link in place of the one before.
func (h *Handlers) resendInvitation(c *page.Ctx) error {
	id, err := page.ReadID(c, "invitation")
	if err != nil {
		return err
	}
	var made account.Invitation
	refused := page.RedirectOnce(h.Answers, c, func(ctx context.Context) (account.Invitation, error) {
		made, err = h.Team.ResendInvitation(ctx, c.Scope, id)
		return made, err
	}, func(account.Invitation) string { return teamPath })
	if refused != nil {
		return h.refuseTeam(c, refused)
	}
	if made.Email != "" { // not sent twice
		c.SetFlash(string(ui.Good), h.describeInvited(c.UserContext(), made.Email))
	}
	return nil
}

// revokeInvitation takes an invitation back.
func (h *Handlers) revokeInvitation(c *page.Ctx) error {
	id, err := page.ReadID(c, "invitation")
	if err != nil {
		return err
	}
	if err := h.Team.RevokeInvitation(c.UserContext(), c.Scope, id); err != nil {
		return h.refuseTeam(c, err)
	}
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "team.taken_back"))
	return c.Redirect(teamPath)
}

// setMemberRole gives a member another role.
func (h *Handlers) setMemberRole(c *page.Ctx) error {
	id, err := page.ReadID(c, "member")
	if err != nil {
		return err
	}
	if err := h.Team.SetRole(c.UserContext(), c.Scope, id, scope.Role(c.FormText("role"))); err != nil {
		return h.refuseTeam(c, err)
	}
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "team.role_changed"))
	if id == c.Member.User.ID && !grants(c.FormText("role")) {
		return c.Redirect("/dashboard")
	}
	return c.Redirect(teamPath)
}

func grants(role string) bool { return len(account.Grantable(scope.Role(role))) > 0 }

// removeMember takes a member out of the team.
func (h *Handlers) removeMember(c *page.Ctx) error {
	id, err := page.ReadID(c, "member")
	if err != nil {
		return err
	}
	if err := h.Team.RemoveMember(c.UserContext(), c.Scope, id); err != nil {
		return h.refuseTeam(c, err)
	}
	if id == c.Member.User.ID {
		return c.Redirect("/dashboard") // of another business of theirs, or to sign-in
	}
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "team.removed"))
	return c.Redirect(teamPath)
}
