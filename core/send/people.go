package send

import (
	"context"
	"strconv"
	"strings"

	"cointill/core/audit"
	"cointill/core/scope"
	"cointill/models"
)

// NameActors returns the names of the people and API keys among actors, such as "user:12", by
// actor. Faults: Forbidden.
func (s *Service) NameActors(ctx context.Context, sc scope.Scope, actors []string) (map[string]string, error) {
	if err := sc.CheckAction(scope.SeeSends); err != nil {
		return nil, err
	}
	users, err := audit.ReadUsers(s.DB.List(ctx), actors)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for actor, user := range users {
		names[actor] = user.Name
	}
	var ids []int64
	for _, actor := range actors {
		text, isKey := strings.CutPrefix(actor, "key:")
		if id, err := strconv.ParseInt(text, 10, 64); isKey && err == nil {
			ids = append(ids, id)
		}
	}
	var keys []models.APIKey
	err = models.Among(s.DB.List(ctx).Select("id", "name").Where("business_id = ?", sc.BusinessID), "id", ids).
		Find(&keys).Error
	for _, key := range keys {
		names["key:"+strconv.FormatInt(key.ID, 10)] = key.Name
	}
	return names, err
}
