// The directory: an object that knows the sessions of one owner, for lists. What it says of a session comes from the
// session's own object, which alone is the truth.
import type { SessionPage, SessionSummary } from "@holdfast/server";
import type { ObjectNamespace, ObjectState, ObjectStorage } from "./platform.ts";

const mostAtOnce = 100;
const table = `CREATE TABLE IF NOT EXISTS sessions (
	id TEXT PRIMARY KEY, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, is_open INTEGER NOT NULL)`;

/** The class of directory objects: export it from the Worker under the name of its binding. */
export function directoryObject(): new (
	state: ObjectState,
) => { fetch(request: Request): Promise<Response> } {
	return class SessionDirectory {
		readonly #storage: ObjectStorage;

		constructor({ storage }: ObjectState) {
			this.#storage = storage;
			storage.sql.exec(table);
		}

		async fetch(request: Request): Promise<Response> {
			const { pathname } = new URL(request.url);
			if (pathname === "/list")
				return Response.json(this.#list((await request.json()) as ListSessions) satisfies SessionPage);
			if (pathname === "/note") this.#note((await request.json()) as SessionSummary);
			else this.#storage.sql.exec("DELETE FROM sessions WHERE id = ?", ((await request.json()) as Named).id);
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
	};
}

interface ListSessions {
	readonly after?: string;
	readonly limit?: number;
}

interface Named {
	readonly id: string;
}

/** The directory of an owner, as others call it. */
export interface Directory {
	list(which: ListSessions): Promise<SessionPage>;
	note(session: SessionSummary): Promise<void>;
	remove(id: string): Promise<void>;
}

/** The directory of the owner with that name. */
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
	};
}
