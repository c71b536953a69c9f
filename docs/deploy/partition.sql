-- Tables that only grow, in parts (PostgreSQL 14 or newer): docs/operations.md,
-- "Large tables in parts", says what this is for and what it costs.
--
--   psql "$COINTILL_DATABASE_URL" -f partition.sql      once: makes the function; without
--                                                       parameters that psql refuses
--   SELECT cointill_begin_part('steps')                 now, and then each month
--
-- The first call makes a table the first part of a partitioned table of its name,
-- without moving a row. Each further call ends the part that is written to and
-- begins one. Parts are ranges of what rows hang on (a step of its payment), not
-- of time, so that what is unique stays so; as ids rise, a part is a month's
-- payments with all that ever happens to them.
CREATE OR REPLACE FUNCTION cointill_begin_part(name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	-- What rows hang on, and the sequence that numbers it.
	key text := CASE name WHEN 'steps' THEN 'payment_id' WHEN 'delivery_attempts' THEN 'delivery_id' WHEN 'api_calls' THEN 'id' END;
	counter text := CASE name WHEN 'steps' THEN 'payments_id_seq' WHEN 'delivery_attempts' THEN 'deliveries_id_seq' WHEN 'api_calls' THEN 'api_calls_id_seq' END;
	part text := name || '_' || to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISSUS');
	old text := name || '_first';
	lower text := 'MINVALUE';
	upper bigint;
	index record;
BEGIN
	IF key IS NULL THEN
		RAISE EXCEPTION '% can''t be divided: docs/operations.md says which tables can, and why others can''t', name;
	END IF;
	EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', name); -- waits for whoever writes; no longer than the limits of the session
	EXECUTE format('SELECT last_value + 1 FROM %I', counter) INTO upper; -- whoever drew a number below it belongs to the old part
	IF (SELECT relkind FROM pg_class WHERE oid = name::regclass) = 'p' THEN
		SELECT c.relname, (regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \((.+?)\) TO \(MAXVALUE\)'))[1] INTO STRICT old, lower
			FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
			WHERE i.inhparent = name::regclass AND pg_get_expr(c.relpartbound, c.oid) LIKE '%TO (MAXVALUE)';
		lower := trim(lower, '''');
		IF lower::bigint >= upper THEN
			RETURN old; -- nothing can be in it yet
		END IF;
		EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', name, old);
	ELSE
		EXECUTE format('ALTER TABLE %I RENAME TO %I', name, old);
		EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS) PARTITION BY RANGE (%I)', name, old, key);
		EXECUTE format('ALTER SEQUENCE %I OWNED BY %I.id', name || '_id_seq', name);
	END IF;
	-- A known bound spares a look at every row when the part is attached.
	EXECUTE format('ALTER TABLE %I ADD CONSTRAINT bounds CHECK (%s%I < %s) NOT VALID', old, CASE lower WHEN 'MINVALUE' THEN '' ELSE format('%I >= %s AND ', key, lower) END, key, upper);
	EXECUTE format('ALTER TABLE %I VALIDATE CONSTRAINT bounds', old);
	EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', name, old, lower, upper);
	EXECUTE format('ALTER TABLE %I DROP CONSTRAINT bounds', old);
	IF lower = 'MINVALUE' AND old = name || '_first' THEN
		-- The table's indexes get the names that they had. That of the id stays one of
		-- each part where the id isn't what parts are made by: a sequence gives it.
		FOR index IN SELECT c.relname, i.indisprimary, pg_get_indexdef(c.oid) AS definition FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
			WHERE i.indrelid = old::regclass AND (NOT i.indisprimary OR key = 'id') LOOP
			EXECUTE format('ALTER INDEX %I RENAME TO %I', index.relname, index.relname || '_first');
			IF index.indisprimary THEN
				EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I PRIMARY KEY (id)', name, index.relname);
			ELSE -- … ON schema.table_first USING … becomes … ON table USING …
				EXECUTE regexp_replace(index.definition, ' ON \S+ USING ', format(' ON %I USING ', name));
			END IF;
		END LOOP;
	END IF;
	EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%s) TO (MAXVALUE)', part, name, upper);
	IF key <> 'id' THEN
		EXECUTE format('ALTER TABLE %I ADD PRIMARY KEY (id)', part);
	END IF;
	RETURN part;
END $$;
