package mail_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"mime"
	netmail "net/mail"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"gorm.io/gorm"

	"cointill/core/mail"
	"cointill/core/outbox"
	"cointill/core/scope"
	"cointill/models"
)

// TestSentOnce sends one mail for a payment whose receipt is queued three
// times, and says everything in it as it should be said.
func TestSentOnce(t *testing.T) {
	each(t, "", func(t *testing.T, b *bundle, p *post) {
		for range 3 {
			b.queue(sample("PAY_1"))
		}
		if n := b.step(); n != 1 {
			t.Fatalf("%d attempts", n)
		}
		b.clock.Advance(48 * time.Hour)
		b.step()
		got := p.messages()
		if len(got) != 1 {
			t.Fatalf("%d mails arrived, want 1", len(got))
		}
		m := b.only()
		if m.State != mail.Sent || m.LastError != "" || m.DoneAt == nil || m.Attempt != 1 || m.CanResend() {
			t.Errorf("%+v", m)
		}
		read, err := netmail.ReadMessage(strings.NewReader(got[0]))
		if err != nil {
			t.Fatal(err)
		}
		from, err := read.Header.AddressList("From")
		if err != nil || from[0].Name != "Àdìrẹ Shop" || from[0].Address != "till@example.com" {
			t.Errorf("from = %v, err = %v", from, err)
		}
		to, err := read.Header.AddressList("To")
		if err != nil || len(to) != 1 || to[0].Name != "Chiọma Ọbí" || to[0].Address != "chioma@example.com" {
			t.Errorf("to = %v, err = %v", to, err)
		}
		if subject, err := new(mime.WordDecoder).DecodeHeader(read.Header.Get("Subject")); err != nil || subject != "Receipt from Àdìrẹ Shop" {
			t.Errorf(`new(mime.WordDecoder).DecodeHeader(read.Header.Get("Subject")): subject = %v, err = %v`, subject, err)
		}
		if date, err := read.Header.Date(); err != nil || !date.Equal(start) {
			t.Errorf("read.Header.Date(): date = %v, err = %v", date, err)
		}
		var row models.Mail
		if err := b.DB.Read(t.Context()).Take(&row).Error; err != nil {
			t.Fatal(err)
		}
		if id := read.Header.Get("Message-ID"); id != "<"+row.MessageID+">" || !strings.HasSuffix(id, "@example.com>") {
			t.Errorf(`read.Header.Get("Message-ID"): id = %v`, id)
		}
		if kind := read.Header.Get("Content-Type"); !strings.HasPrefix(kind, "multipart/alternative") {
			t.Errorf(`read.Header.Get("Content-Type"): kind = %v`, kind)
		}
		for _, r := range strings.Join(got, "") {
			if r > 126 {
				t.Fatalf("%q is sent unencoded", r)
			}
		}
	})
}

// TestAnswersToReceiptsGoToTheContact: a receipt names the business's contact as it is when it is sent, for answers. Other
// mails, and receipts of a business without a contact, name nobody.
func TestAnswersToReceiptsGoToTheContact(t *testing.T) {
	each(t, "", func(t *testing.T, b *bundle, p *post) {
		shop := models.Business{Code: "BUS_1", Name: "Shop", TimeZone: "UTC", LatePayments: "accept", ContactEmail: "old@shop.example"}
		other := models.Business{Code: "BUS_2", Name: "Other", TimeZone: "UTC", LatePayments: "accept"}
		for _, row := range []*models.Business{&shop, &other} {
			if err := b.DB.Exec(t.Context()).Create(row).Error; err != nil {
				t.Fatal(err)
			}
		}
		first, second := sample("PAY_1"), sample("PAY_2")
		first.BusinessID, second.BusinessID, second.CustomerEmail = shop.ID, other.ID, "bayo@example.com"
		b.queue(first)
		b.queue(second)
		notice := mail.Notice{BusinessID: shop.ID, Domain: scope.Test, Kind: "wallet", About: "1", To: "ama@example.com", Subject: "Notice", Text: "x", HTML: "x"}
		if err := b.DB.Write(t.Context(), func(tx *models.Tx) error { return b.Notify(tx, notice) }); err != nil {
			t.Fatal(err)
		}
		if err := b.DB.Exec(t.Context()).Model(&shop).Update("contact_email", "help@shop.example").Error; err != nil {
			t.Fatal(err)
		}
		b.step()
		answers := map[string][]string{}
		for _, message := range p.messages() {
			answers[header(message, "To")[0]] = header(message, "Reply-To")
		}
		if len(answers) != 3 {
			t.Fatalf("mails to %d people arrived, want 3: %v", len(answers), answers)
		}
		for to, got := range answers {
			named := len(got) == 1 && strings.HasSuffix(got[0], "<help@shop.example>")
			if wanted := strings.Contains(to, first.CustomerEmail); named != wanted || !wanted && len(got) > 0 {
				t.Errorf("answers of %s go to %v, want the contact at present: %t", to, got, wanted)
			}
		}
	})
}

// TestHeaderInjection (AP-11) puts line ends and what follows them into everything that
// a header is made of.
func TestHeaderInjection(t *testing.T) {
	each(t, "", func(t *testing.T, b *bundle, p *post) {
		for i, evil := range []string{
			"Shop\r\nBcc: victim@example.com", "Shop\nBcc: victim@example.com", "Shop\rBcc: victim@example.com",
			"Shop\r\n\r\n<script>", "\" <victim@example.com>, \"", "=?utf-8?q?x=0D=0ABcc:_victim@example.com?=",
			"Shop\u2028Bcc: victim@example.com", "a@b, victim@example.com", "\u202eShop", strings.Repeat("Ọ", 300) + "\r\nBcc: victim@example.com",
		} {
			r := sample("PAY_" + string(rune('A'+i)))
			r.BusinessName, r.CustomerName = evil, evil
			b.queue(r)
		}
		b.step()
		got := p.messages()
		if len(got) != 10 {
			t.Fatalf("%d mails arrived", len(got))
		}
		for _, message := range got {
			if n := len(header(message, "Bcc")) + len(header(message, "Cc")); n != 0 {
				t.Errorf("a recipient was injected:\n%s", message)
			}
			for _, name := range []string{"To", "From", "Subject", "Message-ID", "Date"} {
				if n := len(header(message, name)); n != 1 {
					t.Errorf("%d headers %s", n, name)
				}
			}
			read, err := netmail.ReadMessage(strings.NewReader(message))
			if err != nil {
				t.Fatal(err)
			}
			if to, err := read.Header.AddressList("To"); err != nil || len(to) != 1 || to[0].Address != "chioma@example.com" {
				t.Errorf(`read.Header.AddressList("To"): to = %v, err = %v`, to, err)
			}
			if strings.Contains(message, "\r\n\r\n<script>") {
				t.Error("the header was ended early")
			}
		}
		for i, address := range []string{"a@b\r\nRCPT TO:<victim@example.com>", "a@example.com>\r\nDATA", "a b@example.com", "ü@example.com", ""} { // no SMTPUTF8: it fails, and says so
			r := sample("PAY_X" + string(rune('A'+i)))
			r.CustomerEmail = address
			b.queue(r)
		}
		b.step()
		list, _, err := b.ListMails(t.Context(), owner, 0, 5)
		if err != nil || len(p.messages()) != 10 {
			t.Fatalf("len(p.messages()) = %v, err = %v", len(p.messages()), err)
		}
		p.set(func() {
			if want := slices.Repeat([]string{"chioma@example.com"}, 10); !slices.Equal(p.sentTo, want) {
				t.Errorf("the envelopes went to %q, want ten to the customer alone", p.sentTo)
			}
		})
		for _, m := range list {
			if m.State != mail.Failed || m.LastError == "" {
				t.Errorf("to %q: %+v", m.To, m)
			}
		}
	})
}

// TestRefusedForNow goes through the whole schedule; the Message-ID never changes.
func TestRefusedForNow(t *testing.T) {
	each(t, "", func(t *testing.T, b *bundle, p *post) {
		var ids []string
		p.data = func(_ *smtp.Conn, message string) error {
			p.set(func() { ids = append(ids, header(message, "Message-ID")...) })
			return &smtp.SMTPError{Code: 451, Message: "try later"}
		}
		b.queue(sample("PAY_1"))
		for i, wait := range []time.Duration{30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour} {
			b.step()
			m := b.only()
			if m.State != "pending" || m.Attempt != i+1 || !strings.Contains(m.LastError, "451") {
				t.Fatalf("after attempt %d: %+v", i+1, m)
			}
			got := m.NextAt.Sub(b.clock.Now())
			if got < wait-wait/10 || got > wait+wait/10 {
				t.Errorf("wait %d is %s, want %s", i+1, got, wait)
			}
			b.clock.Advance(got)
		}
		b.step()
		if m := b.only(); m.State != mail.Failed || m.Attempt != 7 || !m.CanResend() || !strings.Contains(m.LastError, "try later") {
			t.Errorf("at the end: %+v", m)
		}
		b.clock.Advance(48 * time.Hour)
		if n := b.step(); n != 0 {
			t.Error("tried again after the end")
		}
		p.set(func() { p.data = nil })
		b.resend(b.only().ID)
		b.step()
		if m := b.only(); m.State != mail.Sent || len(p.messages()) != 1 {
			t.Errorf("sent again: %+v", m)
		}
		if ids = append(ids, header(p.messages()[0], "Message-ID")...); len(ids) != 8 || len(slices.Compact(ids)) != 1 {
			t.Errorf("Message-IDs %v", ids)
		}
	})
}

// TestRefused says which refusals are final: only those about this very mail.
func TestRefused(t *testing.T) {
	cases := map[string]struct {
		set  func(p *post)
		want string
	}{
		"sender 5xx":    {func(p *post) { p.mail = code(550, "who are you") }, "pending"},
		"sender 4xx":    {func(p *post) { p.mail = code(450, "busy") }, "pending"},
		"recipient 4xx": {func(p *post) { p.rcpt = code(450, "greylisted") }, "pending"},
		"recipient 5xx": {func(p *post) { p.rcpt = code(550, "no such user") }, mail.Failed},
		"message 5xx": {func(p *post) {
			p.data = func(*smtp.Conn, string) error { return &smtp.SMTPError{Code: 554, Message: "looks bad"} }
		}, mail.Failed},
	}
	each(t, "", func(t *testing.T, b *bundle, p *post) {
		var log bytes.Buffer
		b.worker = b.NewWorker(outbox.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		for name, c := range cases {
			log.Reset()
			p.set(func() { p.mail, p.rcpt, p.data = nil, nil, nil })
			c.set(p)
			b.queue(sample("PAY_" + name))
			b.step()
			list, _, err := b.ListMails(t.Context(), owner, 0, 1)
			if err != nil || list[0].State != c.want || list[0].LastError == "" || len(p.messages()) != 0 {
				t.Errorf("%s: %+v %v", name, list, err)
			}
			if logged := strings.Contains(log.String(), "outcome=failed"); logged != (c.want == mail.Failed) || strings.Contains(log.String(), "@") {
				t.Errorf("%s: the log says %q, want a failed mail: %t, and no address", name, log.String(), c.want == mail.Failed)
			}
		}
	})
}

// TestUnreachable tries again when the server is not there or says nothing.
func TestUnreachable(t *testing.T) {
	each(t, "", func(t *testing.T, b *bundle, p *post) {
		p.rcpt = func() error { <-p.halted; return nil }
		b.SMTP.Timeout = 300 * time.Millisecond
		b.queue(sample("PAY_1"))
		b.step()
		if m := b.only(); m.State != "pending" || m.LastError == "" {
			t.Errorf("hanging: %+v", m)
		}
		_ = p.server.Close()
		b.clock.Advance(time.Minute)
		b.step()
		if m := b.only(); m.State != "pending" || m.Attempt != 2 || !strings.Contains(m.LastError, "could not be reached") {
			t.Errorf("closed: %+v", m)
		}
	})
}

// unanswered makes the server keep a message and then do what a test says, without an answer to it.
func unanswered(p *post, after func(p *post, c *smtp.Conn)) {
	p.data = func(c *smtp.Conn, message string) error {
		p.set(func() { p.got = append(p.got, message) })
		after(p, c)
		return errors.New("too late")
	}
}

// closeConnection ends a conversation before the answer.
func closeConnection(_ *post, c *smtp.Conn) { _ = c.Conn().Close() }

// TestNoAnswer covers servers that take the message and die, or never say so: nobody knows, so it is sent once more when
// a day has passed, with the same Message-ID, and never again. After that a person may decide.
func TestNoAnswer(t *testing.T) {
	for name, after := range map[string]func(p *post, c *smtp.Conn){
		"dies": closeConnection, "hangs": func(p *post, _ *smtp.Conn) { <-p.halted },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, "", func(t *testing.T, b *bundle, p *post) {
				b.SMTP.Timeout = 500 * time.Millisecond
				unanswered(p, after)
				b.queue(sample("PAY_1"))
				b.step()
				m := b.only()
				if m.State != mail.Unknown || m.NextAt == nil || !m.CanResend() || len(p.messages()) != 1 {
					t.Fatalf("%d arrived: %+v, want one, unknown and sent once more", len(p.messages()), m)
				}
				if wait := m.NextAt.Sub(b.clock.Now()); wait != 24*time.Hour {
					t.Fatalf("it is sent once more after %s, want 24h", wait)
				}
				b.clock.Advance(24*time.Hour - time.Second)
				if n := b.step(); n != 0 || len(p.messages()) != 1 {
					t.Fatalf("%d attempts before the day is over, want none", n)
				}
				b.clock.Advance(time.Second)
				b.step()
				if m = b.only(); m.State != mail.Unknown || m.NextAt != nil || m.DoneAt == nil || m.Attempt != 2 || !m.CanResend() {
					t.Fatalf("after the second time: %+v, want unknown at its end", m)
				}
				b.clock.Advance(30 * 24 * time.Hour)
				if n := b.step(); n != 0 || len(p.messages()) != 2 {
					t.Fatalf("%d attempts, %d arrived, want none after the second time", n, len(p.messages()))
				}
				p.set(func() { p.data = nil })
				b.resend(m.ID)
				b.step()
				var ids []string
				for _, message := range p.messages() {
					ids = append(ids, header(message, "Message-ID")...)
				}
				if m := b.only(); m.State != mail.Sent || len(ids) != 3 || len(slices.Compact(ids)) != 1 {
					t.Errorf("sent again by a person: %+v, Message-IDs %v, want three times the same", m, ids)
				}
			})
		})
	}
}

// TestSecondTimeEndsTheMail: whatever comes of the second time, there is no third.
func TestSecondTimeEndsTheMail(t *testing.T) {
	for name, c := range map[string]struct {
		second func(b *bundle, p *post)
		state  string
		says   string
		copies int
	}{
		"taken": {func(_ *bundle, p *post) { p.set(func() { p.data = nil }) }, mail.Sent, "", 2},
		"refused for now": {func(_ *bundle, p *post) { p.set(func() { p.rcpt = code(450, "greylisted") }) }, mail.Unknown,
			"greylisted", 1},
		"refused": {func(_ *bundle, p *post) { p.set(func() { p.rcpt = code(550, "no such user") }) }, mail.Unknown,
			"may have arrived the first time", 1},
		"no server": {func(b *bundle, _ *post) { b.SMTP = nil }, mail.Unknown, "no mail server", 1},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, "", func(t *testing.T, b *bundle, p *post) {
				unanswered(p, closeConnection)
				b.queue(sample("PAY_1"))
				b.step()
				c.second(b, p)
				b.clock.Advance(24 * time.Hour)
				b.step()
				b.clock.Advance(30 * 24 * time.Hour)
				n := b.step()
				m := b.only()
				if n != 0 || m.State != c.state || m.DoneAt == nil || !strings.Contains(m.LastError, c.says) {
					t.Errorf("%d later attempts, %+v, want none, and %s saying %q", n, m, c.state, c.says)
				}
				if got := len(p.messages()); got != c.copies {
					t.Errorf("%d copies arrived, want %d", got, c.copies)
				}
			})
		})
	}
}

// TestPersonNeedNotWaitForTheSecondTime: a mail that waits to be sent once more can be sent at once, in place of the second
// time, but not while that is under way.
func TestPersonNeedNotWaitForTheSecondTime(t *testing.T) {
	each(t, "", func(t *testing.T, b *bundle, p *post) {
		unanswered(p, closeConnection)
		b.queue(sample("PAY_1"))
		b.step()
		p.set(func() { p.data = nil })
		b.resend(b.only().ID)
		b.step()
		b.clock.Advance(24 * time.Hour)
		n := b.step()
		if m := b.only(); n != 0 || m.State != mail.Sent || len(p.messages()) != 2 {
			t.Fatalf("%d attempts after a day, %d arrived: %+v, want the one that a person asked for", n, len(p.messages()), m)
		}
		unanswered(p, closeConnection)
		b.queue(sample("PAY_2"))
		b.step()
		b.clock.Advance(24 * time.Hour)
		list, _, err := b.ListMails(t.Context(), owner, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		id := list[0].ID
		var refused error
		p.set(func() {
			p.data = nil
			p.rcpt = func() error { _, refused = b.ResendMail(context.Background(), owner, id); return nil }
		})
		b.step()
		if m, err := b.FindMail(t.Context(), owner, id); err != nil || refused == nil || m.State != mail.Sent || m.Attempt != 2 {
			t.Errorf("sent by a person under way: %v; afterwards %+v, %v, want a refusal, and sent", refused, m, err)
		}
	})
}

// TestOnlyHarmlessMailsAreSentOnceMore: a mail with a link that works once, one that asks for an action, one about what may
// be over by then, and one that nobody has judged, is not sent by itself a day later.
func TestOnlyHarmlessMailsAreSentOnceMore(t *testing.T) {
	each(t, "", func(t *testing.T, b *bundle, _ *post) {
		want := map[string]bool{
			"monthly_statement": true, "receiving_changed": true, "webhook_off": true, "notification": true,
			"notifications_held": true, "notifications_daily": true, "send_done": true, "send_another_way": true,
			"send_paid_twice": true, "send_reversed": true, "send_sent_anyway": true, "account_new_device": true,
			"account_email_changed": true, "account_password_changed": true, "account_second_factor_on": true,
			"account_second_factor_off": true, "account_passkey_added": true, "account_passkey_removed": true,
			"account_passkey_copied": true,
			"account_invitation":     false, "account_password_reset": false, "account_email_confirm": false,
			"account_email_asked": false, "send_claim": false, "send_confirm": false, "send_approve": false,
			"send_marked": false, "send_on_its_way": false, "chain_unhealthy": false, "chain_healthy": false, "new": false,
		}
		for kind := range want {
			n := mail.Notice{BusinessID: 1, Domain: scope.Test, Kind: kind, About: "1", To: "ama@example.com", Subject: "x",
				Text: "x", HTML: "x"}
			if err := b.DB.Write(t.Context(), func(tx *models.Tx) error { return b.Notify(tx, n) }); err != nil {
				t.Fatal(err)
			}
		}
		b.kill(true)
		b.clock.Advance(2 * time.Minute)
		for b.step() > 0 {
		}
		list, _, err := b.ListMails(t.Context(), owner, 0, 100)
		if err != nil || len(list) != len(want) {
			t.Fatalf("%d mails, want %d: %v", len(list), len(want), err)
		}
		for _, m := range list {
			if again := m.NextAt != nil; m.State != mail.Unknown || again != want[m.Kind] {
				t.Errorf("%s: %s, sent once more: %t, want %t", m.Kind, m.State, again, want[m.Kind])
			}
		}
	})
}

// kill leaves the rows that are not done as a process that was killed leaves them: claimed, and with sending also handed
// over without a record of the answer.
func (b *bundle) kill(sending bool) {
	b.t.Helper()
	err := b.DB.Exec(b.t.Context()).Model(&models.Mail{}).Where("done_at IS NULL").Updates(map[string]any{
		"attempt": gorm.Expr("attempt + 1"), "claimed_at": b.clock.Now(), "due_at": b.clock.Now().Add(2 * time.Minute),
		"sending": sending,
	}).Error
	if err != nil {
		b.t.Fatal(err)
	}
}

// TestCrash leaves rows as a process that was killed leaves them, at each phase.
func TestCrash(t *testing.T) {
	each(t, "", func(t *testing.T, b *bundle, p *post) {
		b.queue(sample("PAY_1"))
		b.kill(false) // killed before the message was handed over: it certainly did not arrive
		if m := b.only(); m.State != "sending" {
			t.Errorf("%+v", m)
		}
		if n := b.step(); n != 0 {
			t.Fatal("taken before the lease ended")
		}
		b.clock.Advance(2 * time.Minute)
		b.step()
		if m := b.only(); m.State != mail.Sent || len(p.messages()) != 1 {
			t.Fatalf("%+v", m)
		}
		b.queue(sample("PAY_2"))
		b.kill(true) // killed between the hand-over and the record of the answer
		b.clock.Advance(2 * time.Minute)
		b.step()
		list, _, err := b.ListMails(t.Context(), owner, 0, 1)
		if err != nil || list[0].State != mail.Unknown || list[0].NextAt == nil || len(p.messages()) != 1 {
			t.Fatalf("%+v %v, %d arrived, want it unknown and sent once more", list, err, len(p.messages()))
		}
		b.clock.Advance(24 * time.Hour)
		b.kill(false) // killed before the second copy was handed over: it is still to be
		b.clock.Advance(2 * time.Minute)
		if m, err := b.FindMail(t.Context(), owner, list[0].ID); err != nil || m.State != "pending" || m.CanResend() {
			t.Errorf("before it is taken up again: %+v %v, want it pending", m, err)
		}
		b.step()
		if m, err := b.FindMail(t.Context(), owner, list[0].ID); err != nil || m.State != mail.Sent || len(p.messages()) != 2 {
			t.Fatalf("killed before the second copy: %+v %v, %d arrived, want it sent", m, err, len(p.messages()))
		}
		b.queue(sample("PAY_3"))
		b.kill(true)
		b.clock.Advance(2 * time.Minute)
		b.step()
		b.clock.Advance(24 * time.Hour)
		b.kill(true) // killed between the hand-over of the second copy and the record of the answer
		for range 2 {
			b.clock.Advance(48 * time.Hour)
			b.step()
		}
		list, _, err = b.ListMails(t.Context(), owner, 0, 1)
		if err != nil || list[0].State != mail.Unknown || list[0].DoneAt == nil || len(p.messages()) != 2 {
			t.Errorf("killed after the second copy: %+v %v, %d arrived, want no third", list, err, len(p.messages()))
		}
	})
}

// TestLostLease drops the connection before the end of the message when the
// mail was claimed by another in the meantime: the server delivers nothing.
func TestLostLease(t *testing.T) {
	each(t, "", func(t *testing.T, b *bundle, p *post) {
		p.rcpt = func() error {
			return b.DB.Exec(context.Background()).Model(&models.Mail{}).Where("1 = 1").Update("attempt", 7).Error
		}
		b.queue(sample("PAY_1"))
		b.step()
		if m := b.only(); m.State != "sending" || m.Attempt != 7 || len(p.messages()) != 0 {
			t.Errorf("%d arrived: %+v", len(p.messages()), m)
		}
	})
}

// TestTLS sends over STARTTLS with a sign-in, and sends nothing in clear where
// TLS is required.
func TestTLS(t *testing.T) {
	t.Run("offered", func(t *testing.T) {
		each(t, "&tls=starttls", func(t *testing.T, b *bundle, p *post) {
			server, err := mail.ParseSMTP("smtp://till:p%40ss@" + p.address + "?from=till@example.com&tls=starttls")
			if err != nil {
				t.Fatal(err)
			}
			server.TLS, b.SMTP = p.tls, server
			b.queue(sample("PAY_1"))
			b.step()
			if m := b.only(); m.State != mail.Sent || !slices.Equal(p.users, []string{"till"}) {
				t.Errorf("%+v, signed in: %v", m, p.users)
			}
		}, withTLS)
	})
	t.Run("not offered", func(t *testing.T) {
		each(t, "&tls=starttls", func(t *testing.T, b *bundle, p *post) {
			b.queue(sample("PAY_1"))
			b.step()
			if m := b.only(); m.State != "pending" || len(p.messages()) != 0 || !strings.Contains(m.LastError, "STARTTLS") {
				t.Errorf("%+v", m)
			}
		})
	})
	t.Run("not trusted", func(t *testing.T) {
		each(t, "&tls=starttls", func(t *testing.T, b *bundle, p *post) {
			b.SMTP.TLS = nil
			b.queue(sample("PAY_1"))
			b.step()
			if m := b.only(); m.State != "pending" || len(p.messages()) != 0 || !strings.Contains(m.LastError, "certificate") {
				t.Errorf("%+v", m)
			}
		}, withTLS)
	})
	t.Run("wrong password", func(t *testing.T) {
		each(t, "", func(t *testing.T, b *bundle, p *post) {
			server, err := mail.ParseSMTP("smtp://till:secretword@" + p.address + "?from=till@example.com")
			if err != nil {
				t.Fatal(err)
			}
			b.SMTP = server
			b.queue(sample("PAY_1"))
			b.step()
			if m := b.only(); m.State != "pending" || m.LastError == "" || strings.Contains(m.LastError, "secretword") {
				t.Errorf("%+v", m)
			}
		})
	})
}

func TestParseSMTP(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		"smtp://mail.example.com?from=a@example.com", "smtp://u:p@mail.example.com:2525/?from=a@example.com&tls=none",
		"smtps://u:p@mail.example.com?from=Shop%20%3Ca@example.com%3E", "smtp://localhost:1025?from=till@localhost",
	} {
		if _, err := mail.ParseSMTP(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", "mail.example.com:25", "http://mail.example.com?from=a@example.com", "smtp://?from=a@example.com", "smtp://u:hunter2@mail.example.com",
		"smtp://u:hunter2@mail.example.com?from=nobody", "smtp://u:hunter2@mail.example.com?from=a@example.com&tls=maybe",
		"smtps://u:hunter2@mail.example.com?from=a@example.com&tls=none", "smtp://u:hunter2@mail.example.com:99999?from=a@example.com",
		"smtp://u:hunter2@mail.example.com/path?from=a@example.com", "smtp://u:hunter2@mail.example.com?from=a@example.com&auth=x",
		"smtp://u:hunter2%zz@mail.example.com?from=a@example.com", "smtp://u:hunter2@mail.example.com?from=a@example.com%0d%0aBcc:b@example.com",
	} {
		if _, err := mail.ParseSMTP(bad); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestKept keeps mails without a mail server, also those that were on their way.
func TestKept(t *testing.T) {
	each(t, "", func(t *testing.T, b *bundle, p *post) {
		server := b.SMTP
		b.queue(sample("PAY_1"))
		b.SMTP = nil
		b.step()
		if m := b.only(); m.State != mail.Kept {
			t.Errorf("%+v", m)
		}
		b.queue(sample("PAY_2"))
		list, _, err := b.ListMails(t.Context(), owner, 0, 25)
		if err != nil || len(list) != 2 || list[0].State != mail.Kept || list[0].Text != "" {
			t.Fatalf("%+v %v", list, err)
		}
		if _, err := b.ResendMail(t.Context(), owner, list[0].ID); err == nil {
			t.Error("sent without a mail server")
		}
		b.SMTP = server
		if n := b.step(); n != 0 {
			t.Error("kept mails are sent by themselves when a server comes")
		}
		b.resend(list[0].ID)
		b.step()
		if n := len(p.messages()); n != 1 {
			t.Errorf("%d arrived", n)
		}
		if _, err := b.ResendMail(t.Context(), owner, list[0].ID); err == nil {
			t.Error("sent a second time")
		}
	})
}

// TestMailbox pages through the mails, in the scope only.
func TestMailbox(t *testing.T) {
	each(t, "", func(t *testing.T, b *bundle, _ *post) {
		ctx := t.Context()
		for _, reference := range []string{"PAY_A", "PAY_B", "PAY_C", "PAY_D", "PAY_E", "PAY_F", "PAY_G"} {
			b.queue(sample(reference))
		}
		var seen []string
		var id int64
		for before := int64(0); ; {
			list, next, err := b.ListMails(ctx, owner, before, 3)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range list {
				seen, id = append(seen, m.About), m.ID
			}
			if before = next; before == 0 {
				break
			}
		}
		if got := strings.Join(seen, ""); got != "PAY_GPAY_FPAY_EPAY_DPAY_CPAY_BPAY_A" {
			t.Errorf(`strings.Join(seen, ""): got = %v`, got)
		}
		for _, sc := range []scope.Scope{{BusinessID: 2, Domain: scope.Test, Role: scope.Owner}, {BusinessID: 1, Domain: scope.Live, Role: scope.Owner},
			{BusinessID: 1, Domain: scope.Live, Role: scope.Developer}, {Role: scope.Owner}} {
			if _, err := b.FindMail(ctx, sc, id); err == nil {
				t.Errorf("found from %+v", sc)
			}
			if _, err := b.ResendMail(ctx, sc, id); err == nil {
				t.Errorf("resent from %+v", sc)
			}
			if list, _, _ := b.ListMails(ctx, sc, 0, 25); len(list) != 0 {
				t.Errorf("listed from %+v", sc)
			}
		}
		if list, _, _ := b.ListMails(ctx, owner, 0, 0); len(list) != 1 {
			t.Errorf("a page of 0 mails: got %d, want 1", len(list))
		}
		if _, err := b.ResendMail(ctx, owner, id); err == nil {
			t.Error("a pending mail was queued again")
		}
	})
}

// TestNotice: a notice goes to a member by the same road, once for each kind
// and what it is about, and only when what it tells of was committed.
func TestNotice(t *testing.T) {
	each(t, "", func(t *testing.T, b *bundle, p *post) {
		notice := mail.Notice{BusinessID: 1, Domain: scope.Test, Kind: "receiving_changed", About: "wallet 3 for user 1", To: "ada@example.com",
			ToName: "Ada\r\nBcc: eve@example.com", Subject: "Your wallet\nchanged", Text: "It did.\n", HTML: "<p>It did.</p>"}
		undone := errors.New("undone")
		err := b.DB.Write(t.Context(), func(tx *models.Tx) error { return errors.Join(b.Notify(tx, notice), undone) })
		if !errors.Is(err, undone) || b.step() != 0 {
			t.Fatalf("a notice of what was undone: %v", err)
		}
		other := notice
		other.Kind = "something_else"
		for _, n := range []mail.Notice{notice, notice, other} {
			if err := b.DB.Write(t.Context(), func(tx *models.Tx) error { return b.Notify(tx, n) }); err != nil {
				t.Fatal(err)
			}
		}
		if n := b.step(); n != 2 {
			t.Fatalf("%d mails, want 2", n)
		}
		list, _, err := b.ListMails(t.Context(), owner, 0, 25)
		if err != nil || len(list) != 2 || list[1].State != mail.Sent || list[1].PaymentID != nil || list[1].FromName != "Cointill" || list[1].Kind != notice.Kind {
			t.Fatalf("%+v %v", list, err)
		}
		for _, message := range p.messages() {
			if len(header(message, "Bcc")) != 0 || header(message, "Subject")[0] != "Your wallet changed" || !strings.Contains(message, "It did.") {
				t.Errorf("message = %v", message)
			}
		}
	})
}
