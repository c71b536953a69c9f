-- A refund that a person records is of money on one network. An empty network is the payment's own.
--
-- A transfer that was attached to a payment which ended without it is surplus, and open again. An earlier release
-- kept it as attached, so that it was in no list and couldn't be refunded.
-- +goose Up
ALTER TABLE resolutions ADD COLUMN network text NOT NULL DEFAULT '';

DELETE FROM resolutions WHERE kind = 'attached' AND transfer_id IN
    (SELECT id FROM transfers WHERE unmatched <> '' AND resolution = 'attached');
UPDATE transfers SET resolution = '' WHERE unmatched <> '' AND resolution = 'attached';
