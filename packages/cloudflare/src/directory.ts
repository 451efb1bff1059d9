// The directory: an object that lists the sessions of one owner, and counts the running executions of a tenant. Its data
// about a session comes from the session's own object, which is authoritative.
import type { SessionPage, SessionSummary } from "@holdfast/server";
import type { ObjectNamespace, ObjectState, ObjectStorage } from "./platform.ts";

const mostAtOnce = 100;
/** How long a run counts without confirmation from its session, in milliseconds: the object may have died. */
const unconfirmedMs = 60_000;
const tables = `CREATE TABLE IF NOT EXISTS sessions (
	id TEXT PRIMARY KEY, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, is_open INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS runs (session TEXT PRIMARY KEY, count INTEGER NOT NULL, until INTEGER)`;

/** Creates the class of directory objects: export it from the Worker under the name of its binding. */
export function directoryObject(): new (
	state: ObjectState,
) => { fetch(request: Request): Promise<Response> } {
	return class SessionDirectory {
		readonly #storage: ObjectStorage;

		constructor({ storage }: ObjectState) {
			this.#storage = storage;
			storage.sql.exec(tables);
		}

		async fetch(request: Request): Promise<Response> {
			const { pathname } = new URL(request.url);
			const body: unknown = await request.json();
			switch (pathname) {
				case "/list":
					return Response.json(this.#list(body as ListSessions) satisfies SessionPage);
				case "/take":
					return Response.json(this.#take(body as TakeRun));
				case "/count":
					this.#count(body as SessionRuns, null);
					break;
				case "/note":
					this.#note(body as SessionSummary);
					break;
				default:
					this.#storage.sql.exec("DELETE FROM sessions WHERE id = ?", (body as Named).id);
			}
			return Response.json({});
		}

		#list({ after = "", limit = 50 }: ListSessions): SessionPage {
			const most = Math.min(mostAtOnce, Math.max(1, limit));
			const rows = this.#storage.sql
				.exec("SELECT * FROM sessions WHERE id > ? ORDER BY id LIMIT ?", after, most + 1)
				.toArray() as { id: string; created_at: number; updated_at: number; is_open: number }[];
			const sessions = rows.slice(0, most).map(({ id, created_at, updated_at, is_open }) => ({
				sessionId: id,
				createdAt: created_at,
				updatedAt: updated_at,
				isOpen: is_open === 1,
			}));
			const last = sessions.at(-1);
			return rows.length > most && last !== undefined ? { sessions, next: last.sessionId } : { sessions };
		}

		#note({ sessionId, createdAt, updatedAt, isOpen }: SessionSummary): void {
			this.#storage.sql.exec(
				`INSERT INTO sessions (id, created_at, updated_at, is_open) VALUES (?, ?, ?, ?)
				ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at, is_open = excluded.is_open`,
				sessionId,
				createdAt,
				updatedAt,
				isOpen ? 1 : 0,
			);
		}

		#take({ session, count, most }: TakeRun): { taken?: number } {
			const now = Date.now();
			const others =
				"SELECT TOTAL(count) AS count FROM runs WHERE session <> ? AND (until IS NULL OR until > ?)";
			const [row] = this.#storage.sql.exec(others, session, now).toArray() as { count: number }[];
			const wanted = (row?.count ?? 0) + count;
			if (wanted > most) return { taken: wanted - 1 };
			this.#count({ session, count }, now + unconfirmedMs);
			return {};
		}

		#count({ session, count }: SessionRuns, until: number | null): void {
			if (count === 0) this.#storage.sql.exec("DELETE FROM runs WHERE session = ?", session);
			else
				this.#storage.sql.exec(
					`INSERT INTO runs (session, count, until) VALUES (?, ?, ?)
					ON CONFLICT (session) DO UPDATE SET count = excluded.count, until = excluded.until`,
					session,
					count,
					until,
				);
		}
	};
}

interface ListSessions {
	readonly after?: string;
	readonly limit?: number;
}

interface Named {
	readonly id: string;
}

/** The number of runs of a session in flight. */
export interface SessionRuns {
	/** Id of the session's object. */
	readonly session: string;
	readonly count: number;
}

/** The number of the session's runs including one more, and the tenant's limit. */
export interface TakeRun extends SessionRuns {
	readonly most: number;
}

/** The interface of an owner's directory. */
export interface Directory {
	list(which: ListSessions): Promise<SessionPage>;
	note(session: SessionSummary): Promise<void>;
	remove(id: string): Promise<void>;
	/** Counts one more run if the tenant's limit allows it; otherwise returns the current number. */
	take(run: TakeRun): Promise<number | undefined>;
	count(runs: SessionRuns): Promise<void>;
}

/** Returns the directory of the owner with that name. */
export function directoryOf(directories: ObjectNamespace, owner: string): Directory {
	const call = async (path: string, body: unknown): Promise<unknown> => {
		const stub = directories.get(directories.idFromName(owner));
		const answer = await stub.fetch(`https://directory${path}`, {
			method: "POST",
			body: JSON.stringify(body),
		});
		return answer.json();
	};
	return {
		list: async (which) => (await call("/list", which)) as SessionPage,
		note: async (session) => void (await call("/note", session)),
		remove: async (id) => void (await call("/remove", { id })),
		take: async (run) => ((await call("/take", run)) as { taken?: number }).taken,
		count: async (runs) => void (await call("/count", runs)),
	};
}
