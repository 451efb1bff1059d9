// The changes of an in-memory store, derived from the order in which its sessions last changed.
import { type ChangeLog, changesAtOnce, changesExpired } from "./changes.ts";
import type { Changed, Deletion } from "./memory-order.ts";
import type { Session, Store } from "./memory-store.ts";

/** Returns the changes of a store. */
export function memoryChanges(store: Store): ChangeLog {
	const { order } = store;
	return {
		position: () => order.position,
		read({ after = 0, limit = changesAtOnce } = {}) {
			if (after > 0 && after < order.forgotten) throw changesExpired(after);
			const found: Changed[] = [];
			for (let at = order.latest; at !== undefined && at.position > after; at = at.older) {
				// A reader that starts from the beginning has never seen the deleted sessions.
				if (after > 0 || at.kind !== "deleted") found.push(at);
			}
			return found
				.reverse()
				.slice(0, limit)
				.map((at) => {
					const { position, key, number, kind } = at;
					const seq = kind === "deleted" ? (at as Deletion).seq : ((at as Session).entries.at(-1)?.seq ?? 0);
					return { position, key, incarnation: store.incarnationOf(number), seq, kind };
				});
		},
		watch: (changed) => store.watchers.addToAll(changed),
	};
}
