// Package alarm mails people when a network can't be paid on, and when it can again.
// A problem is reported once it has lasted some minutes, and its end only if the
// problem was reported: one mail for each, to the owners of the businesses that take
// its coins in live, and to the operators. Problems of test networks go to the
// operators alone.
package alarm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"gorm.io/gorm/clause"

	"cointill/chain"
	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/core/clock"
	"cointill/core/mail"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/notification"
	"cointill/core/scope"
	"cointill/core/settings"
	"cointill/models"
)

const (
	// Lasts is how long a problem goes on before a mail is sent: a restart of a node,
	// or a reorg, takes less.
	Lasts = 10 * time.Minute
	every = 30 * time.Second
)

// The kinds of the mails. Owners switch both off by the first.
const (
	kindTrouble = settings.ChainUnhealthy
	kindOver    = "chain_healthy"
)

// Network is a network that real nodes show.
type Network struct {
	Name   chain.Network
	Domain scope.Domain
	Chain  money.Chain
}

// Notice is the mail to one person about a network.
type Notice struct {
	To auth.User
	// Business is whose owner they are; empty for an operator.
	Business string
	Domain   scope.Domain
	Network  string
	Chain    money.Chain
	Problem  string               // a sentence, as it was last
	Code     networks.TroubleCode // of the problem
	Over     bool                 // it is well again
	// Since is when it began and At when this was written, in the reader's time zone.
	Since, At time.Time
	URL       string
}

// Service tells. Its fields are set once, before use.
type Service struct {
	DB       *models.DB
	Clock    clock.Clock
	Networks []Network
	// Find says why a network can't be paid on now. It is zero when it can.
	Find      func(network string) networks.Trouble
	Operators *account.Service
	Mails     mail.Notifier
	Render    func(Notice) (subject, text, html string)
	// Wake is called once mails are committed.
	Wake func()
	// Base is this server's address.
	Base string
}

// Run looks twice a minute until the context ends. One process does it for all.
func (s *Service) Run(ctx context.Context) error {
	return clock.RunEvery(ctx, every, func() {
		if err := s.Look(ctx); err != nil && ctx.Err() == nil {
			slog.ErrorContext(ctx, "troubles of networks can't be told; it is tried again", "error", err)
		}
	})
}

// Look records which networks have a problem now, and reports problems that have lasted or are over.
func (s *Service) Look(ctx context.Context) error {
	var rows []models.Alarm // as many as networks, at most
	if err := s.DB.Read(ctx).Find(&rows).Error; err != nil {
		return err
	}
	for _, n := range s.Networks {
		problem := s.Find(string(n.Name))
		at := slices.IndexFunc(rows, func(a models.Alarm) bool { return a.Name == string(n.Name) })
		var err error
		switch {
		case problem.Sentence.IsZero() && at < 0:
		case problem.Sentence.IsZero():
			err = s.endProblem(ctx, n, rows[at])
		case at < 0:
			row := models.Alarm{Name: string(n.Name), Problem: problem.Sentence.String(), Code: string(problem.Code),
				Since: s.Clock()}
			err = s.DB.Exec(ctx).Clauses(clause.OnConflict{DoNothing: true}).Create(&row).Error
		default:
			err = s.updateProblem(ctx, n, rows[at], problem)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// updateProblem stores the latest sentence of a problem, and reports it once it has lasted.
func (s *Service) updateProblem(ctx context.Context, n Network, row models.Alarm, problem networks.Trouble) error {
	now := s.Clock()
	known := row
	row.Problem, row.Code = problem.Sentence.String(), string(problem.Code)
	if row.ToldAt != nil || now.Sub(row.Since) < Lasts {
		if row == known {
			return nil
		}
		return s.DB.Exec(ctx).Model(&models.Alarm{}).Where("name = ?", row.Name).
			Updates(map[string]any{"problem": row.Problem, "code": row.Code}).Error
	}
	return s.queueMails(ctx, n, row, false, func(tx *models.Tx) (bool, error) {
		marked := tx.Model(&models.Alarm{}).Where("name = ? AND since = ? AND told_at IS NULL", row.Name, row.Since).
			Updates(map[string]any{"told_at": now, "problem": row.Problem, "code": row.Code})
		return marked.RowsAffected == 1, marked.Error
	})
}

// endProblem deletes a problem, and reports its end if the problem was reported.
func (s *Service) endProblem(ctx context.Context, n Network, row models.Alarm) error {
	return s.queueMails(ctx, n, row, true, func(tx *models.Tx) (bool, error) {
		gone := tx.Where("name = ? AND since = ?", row.Name, row.Since).Delete(&models.Alarm{})
		return gone.RowsAffected == 1 && row.ToldAt != nil, gone.Error
	})
}

// queueMails queues the mails in the transaction that records them as sent, unless another
// process has done so.
func (s *Service) queueMails(ctx context.Context, n Network, row models.Alarm, over bool,
	note func(tx *models.Tx) (bool, error)) error {
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		todo, err := note(tx)
		if err != nil || !todo {
			return err
		}
		letter := Notice{Domain: n.Domain, Network: string(n.Name), Chain: n.Chain, Problem: row.Problem,
			Code: networks.TroubleCode(row.Code), Over: over}
		mailed := map[int64]bool{}
		if n.Domain == scope.Live {
			if err := s.noteBusinesses(tx, n, letter); err != nil {
				return err
			}
			if err := s.mailOwners(tx, n, letter, row.Since, mailed); err != nil {
				return err
			}
		}
		operators, err := s.Operators.OperatorUsers(tx)
		if err != nil {
			return err
		}
		letter.URL = s.Base + "/dashboard/system"
		letter.Since, letter.At = row.Since.UTC(), s.Clock().UTC()
		for _, user := range operators {
			if !mailed[user.ID] {
				letter.To = user
				if err := s.queue(tx, letter, 0); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err == nil && s.Wake != nil {
		s.Wake()
	}
	return err
}

// noteBusinesses notes a problem for each business that takes the network's coins.
func (s *Service) noteBusinesses(tx *models.Tx, n Network, letter Notice) error {
	if letter.Over {
		return nil
	}
	businesses, err := listTaking(tx, n)
	for _, business := range businesses {
		err = errors.Join(err, notification.NoteNetwork(tx, business.ID, n.Domain, n.Chain,
			notification.Detail{Name: string(n.Name), Reason: string(letter.Code), Text: letter.Problem}, s.Clock()))
	}
	return err
}

// listTaking lists the businesses that take a network's coins.
func listTaking(tx *models.Tx, n Network) (businesses []models.Business, err error) {
	var codes []string
	for _, coin := range money.Coins() {
		if coin.Chain == n.Chain {
			codes = append(codes, string(coin.Method))
		}
	}
	taking := tx.Model(&models.Method{}).Where("domain = ? AND enabled = ? AND code IN ?", string(n.Domain), true,
		codes).Select("business_id")
	err = tx.Where("id IN (?)", taking).Order("id").Find(&businesses).Error
	return businesses, err
}

// mailOwners queues a mail for each owner of each business that takes the network's coins.
func (s *Service) mailOwners(tx *models.Tx, n Network, letter Notice, since time.Time, mailed map[int64]bool) error {
	businesses, err := listTaking(tx, n)
	if err != nil {
		return err
	}
	for _, business := range businesses {
		if !settings.WantsMail(business, settings.ChainUnhealthy) {
			continue
		}
		owners, err := account.Owners(tx, business.ID)
		if err != nil {
			return err
		}
		zone := clock.LoadZone(business.TimeZone)
		letter.Business, letter.Since, letter.At, letter.URL = business.Name, since.In(zone), s.Clock().In(zone),
			s.Base+"/dashboard/methods"
		for _, owner := range owners {
			letter.To, mailed[owner.ID] = owner, true
			if err := s.queue(tx, letter, business.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Service) queue(tx *models.Tx, n Notice, business int64) error {
	kind := kindTrouble
	if n.Over {
		kind = kindOver
	}
	subject, text, html := s.Render(n)
	return s.Mails.Notify(tx, mail.Notice{BusinessID: business, Domain: n.Domain, Kind: kind,
		About: fmt.Sprintf("%s since %d for user %d of business %d", n.Network, n.Since.UnixMicro(), n.To.ID, business),
		To:    n.To.Email, ToName: n.To.Name, Subject: subject, Text: text, HTML: html})
}
