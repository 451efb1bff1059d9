// A Worker whose objects run the contract suites over their own storage, one case per request.
import {
	type ContractCase,
	executionHostContract,
	hostContract,
	type JournalWorld,
	journalContract,
} from "@holdfast/testing";
import { makeInstance, type SqlHost } from "holdfast/sql";
import { objectHost } from "./object-host.ts";
import type { ObjectNamespace, ObjectState, ObjectStorage } from "./platform.ts";

function worldOf(storage: ObjectStorage, clock = { now: () => Date.now() }) {
	const instance = makeInstance();
	const hosts: SqlHost[] = [];
	const files = { maxFileBytes: 1_000_000, maxSessionBytes: 1_500_000 };
	return {
		host(): SqlHost {
			const host = objectHost(storage, { instance, files, clock });
			hosts.push(host);
			return host;
		},
		kill({ workerId }: { readonly workerId: string }): void {
			instance.living.delete(workerId);
			instance.listeners.delete(workerId);
		},
		async end(): Promise<void> {
			for (const host of hosts) await host.close();
		},
	};
}

/** The cases of a suite over a storage. */
export function casesOf(suite: string, storage: ObjectStorage): readonly ContractCase[] {
	if (suite === "journal")
		return journalContract({
			name: "durable object",
			can: ["fold", "chunks"],
			make(): JournalWorld {
				const { host, kill, end } = worldOf(storage);
				return { worker: () => host().journal, kill, end };
			},
		});
	if (suite === "host")
		return hostContract({ name: "durable object", make: () => worldOf(storage), limitsFiles: true });
	return executionHostContract({
		name: "durable object",
		make() {
			let ahead = 0;
			const { host, end } = worldOf(storage, { now: () => Date.now() + ahead });
			return {
				host: () => host().execution,
				advance(milliseconds: number) {
					ahead += milliseconds;
				},
				end,
			};
		},
	});
}

/** Runs each case in the storage of a separate object. */
export class Cases {
	readonly #storage: ObjectStorage;

	constructor({ storage }: ObjectState) {
		this.#storage = storage;
	}

	async fetch(request: Request): Promise<Response> {
		const { suite, index } = (await request.json()) as { suite: string; index: number };
		try {
			await casesOf(suite, this.#storage)[index]?.run();
			return Response.json({ ok: true });
		} catch (error) {
			return Response.json({ ok: false, error: String((error as Error)?.stack ?? error) });
		}
	}
}

export default {
	async fetch(request: Request, env: { readonly CASES: ObjectNamespace }): Promise<Response> {
		const body = await request.text();
		return env.CASES.get(env.CASES.idFromName(body)).fetch("https://cases/", { method: "POST", body });
	},
};
