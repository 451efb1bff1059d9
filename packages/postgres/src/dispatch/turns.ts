// Fair scheduling across tenants. Due sessions are handed out tenant by tenant, regardless of how many each has:
// start-time fair queueing. The first of a tenant's queued sessions gets the current turn, and each further one the turn
// after its predecessor. graphile-worker orders jobs by time, so a turn is a time: milliseconds after 1970, always in the
// past. `turns` stores those of created jobs until they are reached; it is written without a lock, so two jobs of one
// tenant may share a turn.
//
// A job with an actual time (a deadline, or a retry after a failure) is ordered after all turns; it gets a turn if it
// was not started at once.

/** Milliseconds since the epoch; a job's time from this value on is an actual time, not a turn. */
export const firstTime: number = Date.UTC(2000, 0, 1);
/** Maximum number of jobs that get their turn in one transaction. */
const atOnce = 500;

/** SQL for the next turn of a tenant. */
export function nextTurn(schema: string, tenant: string): string {
	return `greatest((SELECT turn FROM ${schema}.turn_reached),
		(SELECT t.turn FROM ${schema}.turns t WHERE t.tenant = ${tenant} ORDER BY t.turn DESC LIMIT 1) + 1)`;
}

/** Returns the functions that assign turns. */
export function turnRoutines(schema: string, jobs: string): string {
	// The mark at the start of a stored compound key: see session-key.ts.
	const mark = "\\\\u0000";
	const text = "\\u0000";
	return `
	CREATE TABLE IF NOT EXISTS ${schema}.turns (tenant uuid NOT NULL, turn bigint NOT NULL);
	CREATE INDEX IF NOT EXISTS turns_of_tenant ON ${schema}.turns (tenant, turn);
	CREATE INDEX IF NOT EXISTS turns_in_order ON ${schema}.turns (turn);
	CREATE TABLE IF NOT EXISTS ${schema}.turn_reached (one boolean PRIMARY KEY CHECK (one), turn bigint NOT NULL);
	INSERT INTO ${schema}.turn_reached VALUES (true, 1) ON CONFLICT DO NOTHING;

	-- A server that crashes may forget it: it is noted again soon, and nobody waits for the disk.
	CREATE OR REPLACE FUNCTION ${schema}.note_turn_1(reached bigint) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
		PERFORM set_config('synchronous_commit', 'off', true);
		UPDATE ${schema}.turn_reached SET turn = reached WHERE turn < reached;
	END $$;

	-- The tenant of a served session, or the namespace of an agent; what has none is of one tenant. A child is its parent's.
	CREATE OR REPLACE FUNCTION ${schema}.tenant_1(stored text) RETURNS uuid LANGUAGE plpgsql IMMUTABLE AS $$
	DECLARE
		rest text := regexp_replace(stored, '^(${mark}sub${mark}[0-9]+${mark})+', '');
		space text[] := regexp_match(rest, '^${mark}ns${mark}([0-9]{1,9})${mark}(.*)$');
		owned text[] := regexp_match(space[2], '^${mark}user${mark}([0-9]{1,9})${mark}(.*)$');
	BEGIN
		RETURN md5(CASE WHEN space IS NULL THEN '' WHEN owned IS NULL THEN split_part(left(space[2], space[1]::integer), '${text}', 1)
			ELSE split_part(left(owned[2], owned[1]::integer), '${text}', 1) END)::uuid;
	END $$;

	CREATE OR REPLACE FUNCTION ${schema}.next_turn_1(whose uuid) RETURNS bigint LANGUAGE sql AS $$
		SELECT ${nextTurn(schema, "whose")}
	$$;

	-- Forgets the turns that are over, and gives one to jobs whose own time has come.
	CREATE OR REPLACE FUNCTION ${schema}.line_up_1(space integer) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		late record;
		whose uuid;
		next bigint;
	BEGIN
		IF NOT pg_try_advisory_xact_lock(space, -2) THEN RETURN; END IF;
		DELETE FROM ${schema}.turns t USING ${schema}.turn_reached r WHERE t.turn < r.turn;
		FOR late IN SELECT j.id, j.payload->>'key' AS key FROM ${jobs}._private_jobs j WHERE j.is_available = true
			AND j.priority = 0 AND j.run_at > to_timestamp(${firstTime / 1_000}) AND j.run_at <= now() - interval '1 s'
			ORDER BY j.priority, j.run_at LIMIT ${atOnce} LOOP
			whose := ${schema}.tenant_1(late.key);
			next := ${schema}.next_turn_1(whose);
			PERFORM ${jobs}.reschedule_jobs(ARRAY[late.id], run_at => to_timestamp(next / 1000.0));
			INSERT INTO ${schema}.turns VALUES (whose, next);
		END LOOP;
	END $$;
	`;
}
