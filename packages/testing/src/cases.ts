// @holdfast/testing/cases: helpers from the contracts' cases, for your own cases.
export { expectWhole, oddIds, stateOf } from "./checkpoint/index.ts";
export {
	append,
	begin,
	ended,
	eventually,
	input,
	note,
	notes,
	rejects,
	same,
	started,
	take,
} from "./journal/index.ts";
export { oddKeys } from "./session-store/index.ts";
