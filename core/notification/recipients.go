package notification

import (
	"slices"

	"cointill/core/account/auth"
	"cointill/core/scope"
	"cointill/models"
)

// Recipients are a business with its members, and how each of them is notified by a channel about what happens in
// a domain.
type Recipients struct {
	Business models.Business
	Domain   scope.Domain
	Members  []Member
}

// Member is a person with their role in a business, and the modes that they chose.
type Member struct {
	User   auth.User
	Scope  scope.Scope
	chosen Chosen
}

// Wants reports whether a member may see a kind and is notified about it in a mode.
func (m Member) Wants(kind Kind, mode Mode) bool {
	return MaySee(m.Scope, kind) && m.chosen.ModeOf(m.User.ID, kind) == mode
}

// WantsAny reports whether a member is notified about any kind in a mode.
func (m Member) WantsAny(mode Mode) bool {
	return slices.ContainsFunc(Kinds(), func(k Kind) bool { return m.Wants(k, mode) })
}

// FindMember returns a member; nil for a former member.
func (r Recipients) FindMember(user int64) *Member {
	for i := range r.Members {
		if r.Members[i].User.ID == user {
			return &r.Members[i]
		}
	}
	return nil
}

// LoadRecipients reads a business with its members, in the order in which they came: locks are taken in that order.
func LoadRecipients(tx *models.Tx, business int64, domain scope.Domain, channel Channel) (r Recipients, err error) {
	r.Domain = domain
	if err := tx.Where("id = ?", business).Take(&r.Business).Error; err != nil {
		return r, err
	}
	var members []models.Member
	if err := tx.Where("business_id = ?", business).Order("id").Find(&members).Error; err != nil {
		return r, err
	}
	ids := make([]int64, len(members))
	for i, m := range members {
		ids[i] = m.UserID
	}
	var users []models.User
	if err := tx.Where("id IN ?", ids).Find(&users).Error; err != nil {
		return r, err
	}
	byID := map[int64]auth.User{}
	for _, user := range users {
		byID[user.ID] = auth.DescribeUser(user)
	}
	chosen, err := ReadChoices(tx, scope.Scope{BusinessID: business, Domain: domain}, channel, ids...)
	for _, m := range members {
		r.Members = append(r.Members, Member{User: byID[m.UserID], chosen: chosen, Scope: scope.Scope{BusinessID: business,
			Domain: domain, Actor: auth.ActorOf(m.UserID), Role: scope.Role(m.Role)}})
	}
	return r, err
}
