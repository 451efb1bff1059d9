// Deletes a thread with its sub-agents and all their data, even if records of them are damaged.
import type { Host } from "holdfast";
import type { ThreadEffects } from "../effects/index.ts";
import { forgetBeside } from "./beside-session.ts";
import type { DeletedFrom } from "./records.ts";
import type { ThreadSystem } from "./system.ts";

/** The threads to delete from. */
interface Deleting {
	readonly host: Host;
	effects(threadId: string): ThreadEffects;
}

/** Returns false if the thread does not exist. `of` names the lists that contain it, in case its record is damaged. */
export async function deleteThread(
	threads: Deleting,
	system: ThreadSystem,
	threadId: string,
	of: DeletedFrom = {},
): Promise<boolean> {
	const { host } = threads;
	const { records, now } = system;
	const storeKey = system.storeKeyOf(threadId);
	if ((await records.terminate(threadId, now())) === "unknown") return false;
	for (const { id } of await records.listedChildren(threadId))
		await deleteThread(threads, system, id, { tenant: of.tenant, parent: threadId });
	await system.session(threadId).delete();
	await records.delete(threadId, of);
	// An earlier caller that found the thread may have sent a message to it since.
	const isSpokenTo = (await host.journal.head(storeKey)) !== undefined;
	if (isSpokenTo && (await records.get(threadId)) === undefined) await system.session(threadId).delete();
	if (host.timers !== undefined) await threads.effects(threadId).forget();
	await forgetBeside(host, storeKey);
	return true;
}
