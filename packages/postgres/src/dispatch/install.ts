// Lets the database create a job for each session with due work, in the transaction that makes it due: one
// graphile-worker job per session. None of this is installed, or costs anything, until a process first takes work.
import { createHash } from "node:crypto";
import type { Database } from "../database.ts";
import { lockSpace } from "../migrate.ts";
import { nextTurn, turnRoutines } from "./turns.ts";

/** The schema of graphile-worker's own tables, next to that of the sessions. */
export function jobSchemaOf(schema: string): string {
	return `${schema}_jobs`;
}

/** The name of the only task. */
export const task = "work_on_session";

/** Attempts per job: it is retried until its session has no work left. */
export const mostAttempts = 32_000;
/** Maximum number of deadlines that get their job in one transaction. */
export const dueAtOnce = 500;
/** Prefix of the name under which a worker fetches jobs, followed by the worker's number. */
export const fetchedBy = "holdfast-";
/**
 * Seconds after which the sessions of a dead worker are handed out again, if the process that took them over died too.
 */
const againAfter = 10;

/**
 * Creates the functions and triggers that create jobs, unless these very ones exist: creating them locks the tables that
 * other processes work with. graphile-worker's tables must exist.
 */
export async function installDispatch(database: Database, schema: string): Promise<void> {
	const made = functions(schema);
	const mark = createHash("sha256").update(made).digest("hex");
	// An older release that starts later leaves the mark, and makes its trigger again.
	const isMade = `obj_description(to_regclass('${schema}.dead_workers'::text), 'pg_class') = '${mark}' AND NOT ${madeByOlder(schema)}`;
	const [found] = await database.query<{ readonly is_made: boolean | null }>(`SELECT ${isMade} AS is_made`);
	if (found?.is_made === true) return;
	await database.query(`DO $install$ BEGIN
		PERFORM pg_advisory_xact_lock(${lockSpace(schema)}, 0);
		IF ${isMade} THEN RETURN; END IF;
		${made}
		COMMENT ON TABLE ${schema}.dead_workers IS '${mark}';
	END $install$`);
}

/** SQL: whether releases before this one installed their trigger, which made a job of each deadline as it was set. */
function madeByOlder(schema: string): string {
	return `EXISTS (SELECT FROM pg_trigger WHERE tgname = 'will_be_due' AND tgrelid = to_regclass('${schema}.sessions'::text))`;
}

function functions(schema: string): string {
	const jobs = jobSchemaOf(schema);
	return `
	CREATE TABLE IF NOT EXISTS ${schema}.dead_workers (worker bigint PRIMARY KEY, at timestamptz NOT NULL);
	${turnRoutines(schema, jobs)}

	-- A job that waits keeps its turn; one that failed gets a new one, at once. Without a job one is written here, for
	-- add_job takes four times as long.
	CREATE OR REPLACE FUNCTION ${schema}.dispatch_now_1(session_key text, digest uuid) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		whose uuid := ${schema}.tenant_1(session_key);
		job text := 'now:' || digest::text;
		next bigint;
		made record;
	BEGIN
		WITH n AS (SELECT ${nextTurn(schema, "whose")} AS turn), made AS (
			INSERT INTO ${jobs}._private_jobs (task_id, payload, run_at, max_attempts, key)
				SELECT t.id, json_build_object('key', session_key), to_timestamp(n.turn / 1000.0), ${mostAttempts}, job
				FROM n CROSS JOIN ${jobs}._private_tasks t WHERE t.identifier = '${task}'
				ON CONFLICT (key) DO NOTHING RETURNING run_at
		)
		INSERT INTO ${schema}.turns SELECT whose, n.turn FROM n CROSS JOIN made;
		IF FOUND THEN
			PERFORM pg_notify('jobs:insert', '{"count":1}');
			RETURN;
		END IF;
		next := ${schema}.next_turn_1(whose);
		SELECT * INTO made FROM ${jobs}.add_job('${task}', json_build_object('key', session_key), NULL,
			to_timestamp(next / 1000.0), ${mostAttempts}, job, 0, NULL, 'preserve_run_at');
		IF made.run_at = to_timestamp(next / 1000.0) THEN INSERT INTO ${schema}.turns VALUES (whose, next); END IF;
	END $$;

	CREATE OR REPLACE FUNCTION ${schema}.input_came_1() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		PERFORM ${schema}.dispatch_now_1(s.key, s.digest) FROM ${schema}.sessions s WHERE s.id = NEW.session;
		RETURN NULL;
	END $$;
	CREATE OR REPLACE TRIGGER input_came AFTER INSERT ON ${schema}.inputs FOR EACH ROW
		WHEN (NEW.worker IS NULL AND NEW.kind <> 'notice') EXECUTE FUNCTION ${schema}.input_came_1();

	CREATE OR REPLACE FUNCTION ${schema}.given_up_1() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		PERFORM ${schema}.dispatch_now_1(NEW.key, NEW.digest);
		RETURN NULL;
	END $$;
	CREATE OR REPLACE TRIGGER given_up AFTER UPDATE OF owner ON ${schema}.sessions FOR EACH ROW
		WHEN (OLD.owner IS NOT NULL AND NEW.owner IS NULL AND ((NEW.open_run IS NOT NULL AND NEW.look_at IS NULL) OR NEW.waiting > 0))
		EXECUTE FUNCTION ${schema}.given_up_1();

	-- The same for many sessions, each given once: those of a tenant get turns one after the other.
	CREATE OR REPLACE FUNCTION ${schema}.dispatch_many_1(keys text[], digests uuid[]) RETURNS void LANGUAGE sql AS $$
		WITH s AS MATERIALIZED (
			SELECT u.key, 'now:' || u.digest AS job, u.number, ${schema}.tenant_1(u.key) AS whose
				FROM unnest(keys, digests) WITH ORDINALITY u (key, digest, number)
		), f AS MATERIALIZED (
			SELECT whose, ${schema}.next_turn_1(whose) AS turn FROM s GROUP BY whose
		), t AS MATERIALIZED (
			SELECT s.*, f.turn + row_number() OVER (PARTITION BY s.whose ORDER BY s.number) - 1 AS turn FROM s JOIN f USING (whose)
		), made AS (
			SELECT m.key, m.run_at FROM ${jobs}.add_jobs(ARRAY(
				SELECT ('${task}', json_build_object('key', t.key), NULL, to_timestamp(t.turn / 1000.0), ${mostAttempts}, t.job, 0, NULL)::${jobs}.job_spec
					FROM t ORDER BY t.turn, t.number), true) m
		)
		INSERT INTO ${schema}.turns SELECT t.whose, t.turn FROM t JOIN made m ON m.key = t.job AND m.run_at = to_timestamp(t.turn / 1000.0)
	$$;

	-- Sessions whose deadline came since then get a job, unless they have one that was not begun before it came. Returns from when on
	-- the next one is to look, and how many got one.
	-- One that waits has none: whoever takes a job looks past the jobs of all times to come, which no index spares it.
	CREATE OR REPLACE FUNCTION ${schema}.dispatch_due_2(space integer, since bigint) RETURNS bigint[] LANGUAGE plpgsql AS $$
	DECLARE
		now_ms bigint := floor(extract(epoch FROM clock_timestamp()) * 1000);
		keys text[];
		digests uuid[];
		last bigint;
	BEGIN
		IF NOT pg_try_advisory_xact_lock(space, -3) THEN RETURN ARRAY[since, 0]; END IF;
		SELECT array_agg(d.key), array_agg(d.digest), max(d.look_at) INTO keys, digests, last FROM (
			SELECT s.key, s.digest, s.look_at FROM ${schema}.sessions s WHERE s.look_at > since AND s.look_at <= now_ms AND NOT EXISTS (
				SELECT FROM ${jobs}._private_jobs j WHERE j.key = 'now:' || s.digest::text
					AND (j.attempts = 0 OR j.updated_at >= to_timestamp(s.look_at / 1000.0)))
			ORDER BY s.look_at LIMIT ${dueAtOnce}) d;
		IF keys IS NULL THEN RETURN ARRAY[now_ms, 0]; END IF;
		PERFORM ${schema}.dispatch_many_1(keys, digests);
		RETURN ARRAY[CASE WHEN cardinality(keys) < ${dueAtOnce} THEN now_ms ELSE last - 1 END, cardinality(keys)];
	END $$;
	IF ${madeByOlder(schema)} THEN
		DROP TRIGGER will_be_due ON ${schema}.sessions;
	END IF;

	-- What workers that died had, what was accepted in their names, and jobs that they had fetched, begun or not: those are made
	-- anew, for one that was stopped may wake up and say that its own are over. Locks above 0 are those of workers. Who looks lives,
	-- also while the connection that shows it is made anew.
	CREATE OR REPLACE FUNCTION ${schema}.dispatch_dead_2(space integer, own bigint) RETURNS bigint LANGUAGE plpgsql AS $$
	DECLARE
		dead bigint[];
		fetched uuid[];
		keys text[];
		digests uuid[];
	BEGIN
		IF NOT pg_try_advisory_xact_lock(space, -1) THEN RETURN 0; END IF;
		-- One that came back may die again.
		DELETE FROM ${schema}.dead_workers d WHERE NOT EXISTS (SELECT FROM ${schema}.workers w
			WHERE w.id = d.worker AND NOT ${schema}.lives_v1(w, space));
		dead := ARRAY(SELECT w.id FROM ${schema}.workers w LEFT JOIN ${schema}.dead_workers d ON d.worker = w.id
			WHERE w.id <> own AND (d.at IS NULL OR d.at < now() - interval '${againAfter} s') AND NOT ${schema}.lives_v1(w, space));
		IF cardinality(dead) = 0 THEN RETURN 0; END IF;
		WITH f AS (DELETE FROM ${jobs}._private_jobs WHERE id IN (SELECT j.id FROM ${jobs}._private_jobs j
			WHERE j.locked_by IN (SELECT '${fetchedBy}' || d FROM unnest(dead) d) FOR UPDATE SKIP LOCKED) RETURNING key)
		SELECT array_agg(split_part(f.key, ':', 2)::uuid) INTO fetched FROM f WHERE f.key IS NOT NULL;
		SELECT array_agg(s.key), array_agg(s.digest) INTO keys, digests FROM ${schema}.sessions s
			WHERE s.id IN (
				SELECT id FROM ${schema}.sessions WHERE digest = ANY (fetched)
				UNION SELECT id FROM ${schema}.sessions WHERE owner = ANY (dead) AND open_run IS NOT NULL AND look_at IS NULL
				UNION SELECT i.session FROM ${schema}.inputs i JOIN ${schema}.sessions t ON t.id = i.session
					WHERE i.kind <> 'notice' AND (t.owner = ANY (dead)
						OR i.worker IN (SELECT name FROM ${schema}.workers WHERE id = ANY (dead))));
		IF keys IS NOT NULL THEN PERFORM ${schema}.dispatch_many_1(keys, digests); END IF;
		INSERT INTO ${schema}.dead_workers SELECT unnest(dead), now() ON CONFLICT (worker) DO UPDATE SET at = excluded.at;
		RETURN coalesce(cardinality(keys), 0);
	END $$;
	`;
}
