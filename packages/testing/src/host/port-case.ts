// The definition of a case about a port of a host.
import type { Host } from "holdfast";

/** A port other than the journal. */
export type HostPort = "values" | "records" | "files" | "timers" | "changes";

/** A host with all tested ports. */
export type PortHost = Required<Pick<Host, HostPort | "journal">>;

/** A case and its test on a new store. */
export interface PortCase {
	readonly title: string;
	/** Runs only if files are limited. */
	readonly needsLimits?: boolean;
	run(world: { host(): Promise<PortHost> }): Promise<void>;
}
