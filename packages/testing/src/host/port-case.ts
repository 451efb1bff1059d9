// The definition of a case about a port of a host.
import type { Host } from "holdfast";

/** A port other than the journal. */
export type HostPort = "values" | "records" | "files" | "timers" | "changes";

/** A host with all ports that cases are about. */
export type PortHost = Required<Pick<Host, HostPort | "journal">>;

/** A case and what it does with a new store. */
export interface PortCase {
	readonly title: string;
	/** Only where files are limited. */
	readonly needsLimits?: boolean;
	run(world: { host(): Promise<PortHost> }): Promise<void>;
}
