-- Money that was marked as refunded, and whose block leaves the chain afterwards, is booked then: it isn't in the
-- wallet any more. The index finds such transfers.
-- +goose Up
DROP INDEX transfers_unbooked;
CREATE INDEX transfers_unbooked ON transfers (network, booked) WHERE business_id <> 0 AND (height IS NOT NULL AND NOT gone AND NOT reverted AND (booked = '' OR booked = 'reversed') OR (height IS NULL OR gone OR reverted) AND booked <> '' AND booked <> 'reversed' AND booked <> 'none');
