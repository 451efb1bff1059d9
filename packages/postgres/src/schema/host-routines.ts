// Batched writes of the other ports, and the batch itself.

/** Returns a schema's functions for data stored with sessions, and the one that applies a batch. */
export function hostRoutines(schema: string): string {
	return `
	CREATE FUNCTION ${schema}.set_value_v1(op jsonb, pos bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
	DECLARE
		session_id bigint := ${schema}.ensure_session_v1(op, (op->>'at')::bigint, pos);
	BEGIN
		INSERT INTO ${schema}.session_values (session, digest, owner, name, value)
			VALUES (session_id, (op->>'nh')::uuid, op->>'owner', op->>'name', op->>'b')
			ON CONFLICT (session, digest) DO UPDATE SET value = excluded.value;
		RETURN '["ok"]';
	END $$;

	CREATE FUNCTION ${schema}.delete_value_v1(op jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
	BEGIN
		DELETE FROM ${schema}.session_values v USING ${schema}.sessions s WHERE s.digest = (op->>'h')::uuid
			AND v.session = s.id AND (op->>'nh' IS NULL OR v.digest = (op->>'nh')::uuid);
		RETURN jsonb_build_array('ok', FOUND);
	END $$;

	CREATE FUNCTION ${schema}.set_timer_v1(op jsonb, pos bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
	DECLARE
		session_id bigint := ${schema}.ensure_session_v1(op, (op->>'at')::bigint, pos);
	BEGIN
		INSERT INTO ${schema}.timers (session, digest, name, wake_at, due_at, attempt, body) VALUES
			(session_id, (op->>'nh')::uuid, op->>'name', (op->>'wake')::bigint, (op->>'wake')::bigint, 0, op->>'b')
			ON CONFLICT (session, digest) DO UPDATE SET wake_at = excluded.wake_at, due_at = excluded.due_at, attempt = 0,
				claim = NULL, body = excluded.body;
		RETURN '["ok"]';
	END $$;

	CREATE FUNCTION ${schema}.end_timer_v1(op jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
	BEGIN
		DELETE FROM ${schema}.timers t USING ${schema}.sessions s WHERE s.digest = (op->>'h')::uuid AND t.session = s.id
			AND t.digest = (op->>'nh')::uuid AND (op->>'claim' IS NULL OR t.claim::text = op->>'claim');
		RETURN jsonb_build_array('ok', FOUND);
	END $$;

	CREATE FUNCTION ${schema}.write_records_v1(op jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
	DECLARE
		next_revision bigint;
	BEGIN
		IF EXISTS (SELECT FROM jsonb_array_elements(op->'x') x LEFT JOIN ${schema}.records r ON r.digest = (x->>0)::uuid
			WHERE coalesce(r.revision, 0) <> (x->>1)::bigint) THEN RETURN '["ok", false]'; END IF;
		next_revision := nextval('${schema}.revisions');
		DELETE FROM ${schema}.records r USING jsonb_array_elements(op->'f') x
			WHERE r.digest = (x->>0)::uuid AND x->>3 IS NULL;
		INSERT INTO ${schema}.records (digest, shelf, name, revision, body)
			SELECT (x->>0)::uuid, x->>1, x->>2, next_revision, x->>3 FROM jsonb_array_elements(op->'f') x
			WHERE x->>3 IS NOT NULL
			ON CONFLICT (digest) DO UPDATE SET revision = excluded.revision, body = excluded.body;
		RETURN '["ok", true]';
	END $$;

	CREATE FUNCTION ${schema}.show_file_v1(op jsonb, pos bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
	DECLARE
		at bigint := (op->>'at')::bigint;
		session_id bigint;
		old ${schema}.files;
	BEGIN
		IF op ? 'inc' AND NOT EXISTS (SELECT FROM ${schema}.sessions
			WHERE digest = (op->>'h')::uuid AND incarnation = op->>'inc') THEN RETURN '["lost"]'; END IF;
		SELECT f.* INTO old FROM ${schema}.files f JOIN ${schema}.sessions s ON s.id = f.session
			WHERE s.digest = (op->>'h')::uuid AND f.digest = (op->>'nh')::uuid;
		IF op ? 'max' AND (SELECT coalesce(sum(f.size), 0) FROM ${schema}.files f JOIN ${schema}.sessions s ON s.id = f.session
			WHERE s.digest = (op->>'h')::uuid) - coalesce(old.size, 0) + (op->>'size')::bigint > (op->>'max')::bigint THEN
			RETURN '["large"]';
		END IF;
		session_id := ${schema}.ensure_session_v1(op, at, pos);
		UPDATE ${schema}.files SET session = NULL, worker = NULL, at = (op->>'at')::bigint WHERE id = old.id;
		UPDATE ${schema}.files SET session = session_id, size = (op->>'size')::bigint, at = (op->>'at')::bigint, worker = NULL
			WHERE id = (op->>'file')::bigint AND session IS NULL AND worker IS NOT NULL;
		RETURN CASE WHEN FOUND THEN '["ok"]'::jsonb ELSE '["lost"]' END;
	END $$;

	-- Appends of leases that have their sessions, one a session, which neither drain nor fold: all of them together. One that
	-- comes to nothing is not among the results, and is made again by itself.
	CREATE FUNCTION ${schema}.append_plain_v1(base bigint, sessions bigint[], epochs bigint[], runs text[], times bigint[],
		changes text[], looks bigint[], looked boolean[], onlys boolean[], counts integer[], kinds text[],
		fact_of integer[], fact_seqs integer[], fact_kinds text[], fact_versions integer[], fact_bodies text[],
		chunk_of integer[], chunk_subs bigint[], chunk_bodies text[])
	RETURNS jsonb LANGUAGE plpgsql AS $$
	DECLARE
		results jsonb;
	BEGIN
		WITH p AS MATERIALIZED (
			SELECT * FROM unnest(sessions, epochs, runs, times, changes, looks, looked, onlys, counts, kinds)
				WITH ORDINALITY p (session, epoch, run, at, change, look, is_looked, is_only, count, kind, number)
		), u AS (
			UPDATE ${schema}.sessions s SET
				open_run = CASE p.change WHEN 'open' THEN p.run WHEN 'end' THEN NULL
					WHEN 'own' THEN nullif(s.open_run, p.run) ELSE s.open_run END,
				look_at = CASE WHEN p.change = 'end' OR (p.change = 'own' AND s.open_run = p.run)
					OR (p.change IN ('own', 'keep') AND s.open_run IS NULL) THEN NULL
					WHEN p.is_looked THEN p.look ELSE s.look_at END,
				last_kind = coalesce(p.kind, s.last_kind), seq = s.seq + p.count, version = s.version + 1,
				updated_at = greatest(s.updated_at, p.at)
				FROM p WHERE s.id = p.session AND s.epoch = p.epoch AND (NOT p.is_only OR s.waiting = 0)
				RETURNING s.id, s.seq, p.number, p.run, p.at, p.count
		), e AS (
			INSERT INTO ${schema}.entries (session, seq, run_id, kind, version, at, position, body)
				SELECT u.id, u.seq - u.count + f.seq, u.run, f.kind, f.version, u.at,
					CASE WHEN f.seq = u.count THEN base + u.number END, f.body
				FROM unnest(fact_of, fact_seqs, fact_kinds, fact_versions, fact_bodies) f (number, seq, kind, version, body)
				JOIN u ON u.number = f.number
		), c AS (
			INSERT INTO ${schema}.chunks (session, seq, sub, body)
				SELECT u.id, u.seq - u.count, k.sub, k.body FROM unnest(chunk_of, chunk_subs, chunk_bodies) k (number, sub, body)
				JOIN u ON u.number = k.number
		)
		SELECT coalesce(jsonb_agg(jsonb_build_array(u.number, u.seq)), '[]') INTO results FROM u;
		RETURN results;
	END $$;

	CREATE FUNCTION ${schema}.apply_v1(slot_id uuid, slot_number bigint, ops jsonb, digests uuid[], shelves integer[], space integer,
		sessions bigint[], epochs bigint[], runs text[], times bigint[], changes text[], looks bigint[], looked boolean[],
		onlys boolean[], counts integer[], kinds text[], fact_of integer[], fact_seqs integer[], fact_kinds text[],
		fact_versions integer[], fact_bodies text[], chunk_of integer[], chunk_subs bigint[], chunk_bodies text[])
	RETURNS jsonb LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
	DECLARE
		slot ${schema}.slots;
		op jsonb;
		base bigint;
		pos bigint;
		result jsonb;
		results jsonb[] := '{}';
		plain jsonb := '[]';
		lost text[] := '{}';
	BEGIN
		SELECT * INTO slot FROM ${schema}.slots WHERE id = slot_id FOR NO KEY UPDATE;
		IF NOT FOUND THEN RETURN NULL; END IF;
		IF slot.number = slot_number THEN RETURN slot.results; END IF;
		IF cardinality(shelves) > 0 THEN
			PERFORM pg_advisory_xact_lock(space + 1, each) FROM unnest(shelves) each;
		END IF;
		-- One row is locked by what writes to it.
		IF cardinality(digests) > 1 THEN
			PERFORM 1 FROM ${schema}.sessions WHERE digest = ANY (digests) ORDER BY digest FOR NO KEY UPDATE;
		END IF;
		SELECT value + pg_current_xact_id()::text::bigint * 8192 INTO base FROM ${schema}.meta WHERE name = 'position_base';
		IF cardinality(sessions) > 0 THEN
			plain := ${schema}.append_plain_v1(base, sessions, epochs, runs, times, changes, looks, looked, onlys, counts, kinds,
				fact_of, fact_seqs, fact_kinds, fact_versions, fact_bodies, chunk_of, chunk_subs, chunk_bodies);
		END IF;
		pos := base + cardinality(sessions);
		FOR op IN SELECT jsonb_array_elements(ops) LOOP
			pos := pos + 1;
			CASE op->>'o'
				WHEN 'append' THEN
					IF op->>'l' = ANY (lost) THEN
						result := '["lost"]';
					ELSE
						result := ${schema}.append_v1(op, pos);
						IF result->>0 = 'lost' THEN lost := lost || (op->>'l'); END IF;
					END IF;
				WHEN 'submit' THEN result := ${schema}.submit_v1(op, pos);
				WHEN 'release' THEN
					UPDATE ${schema}.sessions SET owner = NULL, version = version + 1
						WHERE id = (op->>'id')::bigint AND epoch = (op->>'e')::bigint;
					result := '["ok"]';
				WHEN 'remove' THEN result := ${schema}.remove_v1(op, pos);
				WHEN 'fork' THEN result := ${schema}.fork_v1(op, pos);
				WHEN 'set-value' THEN result := ${schema}.set_value_v1(op, pos);
				WHEN 'delete-value' THEN result := ${schema}.delete_value_v1(op);
				WHEN 'set-timer' THEN result := ${schema}.set_timer_v1(op, pos);
				WHEN 'end-timer' THEN result := ${schema}.end_timer_v1(op);
				WHEN 'write-records' THEN result := ${schema}.write_records_v1(op);
				WHEN 'show-file' THEN result := ${schema}.show_file_v1(op, pos);
			END CASE;
			results := results || result;
		END LOOP;
		-- Nobody else needs to be notified where nobody else is.
		result := jsonb_build_array(to_jsonb(results), plain, EXISTS (SELECT FROM ${schema}.workers w
			WHERE w.id <> slot.worker AND w.beat_at > clock_timestamp() - w.ttl_ms * interval '2 milliseconds'));
		UPDATE ${schema}.slots t SET number = slot_number, results = result WHERE t.id = slot_id;
		RETURN result;
	END $$;

	CREATE FUNCTION ${schema}.lives_v1(worker ${schema}.workers, space integer) RETURNS boolean LANGUAGE sql AS $$
		SELECT greatest(worker.beat_at, pg_postmaster_start_time()) + worker.ttl_ms * interval '1 millisecond' > clock_timestamp()
			AND NOT (worker.locked_since IS NOT NULL AND worker.locked_since = pg_postmaster_start_time()
				AND pg_try_advisory_xact_lock_shared(space, (worker.id % 2147483647)::integer))
	$$;
	`;
}

/** Lets `set_value_v1` leave out a session that does not exist, if the operation has `found`. */
export function setsValuesOfFoundSessions(schema: string): string {
	return `
	CREATE OR REPLACE FUNCTION ${schema}.set_value_v1(op jsonb, pos bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
	DECLARE
		session_id bigint;
	BEGIN
		IF op ? 'found' THEN
			SELECT id INTO session_id FROM ${schema}.sessions WHERE digest = (op->>'h')::uuid FOR NO KEY UPDATE;
			IF NOT FOUND THEN RETURN '["ok", true]'; END IF;
		ELSE
			session_id := ${schema}.ensure_session_v1(op, (op->>'at')::bigint, pos);
		END IF;
		INSERT INTO ${schema}.session_values (session, digest, owner, name, value)
			VALUES (session_id, (op->>'nh')::uuid, op->>'owner', op->>'name', op->>'b')
			ON CONFLICT (session, digest) DO UPDATE SET value = excluded.value;
		RETURN '["ok"]';
	END $$;
	`;
}
