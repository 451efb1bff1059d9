// Entry `@holdfast/postgres/upkeep`: reads, fills and prunes whole stores, for maintenance.
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
