-- PostgreSQL checks the accounts of an entry without a table in memory: nothing changes here.
-- +goose Up

SELECT 1;
