// The sessions that nobody works on, though there is something to do: what the store says, and what this process could not
// give up because the store failed. The others take it for the holder of those as long as it lives.
import type { Journal } from "../host/index.ts";
import { storeHere } from "./store-here.ts";

/** Their places, those that begin with `prefix`. */
export async function orphanedPlaces(journal: Journal, prefix = ""): Promise<readonly string[]> {
	const listed = (await journal.list({ state: "orphaned", prefix })).map(({ key }) => key);
	const kept = [...storeHere(journal).kept].filter((place) => place.startsWith(prefix));
	return [...new Set([...listed, ...kept])];
}
