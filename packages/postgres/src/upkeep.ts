// Entry `@holdfast/postgres/upkeep`: a store read, filled and thinned as a whole, for those who look after it.
export {
	type LivingWorker,
	livingWorkers,
	moveOut,
	readStore,
	type SeenStoreSession,
	type SessionRemover,
	sessionRemover,
	type WriteStoreOptions,
	writeStore,
} from "./upkeep/index.ts";
