// Stores versions of templates: in memory, or in a database. An existing version is never overwritten.
import type { DatabaseClient, MemoryCaller } from "@holdfast/memory";
import type { PromptTemplate } from "../contract/index.ts";

/** Stores versions of templates. */
export interface TemplateKeeper {
	/** Null if it does not exist. */
	get(id: string, version: string | undefined): Promise<PromptTemplate | null>;
	/** Returns the latest version of each template, in any order. */
	latest(): Promise<readonly PromptTemplate[]>;
	/**
	 * Creates the next version of a template and stores it. If `make` rejects, nothing is stored and no version is used;
	 * it is called again if another writer was faster.
	 */
	add(id: string, make: (version: string) => Promise<PromptTemplate>): Promise<PromptTemplate>;
}

/** A database that can write a value only if its key is free. */
export interface CreatingDatabase extends DatabaseClient {
	/** Returns false without writing anything if the key has a value. */
	create?(collection: string, key: string, value: unknown, options?: MemoryCaller): Promise<boolean>;
}

/** Runs tasks with the same name one after the other. */
class Turns {
	readonly #last = new Map<string, Promise<unknown>>();

	async take<Value>(name: string, work: () => Promise<Value>): Promise<Value> {
		const turn = (this.#last.get(name) ?? Promise.resolve()).then(work);
		const settled = turn.catch(() => undefined);
		this.#last.set(name, settled);
		try {
			return await turn;
		} finally {
			if (this.#last.get(name) === settled) this.#last.delete(name);
		}
	}
}

export function memoryKeeper(): TemplateKeeper {
	const templates = new Map<string, PromptTemplate[]>();
	const turns = new Turns();
	return {
		async get(id, version) {
			const versions = templates.get(id) ?? [];
			const found =
				version === undefined ? versions.at(-1) : versions.find((each) => each.version === version);
			return found ?? null;
		},
		latest: async () => [...templates.values()].flatMap((versions) => versions.slice(-1)),
		add: (id, make) =>
			turns.take(id, async () => {
				const versions = templates.get(id) ?? [];
				const template = await make(String(versions.length + 1));
				versions.push(template);
				templates.set(id, versions);
				return template;
			}),
	};
}

/** All stores of this process over the same database share its turns. */
const turnsAt = new WeakMap<DatabaseClient, Turns>();

/**
 * Each version is a separate value, and one more value holds the latest version number. That number is only a hint: a
 * process that dies between the two writes leaves a later version, so reads also check for the next one.
 */
export function databaseKeeper(
	database: CreatingDatabase,
	collection: string,
	caller: MemoryCaller,
): TemplateKeeper {
	const turns = turnsAt.get(database) ?? new Turns();
	turnsAt.set(database, turns);
	const versionKey = (id: string, version: number): string => `version:${version}:${id}`;
	const read = async (key: string): Promise<PromptTemplate | null> => {
		const kept = await database.read(collection, key, caller);
		return kept?.template ?? null;
	};
	const latestOf = async (id: string): Promise<PromptTemplate | null> => {
		let latest = await read(`latest:${id}`);
		for (;;) {
			const next = await read(versionKey(id, Number(latest?.version ?? 0) + 1));
			if (next === null) return latest;
			latest = next;
		}
	};
	const create = async (id: string, version: number, template: PromptTemplate): Promise<boolean> => {
		const key = versionKey(id, version);
		const value = { kind: "version", template };
		if (database.create !== undefined) return database.create(collection, key, value, caller);
		await database.write(collection, key, value, caller);
		return true;
	};
	return {
		async get(id, version) {
			if (version === undefined) return latestOf(id);
			return /^[1-9]\d*$/.test(version) ? read(versionKey(id, Number(version))) : null;
		},
		async latest() {
			const hints: { template: PromptTemplate }[] = await database.query(
				collection,
				{ kind: "latest" },
				caller,
			);
			return hints.map(({ template }) => template);
		},
		add: (id, make) =>
			turns.take(JSON.stringify([collection, id]), async () => {
				for (;;) {
					const version = Number((await latestOf(id))?.version ?? 0) + 1;
					const template = await make(String(version));
					if (!(await create(id, version, template))) continue;
					await database.write(collection, `latest:${id}`, { kind: "latest", template }, caller);
					return template;
				}
			}),
	};
}
