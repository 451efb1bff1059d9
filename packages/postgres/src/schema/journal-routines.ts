// Applies one batch of writes, as database functions: a batch is one statement, one transaction and one round trip (keeps
// I3, I4). Each write is checked and either written or refused, which is its result; a refusal never affects the others.
// The rows of all sessions of a batch are locked first, in a fixed order, so that batches cannot deadlock; a session
// created since is locked by the first write to it.

/** The functions of a schema that write to sessions. */
export function journalRoutines(schema: string): string {
	return `
	-- Of two that make one session at once the second fails as a whole, and is made again.
	CREATE FUNCTION ${schema}.create_session_v1(op jsonb, now bigint, pos bigint) RETURNS bigint
	LANGUAGE plpgsql AS $$
	DECLARE
		created_id bigint;
		highest bigint;
	BEGIN
		SELECT value INTO highest FROM ${schema}.meta WHERE name = 'highest_deleted_epoch';
		INSERT INTO ${schema}.sessions (digest, key, incarnation, epoch, changed, created_at, updated_at)
			VALUES ((op->>'h')::uuid, op->>'k', gen_random_uuid()::text, highest, pos, now, now) RETURNING id INTO created_id;
		-- Who waited here for the removal of an earlier one has not seen its epoch.
		UPDATE ${schema}.sessions SET epoch = m.value FROM ${schema}.meta m
			WHERE id = created_id AND m.name = 'highest_deleted_epoch' AND m.value > highest;
		RETURN created_id;
	END $$;

	CREATE FUNCTION ${schema}.ensure_session_v1(op jsonb, now bigint, pos bigint) RETURNS bigint
	LANGUAGE plpgsql AS $$
	DECLARE
		found_id bigint;
	BEGIN
		SELECT id INTO found_id FROM ${schema}.sessions WHERE digest = (op->>'h')::uuid FOR NO KEY UPDATE;
		RETURN CASE WHEN FOUND THEN found_id ELSE ${schema}.create_session_v1(op, now, pos) END;
	END $$;

	CREATE FUNCTION ${schema}.append_v1(op jsonb, pos bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
	DECLARE
		s ${schema}.sessions;
		present boolean;
		is_taken boolean := (op->>'t')::boolean;
		run text := op->>'run';
		at bigint := (op->>'at')::bigint;
		count integer := jsonb_array_length(op->'f');
		replaces bigint := (op->>'rep')::bigint;
		ids text[];
		drained bigint := 0;
		opened text;
		looked bigint;
		next_kind text;
	BEGIN
		SELECT * INTO s FROM ${schema}.sessions WHERE digest = (op->>'h')::uuid FOR NO KEY UPDATE;
		present := FOUND;
		IF is_taken THEN
			IF NOT present OR s.id <> (op->>'id')::bigint OR s.epoch <> (op->>'e')::bigint THEN RETURN '["lost"]'; END IF;
		ELSIF op->>'id' IS NULL THEN
			-- It may exist by now, if only for an input that came.
			IF present AND NOT (s.seq = 0 AND s.owner IS NULL) THEN RETURN '["lost"]'; END IF;
		ELSIF NOT present OR s.id <> (op->>'id')::bigint OR s.epoch <> (op->>'e')::bigint
			OR s.open_run IS DISTINCT FROM op->>'r' OR (op->>'m' = 'polite' AND s.seq <> (op->>'q')::bigint) THEN
			RETURN '["lost"]';
		END IF;
		IF op ? 'd' THEN
			ids := ARRAY(SELECT DISTINCT jsonb_array_elements_text(op->'d'));
			IF NOT present OR (SELECT count(DISTINCT i.id) FROM ${schema}.inputs i WHERE i.session = s.id AND i.id = ANY (ids))
				< cardinality(ids) THEN RETURN '["lost"]'; END IF;
		END IF;
		IF op ? 'dh' AND present AND EXISTS (SELECT FROM ${schema}.dedupe WHERE session = s.id AND digest = (op->>'dh')::uuid) THEN
			RETURN '["known"]';
		END IF;
		IF op ? 'only' AND present AND s.waiting > 0 AND EXISTS (SELECT FROM ${schema}.inputs i WHERE i.session = s.id
			AND i.kind <> 'message' AND (i.run_id IS NULL OR i.run_id = run) AND (ids IS NULL OR i.id <> ALL (ids))) THEN
			RETURN '["waits"]';
		END IF;
		IF replaces IS NOT NULL AND (NOT present OR s.open_run IS NOT NULL OR replaces < s.first_seq OR NOT EXISTS (
			SELECT FROM ${schema}.entries n WHERE n.session = s.id AND n.seq = replaces AND n.kind IN ('run.ended', 'folded'))) THEN
			RETURN '["unsettled"]';
		END IF;
		IF NOT present THEN
			PERFORM ${schema}.create_session_v1(op, at, CASE WHEN count = 0 THEN pos END);
			SELECT * INTO s FROM ${schema}.sessions WHERE digest = (op->>'h')::uuid;
		END IF;
		opened := CASE op->>'x' WHEN 'open' THEN run WHEN 'end' THEN NULL
			WHEN 'own' THEN nullif(s.open_run, run) ELSE s.open_run END;
		looked := CASE WHEN opened IS NULL THEN NULL WHEN op ? 'look' THEN (op->>'look')::bigint ELSE s.look_at END;
		IF ids IS NOT NULL THEN
			DELETE FROM ${schema}.inputs i WHERE i.session = s.id AND i.id = ANY (ids);
			GET DIAGNOSTICS drained = ROW_COUNT;
		END IF;
		IF op ? 'dh' THEN
			INSERT INTO ${schema}.dedupe (session, digest, key, position) VALUES (s.id, (op->>'dh')::uuid, op->>'dk', 0);
		END IF;
		IF op ? 'c' THEN
			INSERT INTO ${schema}.chunks (session, seq, sub, body)
				SELECT s.id, s.seq, (c->>0)::bigint, c->>1 FROM jsonb_array_elements(op->'c') c;
		END IF;
		next_kind := s.last_kind;
		IF replaces IS NOT NULL THEN
			UPDATE ${schema}.entries n SET run_id = run, kind = op->'f'->0->>0, version = (op->'f'->0->>1)::integer,
				body = op->'f'->0->>2 WHERE n.session = s.id AND n.seq = replaces;
			INSERT INTO ${schema}.leftovers (session, before_seq) VALUES (s.id, replaces);
			IF replaces = s.seq THEN next_kind := op->'f'->0->>0; END IF;
		ELSIF count > 0 THEN
			INSERT INTO ${schema}.entries (session, seq, run_id, kind, version, at, position, body)
				SELECT s.id, s.seq + o, run, f->>0, (f->>1)::integer, at, CASE WHEN o = count THEN pos END, f->>2
				FROM jsonb_array_elements(op->'f') WITH ORDINALITY x (f, o);
			next_kind := op->'f'->(count - 1)->>0;
		END IF;
		UPDATE ${schema}.sessions SET
			epoch = CASE WHEN is_taken THEN s.epoch ELSE s.epoch + 1 END,
			owner = CASE WHEN is_taken THEN s.owner ELSE (op->>'w')::bigint END,
			open_run = opened, look_at = looked, last_kind = next_kind,
			first_seq = coalesce(replaces, s.first_seq),
			seq = CASE WHEN replaces IS NULL THEN s.seq + count ELSE s.seq END,
			waiting = s.waiting - drained, version = s.version + 1, updated_at = greatest(s.updated_at, at),
			changed = CASE WHEN replaces IS NULL THEN s.changed ELSE pos END
			WHERE id = s.id RETURNING * INTO s;
		RETURN jsonb_build_array('ok', s.id, s.epoch, s.seq);
	END $$;

	CREATE FUNCTION ${schema}.submit_v1(op jsonb, pos bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
	DECLARE
		at bigint := (op->>'at')::bigint;
		session_id bigint;
		known bigint;
	BEGIN
		IF op ? 'ah' AND NOT EXISTS (SELECT FROM ${schema}.sessions WHERE digest = (op->>'ah')::uuid
			AND (op->>'ar' IS NULL OR open_run = op->>'ar') AND (op->>'ai' IS NULL OR incarnation = op->>'ai')) THEN RETURN '["lost"]'; END IF;
		session_id := ${schema}.ensure_session_v1(op, at, pos);
		IF op ? 'dh' THEN
			SELECT position INTO known FROM ${schema}.dedupe WHERE session = session_id AND digest = (op->>'dh')::uuid;
			IF FOUND THEN RETURN jsonb_build_array('known', known); END IF;
		END IF;
		UPDATE ${schema}.sessions SET inputs = inputs + 1, waiting = waiting + 1, version = version + 1,
			changed = pos, updated_at = greatest(updated_at, at) WHERE id = session_id RETURNING inputs INTO known;
		INSERT INTO ${schema}.inputs (session, position, id, kind, run_id, dedupe_key, worker, at, body)
			VALUES (session_id, known, op->>'i', op->>'kind', op->>'run', op->>'dk', op->>'w', at, op->>'b');
		IF op ? 'dh' THEN
			INSERT INTO ${schema}.dedupe (session, digest, key, position) VALUES (session_id, (op->>'dh')::uuid, op->>'dk', known);
		END IF;
		RETURN jsonb_build_array('ok', known);
	END $$;

	CREATE FUNCTION ${schema}.remove_v1(op jsonb, pos bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
	DECLARE
		s ${schema}.sessions;
	BEGIN
		SELECT * INTO s FROM ${schema}.sessions WHERE digest = (op->>'h')::uuid FOR UPDATE;
		IF NOT FOUND THEN RETURN '["none"]'; END IF;
		IF op ? 'e' AND (s.epoch <> (op->>'e')::bigint OR s.seq <> (op->>'q')::bigint) THEN RETURN '["lost"]'; END IF;
		UPDATE ${schema}.meta SET value = greatest(value, s.epoch + 1) WHERE name = 'highest_deleted_epoch';
		DELETE FROM ${schema}.sessions WHERE id = s.id;
		DELETE FROM ${schema}.inputs WHERE session = s.id;
		DELETE FROM ${schema}.session_values WHERE session = s.id;
		DELETE FROM ${schema}.timers WHERE session = s.id;
		UPDATE ${schema}.files SET session = NULL, worker = NULL, at = 0 WHERE session = s.id;
		INSERT INTO ${schema}.leftovers (session) VALUES (s.id);
		INSERT INTO ${schema}.removed_sessions (position, key, incarnation, seq) VALUES (pos, s.key, s.incarnation, s.seq);
		DELETE FROM ${schema}.removed_sessions
			WHERE number <= (SELECT max(number) FROM ${schema}.removed_sessions) - (op->>'remember')::bigint;
		RETURN jsonb_build_array('ok', s.id);
	END $$;

	CREATE FUNCTION ${schema}.fork_v1(op jsonb, pos bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
	DECLARE
		s ${schema}.sessions;
		until bigint := (op->>'until')::bigint;
		at bigint := (op->>'at')::bigint;
		here text;
		after text;
		copy bigint;
	BEGIN
		SELECT * INTO s FROM ${schema}.sessions WHERE digest = (op->>'fh')::uuid FOR NO KEY UPDATE;
		IF NOT FOUND OR until < s.first_seq THEN RETURN '["unsettled"]'; END IF;
		SELECT kind INTO here FROM ${schema}.entries WHERE session = s.id AND seq = until;
		SELECT kind INTO after FROM ${schema}.entries WHERE session = s.id AND seq = until + 1;
		IF here IS NULL OR NOT (here IN ('run.ended', 'folded')
			OR CASE WHEN after IS NULL THEN s.open_run IS NULL ELSE after = 'run.started' END) THEN RETURN '["unsettled"]'; END IF;
		IF EXISTS (SELECT FROM ${schema}.sessions WHERE digest = (op->>'h')::uuid) THEN RETURN '["exists"]'; END IF;
		copy := ${schema}.create_session_v1(op, at, pos);
		UPDATE ${schema}.sessions SET first_seq = s.first_seq, seq = until, last_kind = here WHERE id = copy;
		INSERT INTO ${schema}.entries (session, seq, run_id, kind, version, at, body)
			SELECT copy, n.seq, n.run_id, n.kind, n.version, n.at, n.body FROM ${schema}.entries n
			WHERE n.session = s.id AND n.seq >= s.first_seq AND n.seq <= until ORDER BY n.seq;
		RETURN jsonb_build_array('ok', copy);
	END $$;
	`;
}
