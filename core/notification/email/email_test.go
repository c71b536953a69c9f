package email_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/account"
	"cointill/core/account/accounttest"
	"cointill/core/account/auth"
	"cointill/core/clock"
	"cointill/core/mail"
	"cointill/core/notification"
	"cointill/core/notification/email"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/models"
	"cointill/models/modelstest"
)

// bench is a business in Lagos with an owner and a developer, at noon UTC.
type bench struct {
	*testing.T
	db      *models.DB
	clock   *clock.Fake
	sender  *email.Sender
	notices *notification.Service
	owner   scope.Scope // in live
	letters []email.Letter
	numbers int
}

func eachBench(t *testing.T, test func(b *bench)) {
	t.Helper()
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		now := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
		b := &bench{T: t, db: db, clock: now}
		box, err := secret.NewBox(make([]byte, 32))
		b.must(err)
		business, user, err := accounttest.New(db, now.Now, box).CreateBusiness(t.Context(), account.NewBusiness{
			BusinessName: "Kofi Books", Name: "Kofi", Email: "kofi@books.example", Password: "a long enough passphrase"})
		b.must(err)
		b.owner = scope.Scope{BusinessID: business.ID, Domain: scope.Live, Actor: auth.ActorOf(user.ID), Role: scope.Owner}
		b.notices = &notification.Service{DB: db, Clock: now.Now}
		b.sender = &email.Sender{DB: db, Clock: now.Now, Mails: &mail.Service{DB: db, Clock: now.Now}, Base: "https://till.example",
			Render: func(l email.Letter) (subject, text, html string) {
				b.letters = append(b.letters, l)
				return string(l.Kind), "text", ""
			}}
		test(b)
	})
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// hire adds a member with a role.
func (b *bench) hire(name string, role scope.Role) scope.Scope {
	b.Helper()
	user := models.User{Email: name + "@books.example", Name: name, CreatedAt: b.clock.Now(), UpdatedAt: b.clock.Now()}
	b.must(b.db.Exec(b.Context()).Create(&user).Error)
	b.must(b.db.Exec(b.Context()).Create(&models.Member{BusinessID: b.owner.BusinessID, UserID: user.ID, Role: string(role), CreatedAt: b.clock.Now()}).Error)
	return scope.Scope{BusinessID: b.owner.BusinessID, Domain: scope.Live, Actor: auth.ActorOf(user.ID), Role: role}
}

// note notes facts of a kind.
func (b *bench) note(kind notification.Kind, times int) {
	b.Helper()
	for range times {
		b.numbers++
		b.must(b.db.Write(b.Context(), func(tx *models.Tx) error {
			return notification.Note(tx, notification.Fact{BusinessID: b.owner.BusinessID, Domain: scope.Live, Kind: kind,
				Subject: fmt.Sprint(b.numbers), At: b.clock.Now()})
		}))
	}
}

// sent runs the sender some time later, and tells who got what.
func (b *bench) sent(later time.Duration) (list []string) {
	b.Helper()
	b.clock.Advance(later)
	b.letters = nil
	b.must(b.sender.SendDue(b.Context()))
	for _, l := range b.letters {
		list = append(list, fmt.Sprintf("%s %s %d", l.To.Name, strings.TrimPrefix(string(l.Kind), "notification"), l.Count))
	}
	slices.Sort(list)
	return list
}

func (b *bench) expect(what string, got []string, want ...string) {
	b.Helper()
	if !slices.Equal(got, want) {
		b.Errorf("%s: sent %q, want %q", what, got, want)
	}
}

func (b *bench) choose(sc scope.Scope, modes map[notification.Kind]notification.Mode) {
	b.Helper()
	b.must(b.notices.SetChoices(b.Context(), sc, notification.Email, modes))
}

// TestMailsAtOnce: each member gets one mail about the kinds that they chose and may see.
func TestMailsAtOnce(t *testing.T) {
	eachBench(t, func(b *bench) {
		developer := b.hire("Dede", scope.Developer)
		b.note(notification.Paid, 1)
		b.expect("a payment, without any choice", b.sent(0))
		b.note(notification.Declined, 1)
		b.note(notification.EndpointFailing, 1)
		b.expect("a declined payment and a failing webhook", b.sent(0), "Dede  1", "Kofi  1", "Kofi  1")
		b.expect("the same again", b.sent(time.Second))
		b.choose(b.owner, map[notification.Kind]notification.Mode{notification.Paid: notification.Instant, notification.Declined: notification.Off})
		b.choose(developer, map[notification.Kind]notification.Mode{notification.EndpointFailing: notification.Off})
		b.note(notification.Paid, 1)
		b.note(notification.Declined, 1)
		b.note(notification.EndpointFailing, 1)
		b.expect("after both chose", b.sent(0), "Kofi  1", "Kofi  1")
		b.must(b.db.Write(b.Context(), func(tx *models.Tx) error {
			return notification.Note(tx, notification.Fact{BusinessID: b.owner.BusinessID, Domain: scope.Live,
				Kind: notification.CoinUnavailable, Subject: "bitcoin", OwnersMailed: true, At: b.clock.Now()})
		}))
		b.expect("what owners get a mail of its own about", b.sent(0), "Dede  1")
		b.note(notification.EndpointFailing, 1)
		b.expect("what was noted two hours ago", b.sent(2*time.Hour))
		var mails []models.Mail
		b.must(b.db.Read(b.Context()).Find(&mails).Error)
		if len(mails) != 6 || mails[0].BusinessID != b.owner.BusinessID || mails[0].Domain != "live" {
			b.Errorf("%d mails are queued, the first is %+v; want 6 of the business in live", len(mails), mails[0])
		}
	})
}

// refusingMails refuses the first mail.
type refusingMails struct {
	mail.Notifier
	refused bool
}

var errRefused = errors.New("refused")

func (m *refusingMails) Notify(tx *models.Tx, n mail.Notice) error {
	if !m.refused {
		m.refused = true
		return errRefused
	}
	return m.Notifier.Notify(tx, n)
}

// TestFailingMailsHoldUpNoOthers: a mail that can't be written is tried again, and the others are written meanwhile.
func TestFailingMailsHoldUpNoOthers(t *testing.T) {
	eachBench(t, func(b *bench) {
		mails := b.sender.Mails
		finance := b.hire("Dede", scope.Finance)
		daily := map[notification.Kind]notification.Mode{notification.Declined: notification.Daily}
		b.choose(b.owner, daily)
		b.choose(finance, daily)
		b.note(notification.Unmatched, 2)
		b.note(notification.Declined, 1)
		sendRefused := func(what string, want int64) {
			b.Helper()
			b.sender.Mails = &refusingMails{Notifier: mails}
			if err := b.sender.SendDue(t.Context()); !errors.Is(err, errRefused) {
				b.Errorf("%s: SendDue answered %v, want %v", what, err, errRefused)
			}
			var written int64
			b.must(b.db.Read(t.Context()).Model(&models.Mail{}).Count(&written).Error)
			if written != want {
				b.Errorf("%s: %d mails are written beside the refused one, want %d", what, written, want)
			}
		}
		sendRefused("mails at once", 2)
		b.expect("the refused notification, tried again", b.sent(0), "Dede  1", "Kofi  1")
		b.clock.Advance(24 * time.Hour)
		sendRefused("daily mails", 5)
		b.expect("the refused daily mail, tried again", b.sent(0), "Kofi s_daily 1")
	})
}

// TestMailboxIsNotFlooded (AP-27): a person gets ten mails an hour of all businesses, and one that sums up the rest when
// the hour is over.
func TestMailboxIsNotFlooded(t *testing.T) {
	eachBench(t, func(b *bench) {
		b.hire("Ada", scope.Finance)
		b.note(notification.Declined, 500)
		got := map[string]int{}
		for range 7 {
			for _, one := range b.sent(time.Second) {
				got[one]++
			}
		}
		if len(got) != 2 || got["Kofi  1"] != email.MaxPerHour || got["Ada  1"] != email.MaxPerHour {
			b.Errorf("after 500 declined payments sent %v, want %d mails to each", got, email.MaxPerHour)
		}
		b.note(notification.Unmatched, 3)
		b.expect("more within the hour", b.sent(30*time.Minute))
		b.expect("when the hour is over", b.sent(30*time.Minute), "Ada s_held 493", "Kofi s_held 493")
		if l := b.letters[0]; len(l.Notifications) != email.MaxListed || l.Notifications[0].Kind != notification.Unmatched ||
			!strings.HasSuffix(l.SettingsURL, "/dashboard/notifications/settings") {
			b.Errorf("the summary lists %d notifications, the first is %s, and leads to %s; want the newest %d and the settings",
				len(l.Notifications), l.Notifications[0].Kind, l.SettingsURL, email.MaxListed)
		}
		b.note(notification.Declined, 1)
		b.expect("one more in the next hour", b.sent(time.Minute), "Ada  1", "Kofi  1")
	})
}

// TestDailyMail: one mail at eight in the business's time zone with all since the one before, and none of an empty day.
func TestDailyMail(t *testing.T) {
	eachBench(t, func(b *bench) {
		b.note(notification.Paid, 1)
		daily := map[notification.Kind]notification.Mode{notification.Paid: notification.Daily, notification.Declined: notification.Daily}
		b.choose(b.owner, daily)
		b.note(notification.Paid, 25)
		b.note(notification.Declined, 2)
		b.expect("in the evening", b.sent(6*time.Hour))
		b.expect("at 6:59 UTC, 7:59 in Lagos", b.sent(12*time.Hour+59*time.Minute))
		b.expect("at eight in Lagos", b.sent(time.Minute), "Kofi s_daily 27")
		if n := len(b.letters[0].Notifications); n != email.MaxListed || b.letters[0].Zone.String() != "Africa/Lagos" {
			b.Errorf("the mail lists %d notifications in %s, want %d in Africa/Lagos", n, b.letters[0].Zone, email.MaxListed)
		}
		b.expect("a minute later", b.sent(time.Minute))
		b.expect("the next day, of which there is nothing", b.sent(24*time.Hour))
		b.note(notification.Paid, 1)
		b.expect("the day after", b.sent(24*time.Hour), "Kofi s_daily 1")
		b.note(notification.Paid, 1)
		b.choose(b.owner, map[notification.Kind]notification.Mode{notification.Paid: notification.Off, notification.Declined: notification.Off})
		b.expect("after it was switched off", b.sent(48*time.Hour))
	})
}

// TestMailsOfTwoProcesses: what two processes work off at the same time is mailed once.
func TestMailsOfTwoProcesses(t *testing.T) {
	eachBench(t, func(b *bench) {
		b.note(notification.Declined, 5)
		failed := make(chan error, 4)
		for range cap(failed) {
			twin := *b.sender
			twin.Render = func(email.Letter) (subject, text, html string) { return "s", "t", "" }
			go func() { failed <- twin.SendDue(b.Context()) }()
		}
		for range cap(failed) {
			b.must(<-failed)
		}
		var mails int64
		b.must(b.db.Read(b.Context()).Model(&models.Mail{}).Count(&mails).Error)
		if mails != 5 {
			b.Errorf("%d mails are queued for five notifications, want 5", mails)
		}
	})
}

// TestFormerMembersGetNothing: a former member gets no mail, and their choice is forgotten.
func TestFormerMembersGetNothing(t *testing.T) {
	eachBench(t, func(b *bench) {
		left := b.hire("Lamin", scope.Admin)
		b.choose(left, map[notification.Kind]notification.Mode{notification.Paid: notification.Daily})
		b.note(notification.Declined, 1)
		b.note(notification.Paid, 1)
		b.must(b.db.Exec(b.Context()).Where("business_id = ? AND role = 'admin'", b.owner.BusinessID).Delete(&models.Member{}).Error)
		b.expect("after Lamin left", b.sent(0), "Kofi  1")
		b.expect("the next day", b.sent(24*time.Hour))
		b.must(b.notices.ForgetFormerMembers(b.Context()))
		var choices []models.NotificationChoice
		b.must(b.db.Read(b.Context()).Find(&choices).Error)
		if len(choices) != 0 {
			b.Errorf("%d choices of a person who left are kept, want none", len(choices))
		}
	})
}

// TestNotificationsAreKeptFor90Days: older ones are deleted with their marks, however many there are.
func TestNotificationsAreKeptFor90Days(t *testing.T) {
	eachBench(t, func(b *bench) {
		b.note(notification.Paid, 600)
		b.must(b.notices.MarkRead(b.Context(), b.owner, 1))
		b.clock.Advance(time.Hour)
		b.note(notification.Paid, 1)
		prune := func() (rounds int) {
			for more := true; more; rounds++ {
				var err error
				more, err = b.notices.Prune(b.Context())
				b.must(err)
			}
			return rounds
		}
		count := func() (rows, reads int64) {
			b.must(b.db.Read(b.Context()).Model(&models.Notification{}).Count(&rows).Error)
			b.must(b.db.Read(b.Context()).Model(&models.NotificationRead{}).Count(&reads).Error)
			return rows, reads
		}
		b.clock.Advance(notification.Kept - time.Hour)
		if prune(); true {
			if rows, reads := count(); rows != 601 || reads != 1 {
				b.Errorf("after 90 days %d notifications and %d marks are kept, want 601 and 1", rows, reads)
			}
		}
		b.clock.Advance(time.Second)
		rounds := prune()
		if rows, reads := count(); rows != 1 || reads != 0 || rounds != 2 {
			b.Errorf("a second later %d notifications and %d marks are kept after %d rounds, want 1, none and 2", rows, reads, rounds)
		}
	})
}
