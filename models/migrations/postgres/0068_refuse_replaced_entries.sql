-- PostgreSQL has no INSERT OR REPLACE, and calls the triggers of an upsert: nothing changes here.
-- +goose Up

SELECT 1;
