package signin

import (
	"net/url"

	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// showInvitation is what a mailed link leads to. Looking at it uses nothing up.
func (h *Handlers) showInvitation(c *page.Ctx, status int, typed ui.Form) error {
	in, err := h.Team.FindInvitation(c.UserContext(), c.Param("token"))
	if err != nil {
		return err
	}
	here := "/invitation/" + c.Param("token")
	props := dashboard.InvitationProps{Form: typed, CSRF: c.Session.FormToken(), Action: here, Business: in.Business,
		By: in.By, Email: in.Email,
		Role: ui.RoleWord(c.UserContext(), string(in.Role)), RoleText: display.DescribeRole(c.UserContext(), in.Role),
		Known: in.User != 0, Mine: in.User != 0 && in.User == c.Session.User(),
		SignIn: "/sign-in?next=" + url.QueryEscape(here), SomebodyElse: c.Session.User() != 0 &&
			in.User != c.Session.User()}
	return c.RenderStatus(status, dashboard.Invitation(props))
}

// acceptInvitation makes the reader a member: as a new user, or as the one who
// is signed in.
func (h *Handlers) acceptInvitation(c *page.Ctx) error {
	in, err := h.Team.FindInvitation(c.UserContext(), c.Param("token"))
	if err != nil {
		return err
	}
	typed := page.ReadForm(c, "name") // never a password
	var business int64
	var refused error
	if in.User == 0 {
		var user auth.User
		user, business, refused = h.Team.AcceptAsNew(c.UserContext(), c.Param("token"),
			account.Newcomer{Name: typed.Value("name"), Password: c.FormValue("password"),
				Language: words.LanguageOf(c.UserContext())})
		if refused == nil {
			if err := h.signInUser(c, user, true); err != nil {
				return err
			}
		}
	} else {
		business, refused = h.Team.Accept(c.UserContext(), c.Param("token"), c.Session.User())
	}
	if refused != nil {
		return page.ShowAgain(c, typed, refused, h.showInvitation)
	}
	c.SetBusiness(business)
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "team.welcome", "Business", in.Business, "Role",
		ui.RoleWord(c.UserContext(), string(in.Role))))
	return c.Redirect("/dashboard")
}
