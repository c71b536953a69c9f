package team

import (
	"context"
	"slices"
	"strconv"

	"cointill/core/account"
	"cointill/core/mail"
	"cointill/core/scope"
	"cointill/handlers/dashboard/display"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

func roleOptions(ctx context.Context, mine scope.Role) (options []ui.Option) {
	for _, role := range account.Grantable(mine) {
		options = append(options, ui.Option{Value: string(role), Label: ui.RoleWord(ctx, string(role))})
	}
	return options
}

func memberRow(ctx context.Context, m account.Teammate, me account.Membership, at display.Moment) dashboard.MemberRow {
	return dashboard.MemberRow{ID: strconv.FormatInt(m.User.ID, 10), Name: m.User.Name, Email: m.User.Email,
		Role: string(m.Role), RoleName: ui.RoleWord(ctx, string(m.Role)),
		SecondFactor: m.User.SecondFactor, Since: m.Since.In(at.Zone), You: m.User.ID == me.User.ID,
		Fixed: !slices.Contains(account.Grantable(me.Role), m.Role)}
}

// invitationRow shows an invitation to a role; the link only where no mail
// carries it or its mail failed, and to who might have sent it.
func invitationRow(ctx context.Context, i account.Invitation, mine scope.Role, byHand bool,
	at display.Moment) dashboard.InvitationRow {
	row := dashboard.InvitationRow{ID: strconv.FormatInt(i.ID, 10), Email: i.Email,
		RoleName: ui.RoleWord(ctx, string(i.Role)), By: i.By, Sent: i.SentAt.In(at.Zone),
		Until: i.ExpiresAt.In(at.Zone), Over: !i.ExpiresAt.After(at.Now),
		Fixed: !slices.Contains(account.Grantable(mine), i.Role)}
	row.Trouble = mailTrouble(ctx, i)
	if (byHand || i.Mail == mail.Failed) && !row.Fixed && !row.Over {
		row.Link = i.Link
	}
	return row
}

// mailTrouble says that an invitation's mail did not go, and what to do; "" for
// one that went or is on its way.
func mailTrouble(ctx context.Context, i account.Invitation) string {
	switch {
	case i.Mail == mail.Failed:
		return words.T(ctx, "team.mail_failed", "Why", i.MailWhy)
	case i.Mail == mail.Unknown:
		return words.T(ctx, "team.mail_unknown")
	case i.Mail == "pending" && i.MailWhy != "":
		return words.T(ctx, "team.mail_waits", "Why", i.MailWhy)
	}
	return ""
}

// rights are the actions that the team's page explains, with the messages that do.
var rights = []struct {
	action scope.Action
	word   string
}{
	{scope.SeePayments, "team.right_payments"},
	{scope.SeeLinks, "team.right_see_links"},
	{scope.ManageLinks, "team.right_links"},
	{scope.SeeWebhooks, "team.right_see_webhooks"},
	{scope.ManageWebhooks, "team.right_webhooks"},
	{scope.ManageKeys, "team.right_keys"},
	{scope.ToggleMethods, "team.right_methods"},
	{scope.SetReceiving, "team.right_receiving"},
	{scope.ResolvePayment, "team.right_resolve"},
	{scope.AskSends, "team.right_ask_sends"},
	{scope.ApproveSends, "team.right_approve_sends"},
	{scope.SignSends, "team.right_sign_sends"},
	{scope.ManageBusiness, "team.right_business"},
	{scope.SeeAudit, "team.right_audit"},
	{scope.SeeBooks, "team.right_see_books"},
	{scope.CloseMonths, "team.right_close_months"},
	{scope.EraseCustomers, "team.right_erase"},
	{scope.UseTill, "team.right_till"},
}

// rightRows says what each role may do, from the table that decides it.
func rightRows(ctx context.Context) (rows []dashboard.RightRow) {
	for _, right := range rights {
		row := dashboard.RightRow{What: words.T(ctx, right.word)}
		for i, role := range []scope.Role{scope.Owner, scope.Admin, scope.Finance, scope.Developer, scope.Till} {
			test := scope.Scope{BusinessID: 1, Domain: scope.Test, Role: role}.Allows(right.action)
			live := scope.Scope{BusinessID: 1, Domain: scope.Live, Role: role}.Allows(right.action)
			switch {
			case live:
				row.May[i] = words.T(ctx, "team.may")
			case test:
				row.May[i] = words.T(ctx, "team.may_in_test")
			}
		}
		rows = append(rows, row)
	}
	return rows
}
