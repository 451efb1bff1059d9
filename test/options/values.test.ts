// No value is silent (I12): wherever the public API takes an object of options, each option refuses values of a wrong kind.
import { join } from "node:path";
import { isHoldfastError } from "holdfast";
import { expect, test } from "vitest";
import { listOptions } from "./list-options.fixture.ts";
import { places } from "./places.fixture.ts";

/** Values of every kind: no option may accept all of them. */
const ofEachKind: readonly unknown[] = ["/dev/null/value", -1.5, { nothing: 1 }, true, [1]];

const whenUsed = "Whoever uses the result checks it: the agent checks its tools, and a session its agent.";
const anyValue = "Every value has a meaning.";
const byLibrary = "The library that receives it checks it.";
const byServer = "The server checks it.";
const whenRead = "It names a position. The store refuses one that it does not have.";
/** Options, and places with only such options, that accept a value of each kind, with the reason. */
const anyKind: Readonly<Record<string, string>> = {
	"holdfast tool(declaration)": whenUsed,
	"holdfast createSession(options)": whenUsed,
	"holdfast createSubAgentTool(options)": whenUsed,
	"holdfast execute(options).model": whenUsed,
	"sandbox/code-mode codeMode(options).needsApproval": whenUsed,
	"sandbox/code-mode codeModeWithSnippets(options).needsApproval": whenUsed,
	"client Client.execute(request).input": byServer,
	"client Client.sessions(page).limit": byServer,
	"holdfast Session.start(options).values": anyValue,
	"holdfast followAll(options).after": whenRead,
	"holdfast/host watchAll(options).after": whenRead,
	"threads providerModel(options).toolChoice": byLibrary,
	"threads new Threads(options).modelWait": whenUsed,
	"threads threads(options).modelWait": whenUsed,
	"upp llm(options).system": whenUsed,
	"upp new Thread(options).createdAt": anyValue,
	"upp new Thread(options).updatedAt": anyValue,
	"postgres postgresHost(options).ssl": byLibrary,
	"postgres/upkeep livingWorkers(options).ssl": byLibrary,
	"postgres/upkeep moveOut(options).ssl": byLibrary,
	"postgres/upkeep readStore(options).ssl": byLibrary,
	"postgres/upkeep sessionRemover(options).ssl": byLibrary,
	"postgres/upkeep writeStore(options).ssl": byLibrary,
};

/** Calls that start a server, and so are not made without a wrong option. */
const startsServer: ReadonlySet<string> = new Set([
	"server listen(options)",
	"server Server.listen(options)",
]);

/** Calls that reach for a database. */
const needsDatabase: ReadonlySet<string> = new Set([
	"postgres/upkeep moveOut(options)",
	"postgres/upkeep readStore(options)",
	"postgres/upkeep writeStore(options)",
	"postgres/upkeep writeStore(more)",
]);

interface Made {
	result?(): unknown;
	close?(): unknown;
}

/** The error of a call with these options; undefined if it has none. What is made is closed. */
async function errorOf(key: string, options: Readonly<Record<string, unknown>>): Promise<unknown> {
	const call = (async () => {
		const made = (await places[key]?.(options as Readonly<Record<string, never>>)) as Made | undefined;
		if (typeof made?.result === "function") await made.result();
		else if (typeof made?.close === "function") await made.close();
	})();
	const late = new Promise<void>((resolve) => setTimeout(resolve, 50));
	return Promise.race([call, late]).then(
		() => undefined,
		(error) => error,
	);
}

/** Whether a value of an option is refused, with a code, for what it is. */
async function isRefused(key: string, member: string, value: unknown): Promise<boolean> {
	const error = await errorOf(key, { [member]: value });
	if (!isHoldfastError(error)) return false;
	if (startsServer.has(key) || error.message.includes(`\`${member}\``)) return true;
	const without = await errorOf(key, {});
	return error.message !== (without as Error | undefined)?.message;
}

test.each(Object.keys(places).filter((key) => !startsServer.has(key) && !needsDatabase.has(key)))(
	"%s fails for nothing without a wrong option",
	async (key) => {
		expect(await errorOf(key, {})).toBeUndefined();
	},
);

const members = new Map<string, readonly string[]>();
for (const { of, parameter, entries, members: names } of listOptions(join(import.meta.dirname, "../..")))
	members.set(`${(entries[0] ?? "").replace("@holdfast/", "")} ${of}(${parameter})`, names);

test.each(Object.keys(places).filter((key) => anyKind[key] === undefined))(
	"%s refuses values of a wrong kind in each option",
	async (key) => {
		const silent: string[] = [];
		for (const member of members.get(key) ?? []) {
			if (anyKind[`${key}.${member}`] !== undefined) continue;
			const refusals = await Promise.all(ofEachKind.map((value) => isRefused(key, member, value)));
			if (!refusals.includes(true)) silent.push(member);
		}
		expect(silent).toEqual([]);
	},
);
