// Entry point of the contract of journals.
export { journalContract } from "./journal-contract.ts";
export {
	append,
	begin,
	ended,
	eventually,
	input,
	type JournalContractOptions,
	type JournalWorld,
	note,
	notes,
	rejects,
	same,
	started,
	take,
} from "./journal-world.ts";
