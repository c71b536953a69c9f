package account

import (
	"context"

	"cointill/core/audit"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models"
)

// Method is a payment method of a business in a domain.
type Method struct {
	Coin    money.CoinInfo
	Enabled bool
	Problem fault.Message // why it can't be enabled or work now; zero when nothing is missing
	// Networks are those that serve the coin in the domain.
	Networks []MethodNetwork
}

// Methods lists all five payment methods of the scope, in the interface's order.
func (s *Service) Methods(ctx context.Context, sc scope.Scope) ([]Method, error) {
	if err := sc.CheckAction(scope.SeeMethods); err != nil {
		return nil, err
	}
	enabled, err := Enabled(s.db.Read(ctx), sc)
	if err != nil {
		return nil, err
	}
	taken, err := readNetworks(s.db.Read(ctx), sc, s.Networks)
	if err != nil {
		return nil, err
	}
	var methods []Method
	for _, coin := range money.Coins() {
		problem, err := s.Missing(ctx, sc, coin.Method)
		if err != nil {
			return nil, err
		}
		methods = append(methods, Method{Coin: coin, Enabled: enabled[coin.Method], Problem: problem,
			Networks: s.listNetworks(sc, coin, taken)})
	}
	return methods, nil
}

// SetMethod switches a payment method on or off. NotFound for an unknown one;
// Forbidden (method_unavailable) with the sentence of Missing when there is no network for it.
func (s *Service) SetMethod(ctx context.Context, sc scope.Scope, method money.Method, enabled bool) error {
	if err := sc.CheckAction(scope.ToggleMethods); err != nil {
		return err
	}
	info, known := method.Info()
	if !known {
		return fault.Missing("payment method")
	}
	problem, err := s.Missing(ctx, sc, method)
	if err != nil {
		return err
	}
	if enabled && !problem.IsZero() {
		return fault.New(fault.Forbidden, "method_unavailable", "%s can't be enabled here. %s", info.Name, problem)
	}
	return s.db.Write(ctx, func(tx *models.Tx) error {
		now := s.now()
		changed := sc.Rows(tx.Model(&models.Method{})).Where("code = ? AND enabled = ?", string(method), !enabled).
			Updates(map[string]any{"enabled": enabled, "updated_at": now})
		if changed.RowsAffected == 0 { // it stood so already, or an error
			return changed.Error
		}
		action := "method.disabled"
		if enabled {
			action = "method.enabled"
		}
		return audit.Record(tx, sc, now, action, string(method), map[string]bool{"before": !enabled, "after": enabled})
	})
}

// Enabled are the payment methods that the scope's business has enabled. It may
// run inside a transaction.
func Enabled(tx *models.Tx, sc scope.Scope) (map[money.Method]bool, error) {
	var codes []string
	err := sc.Rows(tx.Model(&models.Method{})).Where("enabled = ?", true).Pluck("code", &codes).Error
	enabled := map[money.Method]bool{}
	for _, code := range codes {
		enabled[money.Method(code)] = true
	}
	return enabled, err
}

// NotEnabled is what asking for a method that isn't enabled gives: Forbidden (payment_method_not_enabled).
func NotEnabled(sc scope.Scope, method money.Method) error {
	return fault.New(fault.Forbidden, "payment_method_not_enabled",
		"The payment method %s is not enabled in the %s domain. Enable it in the dashboard under Payment methods.",
		method, sc.Domain.Word())
}
