// What a file of tests can leave to the files after it in the same process, and whether it did.

/** Functions that tests replace, by the name a report gives them. */
const replaceable: readonly (readonly [name: string, owner: object, member: string])[] = [
	...[
		...["fetch", "Request", "Response", "Headers", "WebSocket", "EventSource", "ReadableStream"],
		...["setTimeout", "clearTimeout", "setInterval", "clearInterval", "setImmediate", "queueMicrotask"],
		...["Date", "Promise", "crypto", "performance", "structuredClone", "console", "process"],
	].map((member) => [member, globalThis, member] as const),
	...["log", "info", "warn", "error", "debug"].map(
		(member) => [`console.${member}`, console, member] as const,
	),
	...["exit", "kill", "emitWarning", "getBuiltinModule", "hrtime", "nextTick"].map(
		(member) => [`process.${member}`, process, member] as const,
	),
	["Date.now", Date, "now"],
	["Math.random", Math, "random"],
	["JSON.stringify", JSON, "stringify"],
];

/** Events of the process whose listeners change how later tests fail. */
const heard = ["unhandledRejection", "uncaughtException", "uncaughtExceptionMonitor", "SIGINT", "SIGTERM"];

/** Variables that libraries set for themselves when they are first loaded. */
const ofLibraries: ReadonlySet<string> = new Set(["VIPSHOME"]);

/** What was there before a file of tests. */
export interface Surroundings {
	readonly members: readonly unknown[];
	readonly environment: Readonly<Record<string, string | undefined>>;
	readonly folder: string;
	readonly listeners: readonly number[];
	readonly servers: number;
}

/** Looks at what is there now. */
export function lookAround(): Surroundings {
	return {
		members: replaceable.map(([, owner, member]) => Reflect.get(owner, member)),
		environment: { ...process.env },
		folder: process.cwd(),
		listeners: heard.map((event) => process.listenerCount(event)),
		servers: count("TCPServerWrap"),
	};
}

/** What differs from `before`, in words; empty where nothing does. */
export async function findLeftovers(before: Surroundings): Promise<readonly string[]> {
	const now = lookAround();
	const names = new Set([...Object.keys(before.environment), ...Object.keys(now.environment)]);
	return [
		...replaceable.flatMap(([name], at) =>
			now.members[at] === before.members[at] ? [] : [`a replaced ${name}`],
		),
		...[...names].flatMap((name) =>
			now.environment[name] === before.environment[name] || ofLibraries.has(name)
				? []
				: [`another value of ${name} in the environment`],
		),
		...(now.folder === before.folder ? [] : ["another working folder"]),
		...heard.flatMap((event, at) =>
			(now.listeners[at] ?? 0) > (before.listeners[at] ?? 0) ? [`a listener of ${event}`] : [],
		),
		...(now.servers > before.servers && (await lasts(() => count("TCPServerWrap") > before.servers))
			? ["an open server"]
			: []),
		...(count("Immediate") > 0 && (await lasts(() => count("Immediate") > 0))
			? ["work that never lets the event loop rest"]
			: []),
	];
}

function count(resource: string): number {
	return process.getActiveResourcesInfo().filter((name) => name === resource).length;
}

/** Whether it is still so after some time: what is about to end is no leftover. */
async function lasts(isSo: () => boolean): Promise<boolean> {
	for (let turn = 0; turn < 50; turn++) {
		await new Promise((resolve) => later(resolve, 5));
		if (!isSo()) return false;
	}
	return true;
}

/** As it is before a test replaces it. */
const later = globalThis.setTimeout;
