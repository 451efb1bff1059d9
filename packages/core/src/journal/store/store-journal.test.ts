import { expect, test } from "vitest";
import { MemorySessionStore } from "../../session-store/memory.ts";
import { journalContract } from "../contract/index.ts";
import type { Journal, Lease } from "../journal.ts";
import { storeJournal } from "./store-journal.ts";

/** A bare store has no leases: nobody can see that a holder lives, so nobody is refused. */
const cannotHold = "is refused to others while its holder lives";

const cases = journalContract({ name: "session store", make, can: [] });
for (const { name, run } of cases.filter((each) => !each.name.includes(cannotHold))) test(name, run);

test("exactly one case of the contract is left out", () => {
	expect(cases.filter(({ name }) => name.includes(cannotHold))).toHaveLength(1);
});

function make() {
	const store = new MemorySessionStore();
	return { worker: () => sayingLeaseLost(storeJournal(store)), end() {} };
}

/** Where another worker has moved the session on, this journal says `session_conflict`, others say `lease_lost`. */
function sayingLeaseLost(journal: Journal): Journal {
	return {
		...journal,
		async acquire(key, options) {
			const result = await journal.acquire(key, options);
			if (!result.ok) return result;
			const { lease } = result;
			const append: Lease["append"] = async (batch) => {
				try {
					return await lease.append(batch);
				} catch (error) {
					if ((error as { code?: string }).code !== "session_conflict") throw error;
					throw Object.assign(new Error("moved"), { code: "lease_lost" });
				}
			};
			const said = new Proxy(lease, {
				get(target, name) {
					if (name === "append") return append;
					const value = Reflect.get(target, name, target);
					return typeof value === "function" ? value.bind(target) : value;
				},
			});
			return { ok: true, lease: said };
		},
	};
}
