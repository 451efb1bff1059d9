// What of the process's own life the runtime takes part in: its end, and warnings to who runs it.
import type { HoldfastError } from "@holdfast/upp";

/** The end of the process. */
export interface Lifetime {
	/** Calls `ending` when the process ends, which waits for nothing any more. Given again, it is called once. */
	watchEnd(ending: () => void): void;
	/** Does not call it any more; harmless where it was not watched. */
	ignoreEnd(ending: () => void): void;
}

/** Gets warnings: nothing failed, and somebody should know. `code` says of what. */
export type Warn = (warning: HoldfastError) => void;

/** What the platform may have of Node's process. */
interface PlatformProcess {
	once?(event: "exit", ending: () => void): unknown;
	emitWarning?(warning: Error): void;
}

const endings = new Set<() => void>();
let state: "unwatched" | "watched" | "ending" = "unwatched";

/** The process's own end, where the platform announces it. One listener for all: a process may have thousands of agents. */
export const systemLifetime: Lifetime = {
	watchEnd(ending) {
		endings.add(ending);
		if (state !== "unwatched") return;
		state = "watched";
		platformProcess()?.once?.("exit", () => {
			state = "ending";
			for (const each of endings) each();
		});
	},
	ignoreEnd: (ending) => void endings.delete(ending),
};

/** A warning of the process where there is such a thing, else a line on the console. */
export const systemWarn: Warn = (warning) => {
	const process = platformProcess();
	// What a process that ends puts off is never written.
	if (process?.emitWarning === undefined || state === "ending") {
		console.warn(`Warning [${warning.code}]: ${warning.message}`);
		return;
	}
	process.emitWarning(Object.defineProperty(warning, "name", { value: "HoldfastWarning" }));
};

function platformProcess(): PlatformProcess | undefined {
	return (globalThis as { process?: PlatformProcess }).process;
}
