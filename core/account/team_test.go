package account_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"cointill/core/account"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
)

func TestInvitation(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, sc := t.Context(), m.Scope(scope.Test)
		made, err := b.Invite(ctx, sc, " Bea@example.com", scope.Finance)
		if err != nil || made.Email != "bea@example.com" || made.By != "Ada Obi" ||
			!made.ExpiresAt.Equal(b.Clock.Now().Add(7*24*time.Hour)) {
			t.Fatalf("made = %v, err = %v", made, err)
		}
		if got := b.Letters(); !slices.Equal(got, []string{"invitation to bea@example.com"}) {
			t.Errorf("b.Letters(): got = %v", got)
		}
		token := b.Link(t)
		if token != linkToken(made) {
			t.Error("the mail has another link")
		}
		in, err := b.FindInvitation(ctx, token)
		if err != nil || in != (account.Invited{Business: "Ada's Shop", Email: "bea@example.com", Role: scope.Finance, By: "Ada Obi"}) {
			t.Errorf("in = %v, err = %v", in, err)
		}
		if _, _, err := b.AcceptAsNew(ctx, token, account.Newcomer{Name: "",
			Password: "short"}); fault.KindOf(err) != fault.Invalid {
			t.Error(err)
		}
		if _, err := b.Accept(ctx, token, m.User.ID); code(err) != "other_user" {
			t.Error("another user takes the invitation", err)
		}
		user, business, err := b.AcceptAsNew(ctx, token, account.Newcomer{Name: "Bea", Password: another})
		if err != nil || business != m.Business.ID {
			t.Fatalf("user = %v, business = %v, err = %v", user, business, err)
		}
		if _, _, err := b.AcceptAsNew(ctx, token, account.Newcomer{Name: "Bea",
			Password: another}); code(err) != "invitation_over" {
			t.Error("the link works twice", err)
		}
		bea, err := b.Membership(ctx, user.ID, 0)
		if err != nil || bea.Role != scope.Finance {
			t.Errorf("bea = %v, err = %v", bea, err)
		}
		if _, err := b.Invite(ctx, sc, "bea@example.com", scope.Admin); code(err) != "is_member" {
			t.Error(err)
		}
		team, err := b.Team(ctx, sc)
		if err != nil || len(team) != 2 || team[1].User.Email != "bea@example.com" {
			t.Errorf("team = %v, err = %v", team, err)
		}
		if got := b.Actions(t, m.Business.ID); !slices.Equal(got, []string{"business.created", "member.invited",
			"member.joined"}) {
			t.Errorf("b.Actions(t, m.Business.ID): got = %v", got)
		}
	})
}

// TestInvitationOfAUser: who has an account joins with it, and chooses between the businesses.
func TestInvitationOfAUser(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, sc := t.Context(), m.Scope(scope.Test)
		other := account.NewBusiness{BusinessName: "Bea's Shop", Name: "Bea", Email: "bea@example.com", Password: another}
		theirs, bea, err := b.CreateBusiness(ctx, other)
		if err != nil {
			t.Fatal(err)
		}
		in, err := b.Invite(ctx, sc, "bea@example.com", scope.Developer)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.AcceptAsNew(ctx, linkToken(in), account.Newcomer{Name: "Mallory",
			Password: another}); code(err) != "sign_in_to_accept" {
			t.Error("a known address gets a new password", err)
		}
		if business, err := b.Accept(ctx, linkToken(in), bea.ID); err != nil || business != m.Business.ID {
			t.Fatalf("b.Accept(ctx, linkToken(in), bea.ID): business = %v, err = %v", business, err)
		}
		for preferred, want := range map[int64]int64{0: theirs.ID, theirs.ID: theirs.ID,
			m.Business.ID: m.Business.ID, 999: theirs.ID} {
			if got, err := b.Membership(ctx, bea.ID, preferred); err != nil || got.Business.ID != want {
				t.Errorf("b.Membership(ctx, bea.ID, preferred): preferred = %v, got = %v, err = %v", preferred,
					got, err)
			}
		}
		places, err := b.Workplaces(ctx, bea.ID)
		if err != nil || len(places) != 2 || places[1] != (account.Workplace{ID: m.Business.ID,
			Name: "Ada's Shop", Role: scope.Developer}) {
			t.Errorf("places = %v, err = %v", places, err)
		}
	})
}

func TestInvitationEnds(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, sc := t.Context(), m.Scope(scope.Test)
		over := func(token string) bool {
			_, err := b.FindInvitation(ctx, token)
			return code(err) == "invitation_over"
		}
		first, err := b.Invite(ctx, sc, "bea@example.com", scope.Finance)
		if err != nil {
			t.Fatal(err)
		}
		second, err := b.ResendInvitation(ctx, sc, first.ID)
		if err != nil || second.ID != first.ID || !over(linkToken(first)) || over(linkToken(second)) {
			t.Error("the first link should be over, the second one not", err)
		}
		third, err := b.Invite(ctx, sc, "bea@example.com", scope.Admin)
		if err != nil || !over(linkToken(second)) || over(linkToken(third)) {
			t.Error(err)
		}
		b.Clock.Advance(7*24*time.Hour - time.Second)
		if over(linkToken(third)) {
			t.Error("over before seven days")
		}
		b.Clock.Advance(time.Second)
		if !over(linkToken(third)) {
			t.Error("works after seven days")
		}
		if err := b.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		if list, err := b.Invitations(ctx, sc); err != nil || len(list) != 1 || list[0].Role != scope.Admin {
			t.Errorf("b.Invitations(ctx, sc): list = %v, err = %v", list, err)
		}
		fourth, err := b.ResendInvitation(ctx, sc, first.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"", "not_found"} {
			if err := b.RevokeInvitation(ctx, sc, first.ID); code(err) != want {
				t.Error(err)
			}
		}
		if !over(linkToken(fourth)) {
			t.Error("works although taken back")
		}
		if _, err := b.ResendInvitation(ctx, sc, first.ID); code(err) != "not_found" {
			t.Error(err)
		}
	})
}

// TestTeamRights is contract section 9: an admin has no say about owners, finance
// and developers have none at all, and nobody about another business.
func TestTeamRights(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, owner := t.Context(), m.Scope(scope.Test)
		admin, finance := b.Hire(t, owner, "admin@example.com", scope.Admin), b.Hire(t, owner, "finance@example.com",
			scope.Finance)
		developer := b.Hire(t, owner, "developer@example.com", scope.Developer)
		opened, err := b.Invite(ctx, owner, "boss@example.com", scope.Owner)
		if err != nil {
			t.Fatal(err)
		}
		refused := func(what string, err error, want string) {
			t.Helper()
			if code(err) != want {
				t.Errorf("%s: %v, want %s", what, err, want)
			}
		}
		sc := admin.Scope(scope.Live)
		refused("admin makes an owner", b.SetRole(ctx, sc, finance.User.ID, scope.Owner), "owners_only")
		refused("admin demotes an owner", b.SetRole(ctx, sc, m.User.ID, scope.Finance), "owners_only")
		refused("admin removes an owner", b.RemoveMember(ctx, sc, m.User.ID), "owners_only")
		refused("admin makes themself an owner", b.SetRole(ctx, sc, admin.User.ID, scope.Owner), "owners_only")
		refused("admin revokes an owner's invitation", b.RevokeInvitation(ctx, sc, opened.ID), "owners_only")
		_, err = b.ResendInvitation(ctx, sc, opened.ID)
		refused("admin resends an owner's invitation", err, "owners_only")
		_, err = b.Invite(ctx, sc, "boss@example.com", scope.Finance)
		refused("admin turns an owner's invitation into another", err, "owners_only")
		_, err = b.Invite(ctx, sc, "x@example.com", scope.Owner)
		refused("admin invites an owner", err, "owners_only")
		refused("a role that there is not", b.SetRole(ctx, owner, finance.User.ID, "system"), "validation_failed")
		_, err = b.Invite(ctx, owner, "x", "api")
		refused("a role and an address that are none", err, "validation_failed")
		refused("admin changes finance", b.SetRole(ctx, sc, finance.User.ID, scope.Developer), "")
		refused("and back", b.SetRole(ctx, sc, finance.User.ID, scope.Finance), "")
		for _, low := range []account.Membership{finance, developer} {
			for _, domain := range []scope.Domain{scope.Test, scope.Live} {
				sc := low.Scope(domain)
				_, invited := b.Invite(ctx, sc, "x@example.com", scope.Finance)
				_, resent := b.ResendInvitation(ctx, sc, opened.ID)
				_, seen := b.Team(ctx, sc)
				_, listed := b.Invitations(ctx, sc)
				for _, err := range []error{invited, resent, seen, listed, b.RevokeInvitation(ctx, sc, opened.ID),
					b.SetRole(ctx, sc, low.User.ID, scope.Admin), b.RemoveMember(ctx, sc, m.User.ID)} {
					refused(string(low.Role)+" in "+string(domain), err, "role_not_allowed")
				}
			}
		}
		other := ada
		other.Email = "bea@example.com"
		_, bea, err := b.CreateBusiness(ctx, other)
		if err != nil {
			t.Fatal(err)
		}
		stranger, err := b.Membership(ctx, bea.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		sc = stranger.Scope(scope.Test)
		refused("a stranger's role", b.SetRole(ctx, sc, finance.User.ID, scope.Admin), "not_found")
		refused("a stranger removes", b.RemoveMember(ctx, sc, finance.User.ID), "not_found")
		refused("a stranger revokes", b.RevokeInvitation(ctx, sc, opened.ID), "not_found")
		if list, err := b.Invitations(ctx, sc); err != nil || len(list) != 0 {
			t.Errorf("b.Invitations(ctx, sc): list = %v, err = %v", list, err)
		}
	})
}

func TestLastOwnerStays(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, sc := t.Context(), m.Scope(scope.Test)
		for _, err := range []error{b.SetRole(ctx, sc, m.User.ID, scope.Admin), b.RemoveMember(ctx, sc, m.User.ID)} {
			if code(err) != "last_owner" {
				t.Error(err)
			}
		}
		second := b.Hire(t, sc, "bea@example.com", scope.Owner)
		if err := b.SetRole(ctx, sc, m.User.ID, scope.Admin); err != nil {
			t.Error(err)
		}
		if err := b.SetRole(ctx, second.Scope(scope.Test), second.User.ID, scope.Admin); code(err) != "last_owner" {
			t.Error(err)
		}
	})
}

// TestTwoOwnersAtOnce: two owners who demote or remove one another at the same
// moment leave one.
func TestTwoOwnersAtOnce(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx := t.Context()
		first := m
		for round := range 4 {
			second := b.Hire(t, first.Scope(scope.Test), string(rune('b'+round))+"@example.com", scope.Owner)
			var wg sync.WaitGroup
			results := make([]error, 2)
			for i, pair := range [][2]account.Membership{{first, second}, {second, first}} {
				wg.Go(func() {
					if round%2 == 0 {
						results[i] = b.SetRole(ctx, pair[0].Scope(scope.Test), pair[1].User.ID, scope.Admin)
					} else {
						results[i] = b.RemoveMember(ctx, pair[0].Scope(scope.Test), pair[1].User.ID)
					}
				})
			}
			wg.Wait()
			if (results[0] == nil) == (results[1] == nil) || code(results[0])+code(results[1]) != "last_owner" {
				t.Fatalf("round %d: %v", round, results)
			}
			owners, err := account.Owners(b.DB.Read(ctx), m.Business.ID)
			if err != nil || len(owners) != 1 {
				t.Fatalf("owners = %v, err = %v", owners, err)
			}
			if owners[0].ID == second.User.ID {
				first = second
			}
		}
	})
}

// TestOneInvitationOneMember: a link that is used many times at once makes one member.
func TestOneInvitationOneMember(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		in, err := b.Invite(t.Context(), m.Scope(scope.Test), "bea@example.com", scope.Finance)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		results := make([]error, 8)
		for i := range results {
			wg.Go(func() {
				_, _, results[i] = b.AcceptAsNew(t.Context(), linkToken(in), account.Newcomer{Name: "Bea",
					Password: another})
			})
		}
		wg.Wait()
		joined := 0
		for _, err := range results {
			if err == nil {
				joined++
			} else if c := code(err); c != "invitation_over" && c != "sign_in_to_accept" {
				t.Error(err)
			}
		}
		var users, members int64
		b.DB.Read(t.Context()).Model(&models.User{}).Count(&users)
		b.DB.Read(t.Context()).Model(&models.Member{}).Count(&members)
		if joined != 1 || users != 2 || members != 2 {
			t.Errorf("%d joined, %d users, %d members", joined, users, members)
		}
	})
}

// TestInvitationsGoWithTheirSender: what a member had offered that they may no
// longer offer is taken back with their role.
func TestInvitationsGoWithTheirSender(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, sc := t.Context(), m.Scope(scope.Test)
		second := b.Hire(t, sc, "bea@example.com", scope.Owner)
		open := func(emails ...string) {
			t.Helper()
			list, err := b.Invitations(ctx, sc)
			var got []string
			for _, in := range list {
				got = append(got, in.Email)
			}
			slices.Sort(got)
			if err != nil || !slices.Equal(got, emails) {
				t.Errorf("got = %v, err = %v", got, err)
			}
		}
		for email, role := range map[string]scope.Role{"a@example.com": scope.Owner, "b@example.com": scope.Admin,
			"c@example.com": scope.Finance} {
			if _, err := b.Invite(ctx, second.Scope(scope.Test), email, role); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.Invite(ctx, sc, "d@example.com", scope.Owner); err != nil {
			t.Fatal(err)
		}
		if err := b.SetRole(ctx, sc, second.User.ID, scope.Admin); err != nil {
			t.Fatal(err)
		}
		open("b@example.com", "c@example.com", "d@example.com")
		if err := b.RemoveMember(ctx, sc, second.User.ID); err != nil {
			t.Fatal(err)
		}
		open("d@example.com")
		if _, err := b.Membership(ctx, second.User.ID, 0); fault.KindOf(err) != fault.NotFound {
			t.Error(err)
		}
	})
}
