package send

import (
	"context"

	"cointill/core/audit"
	"cointill/core/scope"
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
	names, err := audit.ReadKeyNames(s.DB.List(ctx), sc.BusinessID, actors)
	for actor, user := range users {
		names[actor] = user.Name
	}
	return names, err
}
