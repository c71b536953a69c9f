package account

import (
	"context"

	"cointill/core/sse"
	"cointill/models"
)

// FindEndedViewers returns the viewers whose session ended, or whose member has another role or left the business:
// their open pages are updated no longer.
func (s *Service) FindEndedViewers(ctx context.Context, viewers []sse.Viewer) (ended []sse.Viewer, err error) {
	keys, users := make([]string, len(viewers)), make([]int64, len(viewers))
	for i, viewer := range viewers {
		keys[i], users[i] = viewer.Session, viewer.User
	}
	alive, err := s.Auth.FindSessions(ctx, keys)
	if err != nil {
		return nil, err
	}
	var members []models.Member
	if err := s.db.Read(ctx).Where("user_id IN ?", users).Find(&members).Error; err != nil {
		return nil, err
	}
	roles := map[[2]int64]string{}
	for _, m := range members {
		roles[[2]int64{m.UserID, m.BusinessID}] = m.Role
	}
	for _, viewer := range viewers {
		user, found := alive[viewer.Session]
		if !found || user != viewer.User || roles[[2]int64{viewer.User, viewer.Business}] != viewer.Role {
			ended = append(ended, viewer)
		}
	}
	return ended, nil
}
