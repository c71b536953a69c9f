package send

import (
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
)

// sandboxPrefix begins the names of simulated networks.
const sandboxPrefix = "sandbox-"

// refuseOwn refuses an address on which the business receives payments.
func refuseOwn(tx *models.Tx, sc scope.Scope, network, address string) error {
	var own []int64
	if err := tx.Model(&models.Destination{}).Where("network = ? AND address = ? AND business_id = ?", network, address,
		sc.BusinessID).Limit(1).Pluck("id", &own).Error; err != nil {
		return err
	}
	if len(own) > 0 {
		return fault.Validation(fault.Fields{"address": {"Is one of your own addresses: payments come to it."}})
	}
	return nil
}
