// Repeated requests with the same `Idempotency-Key` count as one request (keeps I4). The id of a created object is
// derived from the key, so a repeat finds it; one record decides which request creates it.
import { createHash } from "node:crypto";
import type { Exchange } from "@holdfast/server";
import { HoldfastError, type Host } from "holdfast";
import { requestsShelf } from "../thread/index.ts";

/**
 * Returns the id of the object that a request creates: the same for the same caller, purpose and key. Undefined without a
 * key.
 * @throws HoldfastError `invalid_input` for an invalid key.
 */
export function idOfRequest({ request, caller }: Exchange, purpose: string): string | undefined {
	const key = request.headers.get("idempotency-key");
	if (key === null) return undefined;
	if (!/^[\x21-\x7e]{1,255}$/.test(key))
		throw new HoldfastError(
			"invalid_input",
			"The header `Idempotency-Key` must be 1 to 255 visible ASCII characters.",
			{ data: { field: "Idempotency-Key" } },
		);
	const said = JSON.stringify([caller.tenant, caller.user ?? null, purpose, key]);
	const hex = createHash("sha256").update(said).digest("hex");
	return [
		hex.slice(0, 8),
		hex.slice(8, 12),
		`8${hex.slice(13, 16)}`,
		`8${hex.slice(17, 20)}`,
		hex.slice(20, 32),
	].join("-");
}

interface Claim {
	readonly worker: string;
}

/**
 * Lets one of several equal requests create the object: `find` looks it up, `make` creates it.
 * @throws HoldfastError `request_under_way` while another live process creates it.
 */
export async function once<Made>(
	{ records, journal }: Pick<Host, "records" | "journal">,
	{ storeKey, id }: { readonly storeKey: string; readonly id: string },
	find: () => Promise<Made | null>,
	make: () => Promise<Made>,
): Promise<{ readonly made: Made; readonly isNew: boolean }> {
	const found = await find();
	if (found !== null) return { made: found, isNew: false };
	if (records === undefined) return { made: await make(), isNew: true };
	const address = { shelf: requestsShelf(storeKey), name: id };
	const { revision, value } = await records.get(address);
	const { worker } = (value ?? {}) as Partial<Claim>;
	const isTaken = worker !== undefined && (await journal.isAlive(worker));
	const claim: Claim = { worker: journal.workerId };
	if (isTaken || !(await records.commit([{ ...address, revision }], [{ ...address, value: claim }])))
		throw new HoldfastError(
			"request_under_way",
			"A request with this `Idempotency-Key` is being answered. Send it again in a moment.",
			{ retryable: true },
		);
	try {
		return { made: await make(), isNew: true };
	} catch (error) {
		const mine = await records.get(address);
		await records.commit([{ ...address, revision: mine.revision }], [{ ...address, value: undefined }]);
		throw error;
	}
}
