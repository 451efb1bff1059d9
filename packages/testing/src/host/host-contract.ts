// The contract of a host's ports other than its journal, as a list of cases for any test runner. Each case gets its own
// store.
import type { Host } from "holdfast";
import type { MaybePromise } from "holdfast/host";
import type { ContractCase } from "../contract/index.ts";
import { changesCases } from "./changes-cases.ts";
import { filesCases } from "./files-cases.ts";
import type { HostPort, PortHost } from "./port-case.ts";
import { recordsCases } from "./records-cases.ts";
import { timersCases } from "./timers-cases.ts";
import { valuesCases } from "./values-cases.ts";

/** A store and the hosts that share it, for one case. */
export interface HostWorld {
	/** A host over the store: another one each time, or the same where one process is all there is. */
	host(): MaybePromise<Host>;
	/** Closes all hosts and removes the store. */
	end(): MaybePromise<void>;
}

/** Options of `hostContract`. */
export interface HostContractOptions {
	/** Comes before the name of each case. */
	readonly name: string;
	/**
	 * Creates a new, empty store. Its files may be limited to 1,000,000 bytes each and 1,500,000 a session, or not at
	 * all.
	 */
	make(): MaybePromise<HostWorld>;
	/** The ports of the host besides its journal. Default: all of them. */
	readonly has?: readonly HostPort[];
	/** Whether the hosts of `make` have those limits of files. Default: false. */
	readonly limitsFiles?: boolean;
}

/**
 * The cases that the ports of a host must keep. Needs no test runner: give each case's `name` and `run` to yours.
 * @example
 * ```ts
 * import { memoryHost } from "holdfast";
 * import { hostContract } from "@holdfast/testing";
 *
 * const make = () => {
 * 	const host = memoryHost();
 * 	return { host: () => host, end: () => host.close() };
 * };
 * const [first] = hostContract({ name: "memory", make });
 * await first?.run();
 * console.log(first?.name, "is kept");
 * ```
 */
export function hostContract(options: HostContractOptions): readonly ContractCase[] {
	const {
		name,
		make,
		has = ["values", "records", "files", "timers", "changes"],
		limitsFiles = false,
	} = options;
	const cases = {
		values: valuesCases,
		records: recordsCases,
		files: filesCases,
		timers: timersCases,
		changes: changesCases,
	};
	return has
		.flatMap((port) => cases[port].map((written) => ({ port, ...written })))
		.filter(({ needsLimits = false }) => !needsLimits || limitsFiles)
		.map(({ port, title, run }) => ({
			name: `${name}, ${port}: ${title}`,
			async run() {
				const world = await make();
				try {
					await run({ host: async () => (await world.host()) as PortHost });
				} finally {
					await world.end();
				}
			},
		}));
}
